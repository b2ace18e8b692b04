package card

import "a2atap/proxy/capture"

// ObserveAnswer receives the head of an answer; ObserveAnswerBody and ObserveAnswerEnd receive the rest. They are for a
// Site that leaves cards unchanged: if an answer is a card, they report which of its addresses bypass the tap.
func (l *Editor) ObserveAnswer(x int, head []byte) {
	if q := l.left(x); q != nil {
		q.answer, q.limit = capture.ParseResponseHead(head), l.Hold(x, head)
	}
}

// left is request for a Site that leaves cards as they are.
func (l *Editor) left(x int) *request {
	if !l.site.Leaves {
		return nil
	}
	return l.request(x)
}

// ObserveAnswerBody receives a piece of an answer's body.
func (l *Editor) ObserveAnswerBody(x int, p []byte) {
	q := l.left(x)
	if q == nil || q.limit == 0 {
		return
	}
	if q.card = append(q.card, p...); len(q.card) > q.limit {
		q.card, q.limit = nil, 0
	}
}

// ObserveAnswerEnd is called at the end of an answer.
func (l *Editor) ObserveAnswerEnd(x int) {
	q := l.left(x)
	if q == nil || q.limit == 0 || q.method == "HEAD" {
		return
	}
	read := plainCard
	if q.rpc != nil {
		read = func(h *capture.Head, body []byte) ([]byte, error) {
			_, text, err := q.message(h, body)
			return text, err
		}
	}
	if card, err := read(&q.answer, q.card); err == nil {
		l.rewrite(x, q, card)
	}
	q.card, q.limit = nil, 0
}
