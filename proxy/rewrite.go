package proxy

import (
	"fmt"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/rawhead"
	"a2atap/proxy/relay"
)

const (
	maxCard        = 1 << 20 // bytes of a card that is held to be rewritten
	maxDecodedCard = 4 << 20 // bytes of one that came compressed
)

// A cardEditor is the relay.Editor of a link. It runs in the two goroutines of the connection.
type cardEditor struct{ *link }

var _ relay.DoubtfulEditor = cardEditor{}

// Request implements relay.Editor. The answer to a request for a card is to be readable and whole, so no coding is
// asked for and no range; and the entity tags of rewritten cards become the agent's again.
func (l cardEditor) Request(x int, head []byte) []byte {
	q := l.cardRequest(x)
	if q == nil || q.bodyKnown != nil || q.doubtful && !q.found {
		return head
	}
	tags := l.tap.tagger(q.host, l.local)
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
	l.Fact(x, capture.Fact{Rewrites: rewrites})
	return edit.Bytes()
}

func (l *link) noteMarkedTag(q *cardRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q.marked = true
}

// Hold implements relay.Editor.
func (l cardEditor) Hold(x int, head []byte) int {
	q := l.cardRequest(x)
	if q == nil {
		return 0
	}
	h := capture.ParseResponseHead(head)
	media := h.Fields.MediaType()
	switch {
	case q.bodyKnown != nil:
		if h.Status == 200 && rawhead.IsJSON(media) && q.callsForCard() {
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
func (l cardEditor) TooLarge(x int) {
	if q := l.cardRequest(x); q == nil || q.doubtful {
		return // nobody knows that it is a card
	}
	l.note(x, fmt.Sprintf("the card of %s is larger than %d bytes: it passed as it came, and a client that follows "+
		"it leaves the tap", l.tap.Name(), maxCard))
}

// note adds a note to an exchange and tells the user.
func (l *link) note(x int, text string) {
	l.Fact(x, capture.Fact{Note: text})
	l.tap.proxy.notice(text)
}

// Answer implements relay.Editor.
func (l cardEditor) Answer(x int, head, body, trailer []byte) []byte {
	q := l.cardRequest(x)
	if q == nil {
		return nil
	}
	h := capture.ParseResponseHead(head)
	edit := rawhead.NewEdit(head)
	switch {
	case h.Status == 304:
		return l.marked(x, q, edit).Bytes()
	case q.method == "HEAD":
		// The length of what GET would give is known only once a card was fetched, so it is left out, as RFC 9110
		// section 8.6 allows. What GET would give is rewritten, so the entity tag is marked and digests do not hold.
		edit.Drop("Content-Length")
		rawhead.DropDigests(edit)
		return l.marked(x, q, edit).Bytes()
	}
	read := l.content
	if q.doubtful {
		read = l.doubtfulCard
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
	return rawhead.Frame(edit, &h, applyReplacements(card, replacements), rawhead.WithoutDigests(trailer))
}

// content returns the body of an answer that is a card without its content coding, and whether it can be rewritten.
func (l *link) content(x int, _ *cardRequest, h *capture.Head, body []byte) ([]byte, bool) {
	card, err := plainCard(h, body)
	if err != nil {
		l.note(x, fmt.Sprintf("the card of %s %v: it passed as it came, and a client that follows it leaves the tap",
			l.tap.Name(), err))
		return nil, false
	}
	return card, true
}

// plainCard returns the body of an answer without its content coding.
func plainCard(h *capture.Head, body []byte) ([]byte, error) {
	for _, coding := range h.Fields.Values("Transfer-Encoding") {
		if !strings.EqualFold(strings.TrimSpace(coding), "chunked") {
			return nil, fmt.Errorf("came in the transfer coding %q", coding)
		}
	}
	card, err := capture.Decode(body, h.Fields.Codings(), maxDecodedCard)
	if err != nil {
		return nil, fmt.Errorf("could not be read (%w)", err)
	}
	return card, nil
}

// rewrite finds out which URLs of a card are replaced and by what, and records it.
func (l *link) rewrite(x int, q *cardRequest, card []byte) []replacement {
	urls, signed, _ := cardURLs(card, q.bodyKnown != nil)
	var replacements []replacement
	fact := capture.Fact{}
	for _, u := range urls {
		to, text := l.tap.proxy.route(l.tap, u)
		if text != "" {
			l.note(x, text)
		}
		if to == nil {
			continue
		}
		used := ""
		if to == l.tap {
			used = q.host
		}
		s := replacement{u, replaceOrigin(u.url, to.authority(used, l.local))}
		replacements = append(replacements, s)
		fact.Rewrites = append(fact.Rewrites,
			capture.Rewrite{Place: "response.body#" + u.pointer, Was: u.url, Now: s.text})
	}
	if len(replacements) == 0 {
		return nil
	}
	l.Fact(x, fact)
	if signed {
		l.note(x, fmt.Sprintf("the card of %s is signed, and its URLs were replaced: clients that verify the "+
			"signature will refuse it; use forward mode for them, or --no-rewrite", l.tap.Name()))
	}
	return replacements
}

// marked marks the entity tag of an answer. It comes after route, which may have opened a further tap.
func (l *link) marked(x int, q *cardRequest, edit *rawhead.Edit) *rawhead.Edit {
	tags := l.tap.tagger(q.host, l.local)
	edit.Each("ETag", func(was string) (string, bool) {
		now := tags.mark(was)
		l.Fact(x, capture.Fact{Rewrites: rawhead.Rewrite("response", "ETag", []string{was}, now)})
		return now, true
	})
	return edit
}

// replaceOrigin puts another authority into an absolute URL, with the scheme http that taps speak. User information,
// path, query and fragment stay as they are written.
func replaceOrigin(raw, authority string) string {
	_, rest, _ := strings.Cut(raw, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	user := ""
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		user = rest[:at+1]
	}
	return "http://" + user + authority + rest[end:]
}
