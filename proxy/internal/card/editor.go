package card

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/internal/rawhead"
	"a2atap/proxy/relay"
)

const (
	maxCard        = 1 << 20 // maximum bytes of a card that is held to be rewritten
	maxDecodedCard = 4 << 20 // the same for a compressed card
)

// An Editor is the relay.Editor of one connection. It must observe the requests as they pass: see ObserveRequest. It
// runs in the two goroutines of the connection.
type Editor struct {
	site  *Site
	facts Facts
	local net.Addr

	mu       sync.Mutex
	requests map[int]*request // exchanges that ask for a card, or may
}

var _ relay.DoubtfulEditor = (*Editor)(nil)

// NewEditor returns the Editor of a client's connection to local.
func (s *Site) NewEditor(local net.Addr, facts Facts) *Editor {
	return &Editor{site: s, facts: facts, local: local, requests: make(map[int]*request)}
}

// Request implements relay.Editor. The answer to a request for a card must be readable and complete, so the request
// gets no content coding and no range; and the entity tags of rewritten cards become the agent's again.
func (l *Editor) Request(x int, head []byte) []byte {
	q := l.request(x)
	if q == nil || q.rpc != nil || q.call || q.doubtful && !q.found {
		return head
	}
	tags := newTagger(l.site.State(q.host, l.local)...)
	edit := rawhead.NewEdit(head)
	rewrites := rawhead.Rewrite("request", "Accept-Encoding", edit.Set("Accept-Encoding", "identity"), "identity")
	for _, name := range []string{"Range", "If-Range"} {
		if was := edit.Drop(name); was != nil {
			rewrites = append(rewrites, rawhead.Rewrite("request", name, was, "")...)
		}
	}
	edit.Each("If-None-Match", func(was string) (string, bool) {
		now, marked := tags.unmark(was)
		if marked {
			l.noteMarkedTag(q)
			rewrites = append(rewrites, rawhead.Rewrite("request", "If-None-Match", []string{was}, now)...)
		}
		return now, true
	})
	if len(rewrites) == 0 {
		return head
	}
	l.facts.Fact(x, capture.Fact{Rewrites: rewrites})
	return edit.Bytes()
}

func (l *Editor) noteMarkedTag(q *request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q.marked = true
}

// Hold implements relay.Editor.
func (l *Editor) Hold(x int, head []byte) int {
	q := l.request(x)
	if q == nil {
		return 0
	}
	var call []byte
	if q.call {
		if call = l.callOf(q); call == nil {
			return 0
		}
	}
	h := capture.ParseResponseHead(head)
	media := h.Fields.MediaType()
	switch {
	case q.rpc != nil:
		if h.Status == 200 && capture.IsGRPC(media) {
			return maxCard
		}
	case q.call:
		if h.Status == 200 && rawhead.IsJSON(media) && callsForCard(call) {
			return maxCard
		}
	case h.Status == 304 && q.marked:
		return 1
	case q.doubtful:
		if q.coded = len(h.Fields.Codings()) > 0; mayBeCard(&h) {
			return maxCard
		}
	case h.Status < 200 || h.Status > 299 || h.Status == 204 || h.Status == 206:
	case rawhead.IsJSON(media), media == "text/plain", media == "application/octet-stream": // as file servers name a card
		return maxCard
	}
	return 0
}

// TooLarge implements relay.Editor.
func (l *Editor) TooLarge(x int) {
	if q := l.request(x); q == nil || q.doubtful {
		return // it is not known to be a card
	}
	l.note(x, fmt.Sprintf("the card of %s is larger than %d bytes, or too much was held at once: it was forwarded unchanged, and a client that follows "+
		"it bypasses the tap", l.site.Name, maxCard))
}

// note adds a note to an exchange and tells the user.
func (l *Editor) note(x int, text string) {
	l.facts.Fact(x, capture.Fact{Note: text})
	l.site.Notice(text)
}

// Answer implements relay.Editor.
func (l *Editor) Answer(x int, head, body, trailer []byte) []byte {
	q := l.request(x)
	if q == nil {
		return nil
	}
	if q.rpc != nil {
		return l.answerMessage(x, q, head, body, trailer)
	}
	h := capture.ParseResponseHead(head)
	edit := rawhead.NewEdit(head)
	switch {
	case h.Status == 304:
		return l.marked(x, q, edit).Bytes()
	case q.method == "HEAD":
		// The length of the answer to GET is known only once a card was fetched, so it is omitted, as RFC 9110 section
		// 8.6 allows. That answer would be rewritten, so the entity tag is marked and digests are removed.
		edit.Drop("Content-Length")
		rawhead.DropDigests(edit)
		return l.marked(x, q, edit).Bytes()
	}
	read := l.content
	if q.doubtful {
		read = l.doubtful
	}
	card, ok := read(x, q, &h, body)
	if !ok {
		return nil
	}
	replacements := l.rewrite(x, q, card)
	if len(replacements) == 0 {
		return nil
	}
	edit.Drop("Content-Encoding")
	rawhead.DropDigests(edit)
	l.marked(x, q, edit)
	return rawhead.Frame(edit, &h, Apply(card, replacements), rawhead.WithoutDigests(trailer))
}

// content returns the decoded body of an answer that is a card, and whether it can be rewritten.
func (l *Editor) content(x int, _ *request, h *capture.Head, body []byte) ([]byte, bool) {
	card, err := plainCard(h, body)
	if err != nil {
		l.note(x, fmt.Sprintf("the card of %s %v: it was forwarded unchanged, and a client that follows it bypasses the tap",
			l.site.Name, err))
		return nil, false
	}
	return card, true
}

// plainCard returns the body of an answer without its content coding.
func plainCard(h *capture.Head, body []byte) ([]byte, error) {
	for _, coding := range h.Fields.Values("Transfer-Encoding") {
		if !strings.EqualFold(strings.TrimSpace(coding), "chunked") {
			return nil, fmt.Errorf("has the transfer coding %q", coding)
		}
	}
	card, err := capture.Decode(body, h.Fields.Codings(), maxDecodedCard)
	if err != nil {
		return nil, fmt.Errorf("could not be read (%w)", err)
	}
	return card, nil
}

// rewrite determines which URLs of a card are replaced and with what, and records it.
func (l *Editor) rewrite(x int, q *request, card []byte) []Replacement {
	urls, signed, _ := URLs(card, q.call)
	var replacements []Replacement
	fact := capture.Fact{}
	for _, u := range urls {
		authority, text := l.site.Route(u, q.host, l.local)
		if text != "" {
			l.note(x, text)
		}
		if authority == "" {
			continue
		}
		s := Replacement{u, u.Through(authority)}
		replacements = append(replacements, s)
		fact.Rewrites = append(fact.Rewrites,
			capture.Rewrite{Place: "response.body#" + u.Pointer, Was: u.Text, Now: s.By})
	}
	if len(replacements) == 0 {
		return nil
	}
	l.facts.Fact(x, fact)
	if signed {
		l.note(x, "the card of "+l.site.Name+capture.SignatureBroken+": clients that verify the signature will reject it; "+
			"use forward mode for them, or --no-rewrite")
	}
	return replacements
}

// marked marks the entity tag of an answer. Call it after route, which may have opened another tap.
func (l *Editor) marked(x int, q *request, edit *rawhead.Edit) *rawhead.Edit {
	tags := newTagger(l.site.State(q.host, l.local)...)
	edit.Each("ETag", func(was string) (string, bool) {
		now := tags.mark(was)
		l.facts.Fact(x, capture.Fact{Rewrites: rawhead.Rewrite("response", "ETag", []string{was}, now)})
		return now, true
	})
	return edit
}

// mayBeCard reports whether to hold an answer that only its body can identify. It never holds an event stream.
func mayBeCard(h *capture.Head) bool {
	media := h.Fields.MediaType()
	return h.Status == 200 && media != "" && rawhead.IsJSON(media) && len(h.Fields.Values("Content-Range")) == 0
}

// Patience implements relay.DoubtfulEditor.
func (l *Editor) Patience(x int) time.Duration {
	if q := l.request(x); q != nil && q.doubtful {
		return patience
	}
	return 0
}

// Keep implements relay.DoubtfulEditor. A compressed answer must be complete to tell.
func (l *Editor) Keep(x int, body []byte) bool {
	q := l.request(x)
	return q == nil || !q.doubtful || q.coded || a2a.MayBeginCard(body)
}

// TooSlow implements relay.DoubtfulEditor.
func (l *Editor) TooSlow(x int, body []byte) {
	if bytes.Contains(body, []byte(`"skills"`)) && bytes.Contains(body, []byte(`"capabilities"`)) {
		l.note(x, "an answer of "+l.site.Name+" that looks like its card took longer than "+patience.String()+
			": it was forwarded unchanged, and a client that follows it bypasses the tap")
	}
}

// doubtful returns the text of an answer if it is a card, its content coding taken off.
func (l *Editor) doubtful(_ int, q *request, h *capture.Head, body []byte) (card []byte, ok bool) {
	text, err := plainCard(h, body)
	if err != nil || !a2a.MayHoldCard(text) {
		return nil, false
	}
	if doc := a2a.Parse(text); doc.Err != nil || !a2a.IsCard(doc.Root) {
		return nil, false
	}
	l.site.found.add(q.target)
	return text, true
}
