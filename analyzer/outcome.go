package analyzer

import "a2atap/proxy/capture"

// outcome observes once more what an answer or the first event of a stream holds, now as what came of the request: by the
// dialects of the request, whatever those of the answer are.
func (e *Engine) outcome(in *intake, o *Observation) {
	kind, dialects := o.Kind, o.Dialects
	o.Kind, o.Dialects = OutcomeSeen, o.Exchange.Dialects
	e.observe(in, o)
	e.session.refused(o)
	o.Kind, o.Dialects = kind, dialects
}

// HeadersKept reports whether what is not among the header fields of the exchange was not on the wire either. The HARs of
// other programs may leave fields out, credentials above all.
func (x *Exchange) HeadersKept() bool { return !capture.Foreign(x.ID) }
