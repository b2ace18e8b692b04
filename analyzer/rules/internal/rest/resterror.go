package rest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Errors is the family of rules about failed calls in the HTTP+JSON binding.
var Errors = rule.Family{
	Name:     "resterror",
	Category: analysis.ErrorHandling,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnREST,
}.Of(
	restErrorNot2xx,
	restErrorBody,
	restErrorInfoPresent,
	restErrorStatusMap,
)

var restErrorNot2xx = &analysis.Rule{
	ID:     "rest-error-not-2xx",
	Title:  "error body under a 2xx status",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen | analysis.EventSeen,
	Cites:  rule.Cite("3.2.3", a2a.V0_3).And("11.6", a2a.V1_0),
	Stands: "0.3.0:101 1.0.1:2900",
	Doc: `Over HTTP+JSON the status code says whether a call succeeded. A client that gets 200 reads the body as a
task or a message, and fails in code that has nothing to do with the cause.`,
	Fix: `Answer failures with the status of the error: 404 for a task that is not found, 400 for an invalid request.`,
	Silent: `Only a body with error.code and error.message, one with a number as its code and a text as its message,
or application/problem+json counts as an error. In a stream only the first event is checked: after that the status can
no longer be chosen.`,
	Check: func(p *analysis.Pass) {
		if p.Answer == nil || p.Answer.Doc.Err != nil || p.Kind == analysis.EventSeen && !rule.OpensStream(p) {
			return
		}
		p.Applied()
		status := p.Exchange.Response.Status
		if at, failed := errorBody(p); failed && rule.Succeeded(status) {
			p.Report(p.Place.At(at), fmt.Sprintf("an error under status %d", status), "expected a status of 400 or more")
		}
	},
}

// errorBody reports whether the current JSON is certainly meant as an error, and returns the pointer to the error.
func errorBody(p *analysis.Pass) (pointer string, failed bool) {
	failure := p.Answer.Doc.Root.Get("error")
	if failure.Get("code").Exists() && failure.Get("message").Kind() == a2a.String {
		return "/error", true
	}
	if root := p.Answer.Doc.Root; root.Get("code").Kind() == a2a.Number && root.Get("message").Kind() == a2a.String {
		return "", true
	}
	types := p.Exchange.Response.Fields.Values("Content-Type")
	return "", p.Kind == analysis.AnswerSeen && rule.Essence(types) == "application/problem+json"
}

var restErrorBody = &analysis.Rule{
	ID:     "rest-error-body",
	Title:  "error answer without a code and a message",
	Level:  analysis.Must,
	Cites:  rule.Cite("3.2.3", a2a.V0_3).And("3.3.2", a2a.V1_0).And("11.6", a2a.V1_0),
	Covers: []string{"outcome-no-protocol"},
	Stands: "0.3.0:104 1.0.1:540 1.0.1:2900",
	Doc: `An error has a code and a message in JSON. An empty body or a text page tells a client that something
failed, but not whether to fix the request, to try again or to give up.`,
	Fix: `Answer {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "..."}} with every status of 400 and
above. Do not let a framework write its own page.`,
	Silent: `Statuses that gateways and frameworks answer on their own (401, 403 to 408, 411, 413 to 415, 417, 421,
426, 429, 431, 501 to 505), except that a 403 that is not JSON is a note if the card declares the interface. 400 as
plain text or HTML. The members of an error object are reported by other rules, and application/problem+json with
status and title or detail is enough. 0.3 defines no members: an error or a message is enough there, and JSON with
neither is a warning.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		status := x.Response.Status
		worst := analysis.Error
		if status == 403 && (p.Doc == nil || p.Doc.Err != nil) && !x.Endpoint.Declared.Empty() {
			worst = analysis.Note
		} else if status < 400 || x.Call.Operation == a2a.NoOperation || rule.FromInfrastructure(status) {
			return
		}
		label := x.Response.Fields.MediaType()
		if status == 400 && p.Doc != nil && (label == "text/plain" || label == "text/html") {
			return
		}
		if p.Doc != nil && p.Doc.Err != nil &&
			(p.Doc.Err.Limit || bytes.HasPrefix(bytes.TrimSpace(p.Body), []byte("<")) && status == 400) {
			return
		}
		p.Applied()
		switch {
		case p.Doc == nil:
			p.Report(p.Place, fmt.Sprintf("status %d without a body", status), "expected an error with code and message",
				analysis.AtMost(worst))
		case p.Doc.Err != nil:
			p.Report(p.Place,
				fmt.Sprintf("status %d with %s", status, analysis.QuoteText(string(p.Body[:min(len(p.Body), maxShown)]))),
				"expected an error with code and message", analysis.AtMost(worst))
		case !tellsError(p.Doc.Root):
			if p.Dialects.Has(a2a.V0_3) {
				if p.Doc.Root.Has("error") || p.Doc.Root.Has("message") {
					return
				}
				worst = analysis.Warning
			}
			p.Report(p.Place.At(""), fmt.Sprintf("status %d with %s", status, analysis.Quote(p.Doc.Root)),
				"expected an error with code and message", analysis.AtMost(worst))
		}
	},
}

const maxShown = 200 // bytes of a text that a finding looks at

// tellsError reports whether a JSON text holds an error object, a code and a message, or problem details.
func tellsError(root a2a.Value) bool {
	if root.Get("error").Kind() == a2a.Object || root.Has("code") && root.Has("message") {
		return true
	}
	return root.Has("status") && (root.Has("title") || root.Has("detail"))
}

var restErrorInfoPresent = &analysis.Rule{
	ID:     "rest-errorinfo-present",
	Title:  "A2A error without ErrorInfo",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{card.Tracker, task.Tracker},
	Cites:  rule.Cite("11.6", a2a.V1_0),
	Stands: "1.0.1:2910",
	Doc: `Many A2A errors share one HTTP status. An ErrorInfo in the details names the error: without it a client
cannot tell a task that has ended from an invalid request.`,
	Fix: `Add {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain":
"a2a-protocol.org"} to error.details, with the reason of the error.`,
	Silent: `Errors that need not be A2A's: everything except a 404 for a task in the path, a refused operation on a
task that is known to have ended, and a refused capability that no card declares. Errors that mention validation or
credentials, an ErrorInfo of another domain, and details without a type.`,
	Check: func(p *analysis.Pass) {
		if p.Doc == nil || p.Doc.Err != nil {
			return
		}
		failure := p.Doc.Root.Get("error")
		what := ownError(p, failure)
		details := failure.Get("details")
		if what == "" || details.Exists() && !details.IsNull() && details.Kind() != a2a.Array {
			return
		}
		for _, d := range details.Elems() {
			kind := d.Get("@type").Text()
			if kind == "" {
				return
			}
			if strings.HasSuffix(kind, "google.rpc.ErrorInfo") {
				p.Applied()
				return
			}
		}
		at := p.Place.At("/error")
		if details.Exists() {
			at = at.In("details")
		}
		p.Report(at, fmt.Sprintf("status %d: %s, and there is no ErrorInfo", p.Exchange.Response.Status, what),
			"expected one in error.details")
	},
}

// ownError returns the subject of an error object, if only A2A has such an error, or "" if it may be another one.
func ownError(p *analysis.Pass, failure a2a.Value) string {
	x := p.Exchange
	status, text := x.Response.Status, failure.Get("message").Text()
	if failure.Kind() != a2a.Object || !failure.Has("code") || !failure.Has("message") {
		return ""
	}
	switch failure.Get("status").Text() {
	case "", "NOT_FOUND", "FAILED_PRECONDITION", "UNIMPLEMENTED":
	default: // such as INVALID_ARGUMENT, which concerns only the request
		return ""
	}
	if status == 404 && x.Call.TaskID != "" && !x.Call.Operation.Sends() && rule.SpeaksOfTask(failure, x.Path) {
		return "the task or its config is not found"
	}
	if status != 400 && status != 409 {
		return ""
	}
	op := x.Call.Operation
	if ended := task.Of(p).EndedBefore(x); ended != nil && !task.Of(p).Retry(x) &&
		(op.Sends() || op == a2a.CancelTask || op == a2a.SubscribeToTask) && rule.SpeaksOfState(text) {
		return fmt.Sprintf("task %s ended as %s at %s", analysis.QuoteText(ended.TaskID), analysis.QuoteText(ended.Spelling),
			ended.StatePlace())
	}
	if lacking := rule.Undeclared(p); lacking != "" && strings.Contains(strings.ToLower(text), "support") {
		return "the card at " + card.Of(p).Before(x)[0].Place.String() + " declares no " + lacking
	}
	return ""
}

var restErrorStatusMap = &analysis.Rule{
	ID:     "rest-error-status-map",
	Title:  "HTTP status does not fit the A2A error",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.4", a2a.V1_0),
	Stands: "1.0.1:1178",
	Doc: `Each A2A error has an HTTP status. Gateways, retries and metrics see only the status: a missing task
reported as 500 is retried forever, and raises a false alarm.`,
	Fix: `Answer with the status that the protocol defines for the error: 404 for TASK_NOT_FOUND, 400 for most others.`,
	Silent: `Reasons that A2A does not define and ErrorInfo of other domains. If patch versions of 1.0 name different
statuses, each of them is right. Errors under a success status are reported by rest-error-not-2xx.`,
	Check: func(p *analysis.Pass) {
		status := p.Exchange.Response.Status
		if p.Doc == nil || p.Doc.Err != nil || status < 400 {
			return
		}
		for i, d := range p.Doc.Root.Get("error").Get("details").Elems() {
			if !strings.HasSuffix(d.Get("@type").Text(), "google.rpc.ErrorInfo") || !d.Get("domain").Is("a2a-protocol.org") {
				continue
			}
			row, ok := a2a.ErrorNameOfReason(d.Get("reason").Text()).Row()
			if !ok || len(row.Status) == 0 {
				continue
			}
			p.Applied()
			if !slices.Contains(row.Status, status) {
				p.Report(p.Exchange.ResponsePlace().Status(),
					fmt.Sprintf("status %d with reason %s at %s", status, analysis.QuoteText(row.Reason),
						p.Place.At(a2a.Ptr("/error/details", i, "reason"))), "expected status "+anyOf(row.Status))
			}
			return
		}
	},
}

// anyOf returns numbers as a choice: "400 or 409".
func anyOf(numbers []int) string {
	words := make([]string, 0, len(numbers))
	for _, n := range numbers {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, " or ")
}
