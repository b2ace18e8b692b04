package card

import (
	"bytes"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/internal/rawhead"
)

// mayBeCard reports whether an answer of which only its body can tell is to be held. An event stream never is.
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

// Keep implements relay.DoubtfulEditor. Of a compressed answer only the whole tells.
func (l *Editor) Keep(x int, body []byte) bool {
	q := l.request(x)
	return q == nil || !q.doubtful || q.coded || a2a.MayBeginCard(body)
}

// TooSlow implements relay.DoubtfulEditor.
func (l *Editor) TooSlow(x int, body []byte) {
	if bytes.Contains(body, []byte(`"skills"`)) && bytes.Contains(body, []byte(`"capabilities"`)) {
		l.note(x, "an answer of "+l.site.Name+" that looks like its card took longer than "+patience.String()+
			": it passed as it came, and a client that follows it leaves the tap")
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
