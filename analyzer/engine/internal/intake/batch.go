package intake

import (
	"bytes"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// batchAsked observes the calls of a JSON-RPC batch, each as if it had been sent alone. No version of A2A defines
// streaming calls in a batch, so they are not checked.
func (ob *observer) batchAsked(in *openExchange, s capture.Step) {
	batch := in.X
	for i, v := range batch.Call.Doc.Root.Elems() {
		if i >= len(batch.Call.Batch) {
			break
		}
		if one := &batch.Call.Batch[i]; one.Operation == a2a.NoOperation || one.Operation.Streams() {
			continue
		}
		x := batch.CallOfBatch(i)
		x.Body = bytes.Clone(v.Raw())
		x.Parsed = parsed(x.Body)
		x.Call = a2a.DecodeRequest(a2a.Request{
			Method: x.Request.Method, Target: x.Request.Target, Header: x.Request.Fields.Get,
			Body: x.Body, HasBody: true, BodyKept: true, Doc: x.Parsed,
		}, ob.known(in))
		if x.Call.Operation == a2a.NoOperation || !ob.hold(in, len(x.Body)+x.Parsed.Size()) {
			continue
		}
		ob.endpoints.place(&dispatch.Case{X: x})
		in.batch = append(in.batch, x)
		o := ob.message(x, analysis.RequestRead, s)
		o.Place = x.RequestPlace().Body()
		ob.observe(in, o)
		o.Doc = &x.Call.Doc
		o.Kind = analysis.RequestSeen
		ob.observe(in, o)
		ob.requestObjects(in, o)
		o.Kind = analysis.RequestDone
		ob.observe(in, o)
	}
}

// batchAnswered observes the responses to the calls of a batch, each as if it had come alone. A response that cannot be
// matched to one call is left to the rules about batches.
func (ob *observer) batchAnswered(in *openExchange, s capture.Step, root a2a.Value) {
	if len(in.batch) == 0 || root.Kind() != a2a.Array {
		return
	}
	for i, v := range root.Elems() {
		x := in.asked(v.Get("id"))
		if x == nil || x.Answered {
			continue
		}
		x.Response, x.Answered, x.Ended = in.X.Response, true, in.X.Ended
		x.AnsweredAt(i)
		body := bytes.Clone(v.Raw())
		a := a2a.ReadAnswer(&x.Call, x.Response.Status, x.Response.Fields.MediaType(), parsed(body))
		settle(x, &a.Payload)
		o := ob.message(x, analysis.AnswerSeen, s)
		o.Place = x.ResponsePlace().Body()
		o.Dialects = a.Payload.Dialects.NarrowedBy(answerDialects(x))
		o.Answer, o.Body, o.Doc = &a, body, &a.Doc
		ob.observe(in, o)
		ob.outcome(in, o, analysis.OutcomeSeen)
		ob.answerObjects(in, o, &a.Payload)
		ob.payload(in, o, &a.Payload)
		ob.answerDone(in, o)
	}
}

// asked returns the only call of the batch with the id, or nil if no call or several calls have it.
func (in *openExchange) asked(id a2a.Value) (found *analysis.Exchange) {
	for _, x := range in.batch {
		if id.Exists() && !id.IsNull() && a2a.SameID(x.Call.ID, id) {
			if found != nil {
				return nil
			}
			found = x
		}
	}
	return found
}
