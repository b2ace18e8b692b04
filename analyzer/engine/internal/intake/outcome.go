package intake

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

// finalOutcome returns how a call came out when its exchange is closed.
func (in *openExchange) finalOutcome(closed *capture.Closed) analysis.Outcome {
	x := in.X
	switch {
	case x.Call.Operation == a2a.Webhook && !closed.Interrupted && !in.made.is():
		return in.deliveryOutcome(closed.Fault)
	case !isCall(x), closed.Interrupted:
		return x.Outcome
	case in.made.is():
		return analysis.Outcome{}
	case in.toldByHead():
		return in.outcomeOfHead()
	case in.toldTooLate(closed):
		return in.outcomeOfLate(closed)
	case closed.Fault != nil && !x.Ended && !in.answeredWhole():
		return in.faulted(closed.Fault)
	case x.Ended && !in.ended() && !in.gap && !in.answeredWhole():
		return analysis.Outcome{Failure: analysis.NoStatus}
	case in.X.Outcome.Known() || x.Stream == nil || in.gap || x.Cut || !x.Ended:
		return in.X.Outcome
	case x.Response.Status >= 300:
		return analysis.Outcome{Failure: "HTTP " + strconv.Itoa(x.Response.Status)}
	case x.Stream.Events == 0 && x.Call.Operation == a2a.SubscribeToTask && x.Stream.ErrorData == "" &&
		!x.Dialects.Has(a2a.V1_0): // it promises later events only
		return analysis.Outcome{Succeeded: true}
	}
	in.gathered.Said = cmp.Or(in.gathered.Said, summary.OneLine(x.Stream.ErrorData))
	return analysis.Outcome{Failure: analysis.NoProtocol}
}

// deliveryOutcome returns how a notification came out: its receiver accepts it by a status 2xx, whatever follows.
func (in *openExchange) deliveryOutcome(f *capture.TransportFault) analysis.Outcome {
	switch status := in.gathered.Status; {
	case status >= 200 && status < 300:
		return analysis.Outcome{Succeeded: true}
	case status >= 300:
		return analysis.Outcome{Failure: "HTTP " + strconv.Itoa(status)}
	case f != nil:
		return in.faulted(f)
	}
	return analysis.Outcome{}
}

// ended reports whether the agent has ended an answer, over gRPC with a trailer that says how the call came out.
func (in *openExchange) ended() bool {
	if !in.X.Ended || in.X.Call.Binding != a2a.GRPC || !grpc.IsMedia(in.X.Response.Fields.Get("Content-Type")) {
		return in.X.Ended
	}
	_, told := in.X.GRPCStatus()
	return told
}

// answeredWhole reports whether a stream has told all that its client waits for, whatever became of its end.
func (in *openExchange) answeredWhole() bool {
	return in.X.Outcome.Succeeded && in.X.Stream != nil && in.X.Stream.Over
}

// faulted returns how a call came out that has no answer, or only a part of it.
func (in *openExchange) faulted(f *capture.TransportFault) analysis.Outcome {
	switch f.Side {
	case "agent":
		return analysis.Outcome{Failure: analysis.FaultName(f)}
	case "client":
		if notPassedOn(f) {
			return outcomeOr(in.X.Outcome, analysis.NotPassedOn)
		}
		return outcomeOr(in.X.Outcome, analysis.ClientLeft) // of a stream it has seen enough
	case "proxy":
		if f.Kind == "shutdown" || f.Kind == "abandoned" || in.X.Answered {
			return in.X.Outcome
		}
		return outcomeOr(in.X.Outcome, analysis.NotPassedOn)
	}
	return outcomeOr(in.X.Outcome, analysis.UnknownReason)
}

// outcomeOr returns an outcome, or where it is not known a failure of that name.
func outcomeOr(o analysis.Outcome, failure string) analysis.Outcome {
	if o.Known() {
		return o
	}
	return analysis.Outcome{Failure: failure}
}

// answered notes what an answer or an event says of how the call came out. Of a stream the first event tells, and an
// error that comes later.
func (in *openExchange) answered(o *analysis.Observation) {
	if !isCall(in.X) {
		return
	}
	now := outcomeOf(o)
	in.said(o, now)
	if now.Known() && (!in.X.Outcome.Known() || !now.Succeeded) {
		in.X.Outcome, in.toldAt = now, in.offset(o)
	}
}

// said notes what stands where the protocol would have an answer, if its own words do not tell: how the answer begins.
func (in *openExchange) said(o *analysis.Observation, now analysis.Outcome) {
	g, body := &in.gathered, o.Body
	if o.Event != nil {
		body = o.Event.Fields.Data
	}
	switch {
	case g.Said != "" || now.Succeeded || o.Answer.Err != nil && o.Answer.Err.Message != "":
	case now.Failure == analysis.OtherID:
		g.Said = idWords(in.X.Call.ID, o.Answer.ID)
	case in.X.Response.Status >= 300 && in.X.Response.Status < 400: // which says where it leads, or nothing
	default:
		g.Said = summary.OneLine(body)
	}
}

// outcomeOf returns how a call comes out that is answered so, as far as it tells.
func outcomeOf(o *analysis.Observation) analysis.Outcome {
	x, a := o.Exchange, o.Answer
	status := x.Response.Status
	switch {
	case a.Err != nil:
		return analysis.Outcome{Failure: failureName(a.Err, status)}
	case x.Call.Batch != nil && status < 300:
		return batchOutcome(x, a)
	case status >= 400:
		return analysis.Outcome{Failure: "HTTP " + strconv.Itoa(status)}
	case x.Messages > 1 && !x.Call.Streams: // which clients' libraries refuse
		return analysis.Outcome{Failure: analysis.ManyAnswers}
	case status >= 300: // the client goes on elsewhere
		return analysis.Outcome{}
	case o.Event != nil && a.Payload.Kind == a2a.NoPayload && !a.IsEnvelope: // another one may tell more
		return analysis.Outcome{}
	case x.Call.Binding == a2a.JSONRPC && !answersCall(o):
		return analysis.Outcome{Failure: analysis.OtherID}
	case x.Call.Binding == a2a.JSONRPC && o.Event == nil && !a.IsEnvelope && answersProtocol(o):
		return analysis.Outcome{Failure: analysis.NoEnvelope}
	case answersProtocol(o):
		return analysis.Outcome{Succeeded: true}
	}
	return analysis.Outcome{Failure: analysis.NoProtocol}
}

// answersCall reports whether a response with a result has the id of the call, by which its client finds that (JSON-RPC
// 2.0 §5); null is for errors alone. Nothing is said of what is no response, of events without an id, which agents of
// 0.1 send, and of calls whose own id is none.
func answersCall(o *analysis.Observation) bool {
	asked, got := o.Exchange.Call.ID, o.Answer.ID
	switch {
	case !o.Answer.IsEnvelope, asked.Kind() != a2a.String && asked.Kind() != a2a.Number:
		return true
	case !got.Exists():
		return o.Event != nil
	}
	return a2a.SameID(asked, got)
}

// idWords says which id came in place of which.
func idWords(asked, got a2a.Value) string {
	if !got.Exists() {
		return "answered without an id where " + analysis.Quote(asked) + " was asked"
	}
	return "answered with id " + analysis.Quote(got) + " where " + analysis.Quote(asked) + " was asked"
}

// answersProtocol reports whether an answer without an error is one in which the protocol answers.
func answersProtocol(o *analysis.Observation) bool {
	x, a := o.Exchange, o.Answer
	known := a.Payload.Kind != a2a.NoPayload && a.Payload.Kind != a2a.UnknownPayload && a.Payload.Kind != a2a.NullPayload
	switch {
	case known || promises(x.Call.Operation):
		return known
	case x.Call.Binding == a2a.JSONRPC:
		return a.IsEnvelope && a.Result.Exists()
	}
	if o.Event == nil && len(bytes.TrimSpace(o.Body)) == 0 {
		return x.Call.Operation == a2a.DeletePushConfig && x.Call.Binding != a2a.GRPC // which has a message for nothing
	}
	return a.Doc.Err == nil
}

// promises reports whether an operation is answered with a task or a message, and not with nothing.
func promises(op a2a.Operation) bool { return op.Sends() || op == a2a.GetTask || op == a2a.CancelTask }

// batchOutcome returns how a batch came out: it succeeded if one of its calls did. One error may stand for all of them
// (JSON-RPC 2.0 §6).
func batchOutcome(x *analysis.Exchange, a *a2a.Answer) analysis.Outcome {
	first := analysis.Outcome{Failure: analysis.NoProtocol}
	responses := a.Doc.Root.Elems()
	if a.Doc.Root.Kind() == a2a.Object && a.Doc.Root.Has("error") {
		responses = slices.All([]a2a.Value{a.Doc.Root})
	}
	for i, one := range responses {
		if one.Has("result") {
			return analysis.Outcome{Succeeded: true}
		}
		if code, ok := one.Get("error").Get("code").Int(); ok && i == 0 {
			err := &a2a.Error{Code: code, CodeKnown: true, Name: a2a.ErrorNameOf(code, x.Call.Dialects)}
			first.Failure = failureName(err, 0)
		}
	}
	return first
}

// membersOf returns how the calls of a batch came out, each by itself: the response to a call has its id (JSON-RPC 2.0
// §6). There are none where the answer is not that of a batch, and none for notifications.
func membersOf(x *analysis.Exchange, a *a2a.Answer) []summary.Member {
	if x.Call.Batch == nil || a.Doc.Root.Kind() != a2a.Array {
		return nil
	}
	responses := make(map[string]a2a.Value)
	for _, one := range a.Doc.Root.Elems() {
		responses[string(one.Get("id").Raw())] = one
	}
	var list []summary.Member
	for i := range x.Call.Batch {
		call := &x.Call.Batch[i]
		if wantsNoResponse(call) {
			continue
		}
		m := memberOf(call)
		response, answered := responses[string(call.ID.Raw())]
		code, coded := response.Get("error").Get("code").Int()
		switch {
		case !answered:
			m.Outcome.Failure = analysis.NoProtocol
		case response.Has("result") && !(promises(call.Operation) && response.Get("result").IsNull()):
			m.Outcome.Succeeded = true
		case coded:
			err := &a2a.Error{Code: code, CodeKnown: true, Name: a2a.ErrorNameOf(code, call.Dialects)}
			m.Outcome.Failure, m.Error, m.Code = failureName(err, 0), err.Name, strconv.FormatInt(code, 10)
			m.Text = analysis.Clip(response.Get("error").Get("message").Text())
		default:
			m.Outcome.Failure = analysis.NoProtocol
		}
		list = append(list, m)
	}
	return list
}

// membersAlike returns the calls of a batch that came out alike: one error, one HTTP status, or no answer at all stands
// for each of them. Notifications have no outcome.
func membersAlike(x *analysis.Exchange, s *summary.Summary) (list []summary.Member) {
	for i := range x.Call.Batch {
		if call := &x.Call.Batch[i]; !wantsNoResponse(call) {
			m := memberOf(call)
			m.Outcome, m.Text = x.Outcome, s.FailureText()
			if len(s.Errors) > 0 {
				m.Error, m.Code = s.Errors[0].Name, s.Errors[0].CodeText()
			}
			list = append(list, m)
		}
	}
	return list
}

// wantsNoResponse reports whether a call of a batch wants no response (JSON-RPC 2.0 §4.1).
func wantsNoResponse(call *a2a.Call) bool { return call.Method != "" && !call.ID.Exists() }

// memberOf returns a call of a batch without its outcome.
func memberOf(call *a2a.Call) summary.Member {
	return summary.Member{
		Asked: cmp.Or(summary.CallWords(call), "batch"), Operation: call.Operation, Task: call.TaskID,
	}
}

// failureName returns the name of an error as verdicts have it.
func failureName(err *a2a.Error, status int) string {
	switch words := summary.ErrorName(err); {
	case words != "":
		return words
	case err.CodeKnown:
		return "code " + strconv.FormatInt(err.Code, 10)
	case err.Reason != "":
		return analysis.Clip(err.Reason)
	case err.GRPCStatus != "":
		if _, known := grpc.ParseCode(err.GRPCStatus); !known {
			return grpc.StatusField + " " + err.GRPCStatus
		}
		return err.GRPCStatus
	}
	if status = cmp.Or(err.Status(), status); status < 300 {
		return analysis.NoCode
	}
	return "HTTP " + strconv.Itoa(status)
}
