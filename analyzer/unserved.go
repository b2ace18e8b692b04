package analyzer

import (
	"net/http"

	"a2atap/proxy/a2a"
)

// A CardFailure is an agent card that was asked for at a well-known path and did not come.
type CardFailure struct {
	Exchange  *Exchange // the last one that failed, without its bodies
	Status    int       // that it was answered with
	Later     bool      // the card came from the same URL afterwards
	Elsewhere bool      // a card came from another path of the same host
}

// cardAnswered remembers how the fetch of a public card came out.
func (s *Session) cardAnswered(o *Observation) {
	x := o.Exchange
	if x.Call.Operation != a2a.GetCard {
		return
	}
	failure, failed := s.unserved.get(x.address)
	switch status := x.Response.Status; {
	case o.Answer.Payload.Kind == a2a.CardPayload || status == http.StatusNotModified:
		s.origin(x).served = true
		if failed {
			failure.Later = true
		}
	case a2a.IsCardPath(x.Path) && (status == http.StatusNotFound || status >= 500):
		s.unserved.put(x.address, &CardFailure{Exchange: x.bare(), Status: status})
	}
}

// missed observes, at the end of a capture, the cards that were asked for and did not come.
func (e *Engine) missed() {
	s := e.session
	for item := s.unserved.order.Front(); item != nil; item = item.Next() {
		f := item.Value.(*entry[string, *CardFailure]).value
		f.Elsewhere = !f.Later && s.origin(f.Exchange).served
		e.observe(&intake{judged: true}, &Observation{
			Kind: CardMissed, Exchange: f.Exchange, Dialects: f.Exchange.Dialects, Place: f.Exchange.ResponsePlace().Status(), Failure: f,
		})
	}
}
