package proxy

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/rawhead"
)

const (
	cardPatience = 500 * time.Millisecond // that an answer which may be a card may be held for
	maxCardPaths = 1000                   // that a tap remembers
)

// cardPaths are the targets, with their queries, at which cards were found that no path tells. It bounds itself: the
// card of one that is not remembered is found again.
type cardPaths struct {
	mu      sync.Mutex
	targets map[string]bool
}

func (c *cardPaths) has(target string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.targets[target]
}

func (c *cardPaths) add(target string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.targets == nil || len(c.targets) >= maxCardPaths {
		c.targets = make(map[string]bool)
	}
	c.targets[target] = true
}

// doubtfulCardRequest returns the card request that a GET or HEAD may turn out to be although its path does not tell;
// nil if it is none. A path at which HTTP+JSON has an operation is never one, nor is what does not want JSON.
func (t *Tap) doubtfulCardRequest(method string, h *capture.Head) *cardRequest {
	path, _, _ := strings.Cut(h.Target, "?")
	if _, operation := a2a.RoutePrefix(path); operation || !acceptsJSON(h) {
		return nil
	}
	q := &cardRequest{doubtful: true, target: h.Target}
	// A client that has a card of ours shows it by the tag that we gave it.
	q.found = t.cardPaths.has(h.Target) || strings.Contains(h.Fields.Get("If-None-Match"), tagMark)
	if method == "HEAD" && !q.found {
		return nil
	}
	return q
}

// acceptsJSON reports whether a client takes JSON for an answer: RFC 9110 section 12.5.1.
func acceptsJSON(h *capture.Head) bool {
	values := h.Fields.Values("Accept")
	if len(values) == 0 {
		return true
	}
	for _, v := range values {
		v = strings.ToLower(v)
		if strings.Contains(v, "json") || strings.Contains(v, "*/*") || strings.Contains(v, "application/*") {
			return true
		}
	}
	return false
}

// mayBeCard reports whether an answer of which only its body can tell is to be held. An event stream never is.
func mayBeCard(h *capture.Head) bool {
	media := h.Fields.MediaType()
	return h.Status == 200 && media != "" && rawhead.IsJSON(media) && len(h.Fields.Values("Content-Range")) == 0
}

// Patience implements relay.DoubtfulEditor.
func (l cardEditor) Patience(x int) time.Duration {
	if q := l.cardRequest(x); q != nil && q.doubtful {
		return cardPatience
	}
	return 0
}

// Keep implements relay.DoubtfulEditor. Of a compressed answer only the whole tells.
func (l cardEditor) Keep(x int, body []byte) bool {
	q := l.cardRequest(x)
	return q == nil || !q.doubtful || q.coded || a2a.MayBeginCard(body)
}

// TooSlow implements relay.DoubtfulEditor.
func (l cardEditor) TooSlow(x int, body []byte) {
	if bytes.Contains(body, []byte(`"skills"`)) && bytes.Contains(body, []byte(`"capabilities"`)) {
		l.note(x, "an answer of "+l.tap.Name()+" that looks like its card took longer than "+cardPatience.String()+
			": it passed as it came, and a client that follows it leaves the tap")
	}
}

// doubtfulCard returns the text of an answer if it is a card, its content coding taken off.
func (l *link) doubtfulCard(_ int, q *cardRequest, h *capture.Head, body []byte) (card []byte, ok bool) {
	text, err := plainCard(h, body)
	if err != nil || !a2a.MayHoldCard(text) {
		return nil, false
	}
	if doc := a2a.Parse(text); doc.Err != nil || !a2a.IsCard(doc.Root) {
		return nil, false
	}
	l.tap.cardPaths.add(q.target)
	return text, true
}
