package analyzer

import "a2atap/proxy/a2a"

// StreamsRefused returns the newest card that was seen before a streaming call whose outcome is at hand, if all of them
// offer streaming, in the version of the call, and the protocol wants it to be there; else nil.
func (s *Session) StreamsRefused(o *Observation) *Card {
	x := o.Exchange
	if o.Answer == nil || !x.Call.Operation.Streams() || x.Endpoint.Declared.Intersect(x.Call.Dialects).Empty() {
		return nil
	}
	if x.Call.Operation == a2a.SubscribeToTask && !x.Dialects.Has(a2a.V1_0) && x.Dialects != a2a.Of(a2a.V0_1) {
		return nil
	}
	var last *Card
	for _, c := range x.cards {
		if !c.Streaming.True() {
			return nil
		}
		last = c
	}
	return last
}

// refused remembers that a stream of a known task was refused as something that the agent does not do, though its card
// says that it does. Only if the task is active afterwards it was not refused for having ended.
func (s *Session) refused(o *Observation) {
	x := o.Exchange
	if o.Answer == nil || o.Answer.Err == nil || x.Known == nil || s.StreamsRefused(o) == nil {
		return
	}
	switch err := o.Answer.Err; err.Name {
	case a2a.UnsupportedOperation, a2a.MethodNotFound, a2a.StreamingNotSupported:
		x.Known.Refused = &Denial{Exchange: x.bare(), Place: o.Place.At(err.Pointer), seen: Sighting{Arrival: o.Arrival, At: o.At}}
	}
}
