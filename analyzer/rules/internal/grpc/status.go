package grpc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/stream"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

// Statuses is the family of rules about how an agent reports the outcome of a call over gRPC.
var Statuses = rule.Family{
	Name:     "grpcstatus",
	Category: analysis.ErrorHandling,
	Bindings: rule.OnGRPC,
	Side:     a2a.Agent,
}.Of(
	grpcStatus,
	grpcStatusMap,
	grpcErrorInfo,
	grpcEndedFails,
	grpcCancelled,
)

func number(n int) string { return strconv.Itoa(n) }

var grpcStatus = &analysis.Rule{
	ID:    "grpc-status",
	Title: "gRPC answer without a status",
	Level: analysis.Must,
	On:    analysis.CallEnded,
	Cites: rule.Cite("gRPC over HTTP/2 §Responses", a2a.V0_2, a2a.V0_3, a2a.V1_0),
	Doc: `An answer ends with a trailer that has the call's outcome in grpc-status, one number from 0 to 16. Only an
answer without messages may have it in its head. Without it clients treat the call as failed, whatever messages came
before, usually with UNKNOWN or INTERNAL. Of two statuses, libraries differ in which one they use.`,
	Fix: `Let the server library end the answer. A proxy in between must pass trailers, and must use HTTP/2 on both
sides.`,
	Silent: `Answers that broke off, plain HTTP answers such as a gateway's page, and recordings with gaps.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if !x.Ended || x.Cut || p.End.Fault != nil || !grpc.IsMedia(x.Response.Fields.Get("Content-Type")) {
			return
		}
		p.Applied()
		switch status, told := x.GRPCStatus(); {
		case (!told || x.Trailer.Has(grpc.StatusField)) && x.Messages > 0 && !capture.Foreign(x.ID) &&
			x.Response.Fields.Has(grpc.StatusField):
			p.Report(x.ResponsePlace().Header(grpc.StatusField), "grpc-status is in the head of an answer that has messages",
				"expected it in the trailer")
		case !told:
			p.Report(x.ResponsePlace().Trailer(grpc.StatusField), "the answer ends without grpc-status",
				"expected it in the trailer")
		case status.Bad != "":
			p.Report(x.GRPCPlace(grpc.StatusField), status.Bad, "expected a number from 0 to 16")
		}
	},
}

// fitting are the valid statuses of each A2A error, from 1.0.0 and later patch versions together.
var fitting = map[a2a.ErrorName][]grpc.Code{
	a2a.TaskNotFound:              {grpc.NotFound},
	a2a.TaskNotCancelable:         {grpc.FailedPrecondition},
	a2a.PushNotSupported:          {grpc.FailedPrecondition, grpc.Unimplemented},
	a2a.UnsupportedOperation:      {grpc.FailedPrecondition, grpc.Unimplemented},
	a2a.ContentTypeNotSupported:   {grpc.InvalidArgument},
	a2a.InvalidAgentResponse:      {grpc.Internal},
	a2a.ExtendedCardNotConfigured: {grpc.FailedPrecondition},
	a2a.ExtensionSupportRequired:  {grpc.FailedPrecondition},
	a2a.VersionNotSupported:       {grpc.FailedPrecondition, grpc.Unimplemented},
}

var grpcStatusMap = &analysis.Rule{
	ID:     "grpc-status-map",
	Title:  "gRPC status does not fit the A2A error",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen | analysis.EventSeen,
	Cites:  rule.Cite("5.4", a2a.V1_0),
	Stands: "1.0.1:1178",
	Doc: `Each A2A error has a gRPC status. Retries, load balancers and metrics see only the status: a missing task
reported as UNAVAILABLE is retried forever.`,
	Fix: `End the call with the status that the protocol defines for the error: NOT_FOUND for TASK_NOT_FOUND,
FAILED_PRECONDITION for most others.`,
	Silent: `Reasons that A2A does not define and ErrorInfo of other domains. If patch versions of 1.0 name different
statuses, each of them is right.`,
	Check: func(p *analysis.Pass) {
		status, ok := failure(p)
		if !ok {
			return
		}
		for i, d := range p.Answer.Err.Value.Get("details").Elems() {
			right := fitting[a2a.ErrorNameOfReason(d.Get("reason").Text())]
			if !isErrorInfo(d) || !d.Get("domain").Is("a2a-protocol.org") || right == nil {
				continue
			}
			p.Applied()
			if !slices.Contains(right, status.Code) {
				names := make([]string, len(right))
				for i, code := range right {
					names[i] = code.String()
				}
				p.Report(p.Exchange.GRPCPlace(grpc.StatusField), fmt.Sprintf("status %s with reason %s at %s", status.Code,
					analysis.Quote(d.Get("reason")), p.Place.At(a2a.Ptr("/details", i, "reason"))),
					"expected status "+strings.Join(names, " or "))
			}
			return
		}
	},
}

// failure returns the status of a call that failed, if one is at hand that is a status.
func failure(p *analysis.Pass) (grpc.Status, bool) {
	if p.Answer == nil || p.Answer.Err == nil || p.Answer.Err.GRPCStatus == "" {
		return grpc.Status{}, false
	}
	status, told := p.Exchange.GRPCStatus()
	return status, told && status.Bad == ""
}

func isErrorInfo(detail a2a.Value) bool {
	return strings.HasSuffix(detail.Get("@type").Text(), "google.rpc.ErrorInfo")
}

var grpcErrorInfo = &analysis.Rule{
	ID:     "grpc-errorinfo",
	Title:  "A2A error over gRPC without ErrorInfo",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen | analysis.EventSeen,
	Needs:  []*analysis.Tracker{card.Tracker, task.Tracker},
	Cites:  rule.Cite("10.6", a2a.V1_0),
	Stands: "1.0.1:2687",
	Doc: `Most A2A errors share one status. An ErrorInfo in the details of the status names the error: without it a
client cannot tell a task that has ended from a capability that the agent does not have.`,
	Fix: `Put a google.rpc.ErrorInfo with the reason of the error and the domain a2a-protocol.org into the details of the
status, which the server library sends as grpc-status-details-bin.`,
	Silent: `Errors that need not be A2A's: everything except a named task that is not found, a refused operation on a
task that is known to have ended, and a refused capability that no card declares. Details that cannot be read, and an
ErrorInfo of another domain.`,
	Check: func(p *analysis.Pass) {
		status, ok := failure(p)
		if !ok || status.Detail != nil {
			return
		}
		what := ownError(p, &status)
		if what == "" {
			return
		}
		for _, d := range p.Answer.Err.Value.Get("details").Elems() {
			if isErrorInfo(d) {
				p.Applied()
				return
			}
		}
		p.Report(p.Place, fmt.Sprintf("status %s: %s, and there is no ErrorInfo", status.Code, what),
			"expected one in grpc-status-details-bin")
	},
}

// ownError returns the subject of an error, if only A2A has such an error, or "" if it may be another one.
func ownError(p *analysis.Pass, status *grpc.Status) string {
	x := p.Exchange
	op := x.Call.Operation
	switch status.Code {
	case grpc.NotFound:
		if x.Call.TaskID != "" && !op.Sends() && rule.SpeaksOfTask(p.Answer.Err.Value, x.Path) {
			return "the task or its config is not found"
		}
		return ""
	case grpc.FailedPrecondition, grpc.Unimplemented:
	default:
		return ""
	}
	if ended := task.Of(p).EndedBefore(x); ended != nil && !task.Of(p).Retry(x) &&
		(op.Sends() || op == a2a.CancelTask || op == a2a.SubscribeToTask) && rule.SpeaksOfState(status.Message) {
		return fmt.Sprintf("task %s ended as %s at %s", analysis.QuoteText(ended.TaskID), analysis.QuoteText(ended.Spelling),
			ended.StatePlace())
	}
	if status.Code == grpc.Unimplemented { // which itself means that the method does not exist
		return ""
	}
	if lacking := rule.Undeclared(p); lacking != "" && strings.Contains(strings.ToLower(status.Message), "support") {
		return "the card at " + card.Of(p).Before(x)[0].Place.String() + " declares no " + lacking
	}
	return ""
}

var grpcEndedFails = &analysis.Rule{
	ID:       "grpc-ended-fails",
	Title:    "stream fails after its task has ended",
	Category: analysis.Streaming,
	Level:    analysis.Advice,
	On:       analysis.EventSeen | analysis.StreamEnded,
	Needs:    []*analysis.Tracker{stream.Tracker},
	Cites:    rule.Cite("7.2.2", a2a.V0_2, a2a.V0_3).And("3.1.2", a2a.V1_0),
	Stands:   "0.2.6:types:221 0.3.0:types:528 1.0.1:210",
	Doc: `The stream has reported the end of its task, or has carried the Message that answers the call, and then its
status says that the call failed. Clients raise an error instead of the result, or after it, and some send the message
again.`,
	Fix: `Close the stream with OK when the task has ended, whatever its outcome: the task's state says that it failed
or was canceled.`,
	Silent: `Streams that were open or broke off. The finding is a note, since no text says with which status a stream
closes.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		last, what := max(s.Terminal, s.Closing), "ended the task"
		if last == 0 {
			last, what = s.Message, "was the Message that answers the call"
		}
		if last == 0 {
			return
		}
		if p.Kind == analysis.StreamEnded {
			if p.End.Clean {
				p.Applied()
			}
			return
		}
		if status, failed := failure(p); failed {
			p.Report(p.Exchange.GRPCPlace(grpc.StatusField),
				fmt.Sprintf("status %s, and message %d %s", status.Code, last, what), "expected OK")
		}
	},
}

var grpcCancelled = &analysis.Rule{
	ID:    "grpc-cancelled",
	Title: "call ended as CANCELLED, but its client did not cancel it",
	Level: analysis.Advice,
	On:    analysis.CallEnded,
	Cites: rule.Cite("gRPC status codes §CANCELLED", a2a.V0_2, a2a.V0_3, a2a.V1_0),
	Doc: `CANCELLED is about the call: it usually says that the client has left. To cancel a task there is a separate
call, CancelTask, and the task's state shows the result. Clients think that they caused CANCELLED themselves, and
ignore it. They do not learn that the task was canceled, or that the agent gave up.`,
	Fix: `Send the task in its state TASK_STATE_CANCELED and close the stream with OK. If the agent gives up, use the
status that says why: ABORTED, UNAVAILABLE or INTERNAL.`,
	Silent: `Calls that their client left or that had a deadline; answers that broke off; recordings with gaps;
streams that have reported the end of their task, which grpc-ended-fails reports. The finding is a note.`,
	Needs: []*analysis.Tracker{stream.Tracker},
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		status, told := x.GRPCStatus()
		if !told || !x.Ended || x.Cut || p.End.Fault != nil || !x.HeadersKept() || x.Request.Fields.Has(grpc.TimeoutField) {
			return
		}
		if s := stream.Of(p).In(x); s != nil && max(s.Terminal, s.Closing, s.Message) > 0 {
			return
		}
		p.Applied()
		if status.Code == grpc.Cancelled {
			p.Report(x.GRPCPlace(grpc.StatusField), "status CANCELLED, and the client has not canceled the call",
				"expected the state of the task, or the status of the failure")
		}
	},
}
