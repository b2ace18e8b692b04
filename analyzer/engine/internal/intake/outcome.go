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

// finalOutcome returns the outcome of a call when its exchange is closed.
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
	case x.Ended && !in.ended() && !in.gap:
		return analysis.Outcome{Failure: analysis.NoStatus}
	case in.endedInMessage():
		return analysis.Outcome{Failure: analysis.NoProtocol}
	case in.X.Outcome.Known() || x.Stream == nil || in.gap || x.Cut || !x.Ended:
		return in.X.Outcome
	case x.Response.Status >= 300:
		return analysis.Outcome{Failure: "HTTP " + strconv.Itoa(x.Response.Status)}
	case x.Stream.Events == 0 && x.Call.Operation == a2a.SubscribeToTask && x.Stream.ErrorData == "" &&
		!x.Dialects.Has(a2a.V1_0): // it only promises later events
		return analysis.Outcome{Succeeded: true}
	}
	in.gathered.Said = cmp.Or(in.gathered.Said, summary.ErrorLine(x.Stream.ErrorData))
	return analysis.Outcome{Failure: analysis.NoProtocol}
}

// deliveryOutcome returns the outcome of a notification: its receiver accepts it with a status 2xx, whatever follows.
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

// ended reports whether the agent has ended an answer; over gRPC, with a trailer that has the outcome of the call.
func (in *openExchange) ended() bool {
	if !in.X.Ended || in.X.Call.Binding != a2a.GRPC || !grpc.IsMedia(in.X.Response.Fields.Get("Content-Type")) {
		return in.X.Ended
	}
	_, told := in.X.GRPCStatus()
	return told
}

// answeredWhole reports whether a stream has sent everything that its client waits for, however it ended.
func (in *openExchange) answeredWhole() bool {
	return in.X.Outcome.Succeeded && in.X.Stream != nil && in.X.Stream.Over
}

// faulted returns the outcome of a call without a complete answer.
func (in *openExchange) faulted(f *capture.TransportFault) analysis.Outcome {
	switch f.Side {
	case "agent":
		return analysis.Outcome{Failure: analysis.FaultName(f)}
	case "client":
		if notPassedOn(f) {
			return outcomeOr(in.X.Outcome, analysis.NotPassedOn)
		}
		return outcomeOr(in.X.Outcome, analysis.ClientLeft) // it has seen enough of a stream
	case "proxy":
		if f.Kind == "shutdown" || f.Kind == "abandoned" || in.X.Answered {
			return in.X.Outcome
		}
		return outcomeOr(in.X.Outcome, analysis.NotPassedOn)
	}
	return outcomeOr(in.X.Outcome, analysis.UnknownReason)
}

// outcomeOr returns an outcome or, if it is unknown, a failure of that name.
func outcomeOr(o analysis.Outcome, failure string) analysis.Outcome {
	if o.Known() {
		return o
	}
	return analysis.Outcome{Failure: failure}
}

// answered records the outcome that an answer or an event shows. In a stream, the first event shows it, and a later
// error.
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

// said records the beginning of a body that is not an A2A answer, or another reason, unless the error has a message.
func (in *openExchange) said(o *analysis.Observation, now analysis.Outcome) {
	g, body := &in.gathered, o.Body
	if o.Event != nil {
		body = o.Event.Fields.Data
	}
	switch {
	case g.Said != "" || now.Succeeded || o.Answer.Err != nil && o.Answer.Err.Message != "":
	case batchError(in.X, o.Answer).Get("message").Text() != "":
		g.Said = summary.ErrorLine(batchError(in.X, o.Answer).Get("message").Text())
	case now.Failure == analysis.OtherID:
		g.Said = idWords(in.X.Call.ID, o.Answer.ID)
	case in.X.Response.Status >= 300 && in.X.Response.Status < 400: // Said has the redirect target, if any
	default:
		g.Said = summary.ErrorLine(body)
	}
}

// outcomeOf returns the outcome of a call with that answer, as far as the answer shows it.
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
	case x.Messages > 1 && !x.Call.Streams: // clients' libraries refuse it
		return analysis.Outcome{Failure: analysis.ManyAnswers}
	case status >= 300: // the client follows the redirect
		return analysis.Outcome{}
	case o.Event != nil && a.Payload.Kind == a2a.NoPayload && !a.IsEnvelope: // another event may show more
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

// answersCall reports whether a response with a result has the id of the call, by which the client matches them
// (JSON-RPC 2.0 §5); a null id is only for errors. It returns true for anything that is not a response, for events
// without an id, which 0.1 agents send, and for calls whose own id is invalid.
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

// idWords names the id that was received and the id that was expected.
func idWords(asked, got a2a.Value) string {
	if !got.Exists() {
		return "answered without an id instead of " + analysis.Quote(asked)
	}
	return "answered with id " + analysis.Quote(got) + " instead of " + analysis.Quote(asked)
}

// answersProtocol reports whether an answer without an error is a valid kind of A2A answer.
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
		return x.Call.Operation == a2a.DeletePushConfig && x.Call.Binding != a2a.GRPC // gRPC has an empty message
	}
	return a.Doc.Err == nil
}

// promises reports whether an operation is answered with a task or a message, and not with an empty answer.
func promises(op a2a.Operation) bool { return op.Sends() || op == a2a.GetTask || op == a2a.CancelTask }

// batchOutcome returns the outcome of a batch, which succeeded if one of its calls did. One error may answer all calls
// (JSON-RPC 2.0 §6).
func batchOutcome(x *analysis.Exchange, a *a2a.Answer) analysis.Outcome {
	first := analysis.Outcome{Failure: analysis.NoProtocol}
	responses := a.Doc.Root.Elems()
	if batchError(x, a).Exists() {
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

// batchError returns the error that refuses a whole batch; for other answers, a Value that does not exist.
func batchError(x *analysis.Exchange, a *a2a.Answer) a2a.Value {
	if x.Call.Batch == nil || a.Doc.Root.Kind() != a2a.Object {
		return a2a.Value{}
	}
	return a.Doc.Root.Get("error")
}

// membersOf returns the outcome of each call of a batch; a response has the id of its call (JSON-RPC 2.0 §6). It
// returns no outcomes for notifications, or if the answer is not a batch.
func membersOf(x *analysis.Exchange, a *a2a.Answer) []summary.Member {
	if x.Call.Batch == nil || a.Doc.Root.Kind() != a2a.Array {
		return nil
	}
	responses := make(map[string]a2a.Value)
	for _, one := range a.Doc.Root.Elems() {
		responses[string(one.Get("id").Raw())] = one
	}
	var list members
	for call := range x.Call.Members() {
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
		list.add(m)
	}
	return list
}

// Bounds of the calls of a batch that are distinguished.
const (
	maxMembers = 100 // each separately
	maxAlike   = 20  // further ones, by operation and outcome
)

// members are the calls of a batch.
type members []summary.Member

// add adds a call. Calls after the first ones are counted by operation and outcome; beyond the bound, by success alone.
func (list *members) add(m summary.Member) {
	if len(*list) < maxMembers {
		*list = append(*list, m)
		return
	}
	rest := (*list)[maxMembers:]
	alike := slices.IndexFunc(rest, func(n summary.Member) bool {
		return n.Asked == m.Asked && n.Outcome == m.Outcome && n.Error == m.Error && n.Code == m.Code
	})
	if alike < 0 && len(rest) >= maxAlike {
		alike = slices.IndexFunc(rest, func(n summary.Member) bool { return n.Outcome.Succeeded == m.Outcome.Succeeded })
	}
	if alike < 0 {
		*list = append(*list, m)
		return
	}
	rest[alike].Others++
}

// membersAlike returns the calls of a batch that share one outcome: one error, one HTTP status, or no answer at all.
// Notifications have no outcome.
func membersAlike(x *analysis.Exchange, s *summary.Summary) []summary.Member {
	if x.Call.Batch == nil {
		return nil
	}
	var list members
	for call := range x.Call.Members() {
		if !wantsNoResponse(call) {
			m := memberOf(call)
			m.Outcome, m.Text = x.Outcome, s.FailureText()
			if len(s.Errors) > 0 {
				m.Error, m.Code = s.Errors[0].Name, s.Errors[0].CodeText()
			}
			list.add(m)
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
