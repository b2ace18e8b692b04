package analyzer

import (
	"bytes"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// batchAsked observes the calls of a JSON-RPC batch, each as if it had been sent alone. What an agent does with
// streaming calls in a batch no version of A2A says: they are not judged.
func (e *Engine) batchAsked(in *intake, s capture.Step) {
	batch := in.x
	for i, v := range batch.Call.Doc.Root.Elems() {
		if i >= len(batch.Call.Batch) {
			break
		}
		if one := &batch.Call.Batch[i]; one.Operation == a2a.NoOperation || one.Operation.Streams() {
			continue
		}
		x := *batch
		x.slots, x.viewer = nil, 0
		x.asked = a2a.Ptr("", i)
		x.Body = bytes.Clone(v.Raw())
		x.doc = parsed(x.Body)
		x.Call = a2a.DecodeRequest(a2a.Request{
			Method: x.Request.Method, Target: x.Request.Target, Header: x.Request.Fields.Get,
			Body: x.Body, HasBody: true, BodyKept: true, Doc: x.doc,
		}, e.knownOf(in))
		if x.Call.Operation == a2a.NoOperation || !e.hold(in, len(x.Body)+x.doc.Size()) {
			continue
		}
		e.endpoints.place(&x)
		in.batch = append(in.batch, &x)
		o := e.message(&x, RequestRead, s)
		o.Place = x.RequestPlace().Body()
		e.observe(in, o)
		o.Doc = &x.Call.Doc
		o.Kind = RequestSeen
		e.observe(in, o)
		e.requestObjects(in, o)
		o.Kind = RequestDone
		e.observe(in, o)
	}
}

// batchAnswered observes the responses to the calls of a batch, each as if it had come alone. A response that cannot be
// told to belong to one call is left to the rules about batches.
func (e *Engine) batchAnswered(in *intake, s capture.Step, root a2a.Value) {
	if len(in.batch) == 0 || root.Kind() != a2a.Array {
		return
	}
	for i, v := range root.Elems() {
		x := in.asked(v.Get("id"))
		if x == nil || x.Answered {
			continue
		}
		x.Response, x.Answered, x.Ended = in.x.Response, true, in.x.Ended
		x.answered = a2a.Ptr("", i)
		body := bytes.Clone(v.Raw())
		a := a2a.ReadAnswer(&x.Call, x.Response.Status, x.Response.Fields.MediaType(), parsed(body))
		x.settle(&a.Payload)
		o := e.message(x, AnswerSeen, s)
		o.Place = x.ResponsePlace().Body()
		o.Dialects = dialectsOr(a.Payload.Dialects, x.answerDialects())
		o.Answer, o.Body, o.Doc = &a, body, &a.Doc
		e.observe(in, o)
		e.outcome(in, o, OutcomeSeen)
		e.answerObjects(in, o, &a.Payload)
		e.payload(in, o, &a.Payload)
		e.answerDone(in, o)
	}
}

// asked returns the one call of the batch that has the id, nil if there is none or more than one.
func (in *intake) asked(id a2a.Value) (found *Exchange) {
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
