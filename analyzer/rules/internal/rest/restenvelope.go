package rest

import (
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

// ErrorObjects is the family of rules about the error object of the HTTP+JSON binding.
var ErrorObjects = rule.Family{
	Name:     "restenvelope",
	Category: analysis.ErrorHandling,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnREST,
	Cites:    rule.Cite("11.6", a2a.V1_0),
}.Of(
	restErrorEnvelope,
	restErrorCodeEqualsStatus,
	restErrorMessage,
	restErrorStatusName,
	restErrorDetailsArray,
	restErrorDetailsType,
)

const unlessAgents = ` Error objects that a gateway may have written, by their status: only one that mentions a
task, or that has details of a type, is checked.`

var restErrorEnvelope = &analysis.Rule{
	ID:     "rest-error-envelope",
	Title:  "error JSON without the error object",
	Level:  analysis.Must,
	Covers: []string{"rest-error-body"},
	Stands: "1.0.1:2898",
	Doc: `Errors of the HTTP+JSON binding are objects with one member, error, which has code, status, message and
details. If the error has another form, a client knows that something failed, but not what.`,
	Fix: `Wrap the error: {"error": {"code": 404, "status": "NOT_FOUND", "message": "...", "details": [...]}}.`,
	Silent: `Bodies that are not JSON or not labeled as JSON. Statuses that gateways and frameworks answer on their
own (401, 403 to 408, 411, 413 to 415, 417, 421, 426, 429, 431, 501 to 505) are a note, unless a 404 mentions a task.
application/problem+json is a warning, since examples of 1.0 print it. Requests without a version, which means 0.3,
unless a card offers only 1.0 there.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		status := x.Response.Status
		label := x.Response.Fields.MediaType()
		if status < 400 || p.Doc == nil || p.Doc.Err != nil || x.Call.Operation == a2a.NoOperation || underV1(x) ||
			label != "" && !rule.IsJSON(label) {
			return
		}
		if x.Endpoint.Declared.Empty() && (x.Call.Version == "" || rule.NoRoute(p)) {
			return
		}
		p.Applied()
		root := p.Doc.Root
		if root.Get("error").Kind() == a2a.Object {
			return
		}
		worst := analysis.Error
		switch {
		case label == "application/problem+json":
			worst = analysis.Warning
		case rule.FromInfrastructure(status) && !(status == 404 && rule.SpeaksOfTask(root, x.Path)):
			worst = analysis.Note
		}
		p.Report(p.Place.At(""), fmt.Sprintf("status %d with %s", status, analysis.Quote(root)),
			`expected an object with the member "error"`, analysis.AtMost(worst))
	},
}

// judgeErrorObjects calls judge with the error object of a failed answer, and with its place. It skips answers without
// an error object, and, if a gateway may have written the answer, those that are not certainly the agent's.
func judgeErrorObjects(p *analysis.Pass, judge func(at analysis.Place, failure a2a.Value)) {
	x := p.Exchange
	if x.Response.Status < 400 || p.Doc == nil || p.Doc.Err != nil || x.Call.Operation == a2a.NoOperation {
		return
	}
	failure := p.Doc.Root.Get("error")
	if failure.Kind() != a2a.Object || rule.FromInfrastructure(x.Response.Status) && !isAgents(p, failure) {
		return
	}
	p.Applied()
	judge(p.Place.At("/error"), failure)
}

// isAgents reports whether an error object is certainly the agent's own: it mentions a task that is not found, or has
// details with a type.
func isAgents(p *analysis.Pass, failure a2a.Value) bool {
	if p.Exchange.Response.Status == 404 && rule.SpeaksOfTask(failure, p.Exchange.Path) {
		return true
	}
	for _, d := range failure.Get("details").Elems() {
		if d.Get("@type").Kind() == a2a.String {
			return true
		}
	}
	return false
}

var restErrorCodeEqualsStatus = &analysis.Rule{
	ID:     "rest-error-code-equals-status",
	Title:  "error.code differs from the HTTP status",
	Level:  analysis.Must,
	Stands: "1.0.1:2900",
	Doc: `The code of an error repeats the HTTP status, so the status is not lost if only the body is logged or passed
on. If the numbers differ, two layers of one client react to different errors.`,
	Fix: `Write the HTTP status as error.code, as a JSON number. The code of JSON-RPC, such as -32001, does not belong
there: the ErrorInfo in details names the error.`,
	Silent: `A number without a fraction counts as an integer in any notation. Errors under a success status are
reported by rest-error-not-2xx.` + unlessAgents,
	Check: func(p *analysis.Pass) {
		status := p.Exchange.Response.Status
		judgeErrorObjects(p, func(at analysis.Place, failure a2a.Value) {
			code := failure.Get("code")
			if n, integer := code.Int(); !integer || n != int64(status) {
				p.Report(at.In("code"), fmt.Sprintf("error.code is %s under status %d", analysis.Quote(code), status),
					fmt.Sprintf("expected %d", status))
			}
		})
	},
}

var restErrorMessage = &analysis.Rule{
	ID:     "rest-error-message",
	Title:  "error.message missing or not a string",
	Level:  analysis.Must,
	Cites:  rule.Cite("11.6", a2a.V1_0).And("3.3.2", a2a.V1_0),
	Stands: "1.0.1:2901 1.0.1:543",
	Doc: `The error object has a message, a string. People read it in a log if the status alone does not show which
value was wrong.`,
	Fix: `Send a short sentence as error.message.`,
	Silent: `An empty message is a warning. Answers without an error object are reported by rest-error-envelope.` +
		unlessAgents,
	Check: func(p *analysis.Pass) {
		judgeErrorObjects(p, func(at analysis.Place, failure a2a.Value) {
			message := failure.Get("message")
			switch {
			case message.Kind() != a2a.String:
				p.Report(at.In("message"), "error.message is "+analysis.Quote(message), "expected a string")
			case message.Is(""):
				p.Report(at.In("message"), "error.message is empty", "expected a short description",
					analysis.AtMost(analysis.Warning))
			}
		})
	},
}

var restErrorStatusName = &analysis.Rule{
	ID:     "rest-error-status-name",
	Title:  "error.status is not a gRPC status name",
	Level:  analysis.Should,
	Stands: "1.0.1:2898",
	Doc: `error.status is the name of a gRPC status, such as NOT_FOUND. Libraries convert it to an enum: with any
other text, the HTTP reason phrase or a number, they drop the error or cannot read it.`,
	Fix: `Write the gRPC name for the HTTP status: INVALID_ARGUMENT or FAILED_PRECONDITION for 400, NOT_FOUND for 404,
INTERNAL for 500. Put A2A's name for the error into the ErrorInfo.`,
	Silent: `A missing or null status. Whether the name matches the HTTP status is not checked.` + unlessAgents,
	Check: func(p *analysis.Pass) {
		judgeErrorObjects(p, func(at analysis.Place, failure a2a.Value) {
			name := failure.Get("status")
			if _, known := grpc.ParseCode(name.Text()); name.Exists() && !name.IsNull() && !known {
				p.Report(at.In("status"), "error.status is "+analysis.Quote(name),
					"expected the name of a gRPC status, such as NOT_FOUND")
			}
		})
	},
}

var restErrorDetailsArray = &analysis.Rule{
	ID:     "rest-error-details-array",
	Title:  "error.details is not an array",
	Level:  analysis.Must,
	Stands: "1.0.1:2902",
	Doc: `error.details is a list of objects, each of which names its type. Clients look through the list for the
ErrorInfo; if it is an object or a string, typed clients cannot read the error at all.`,
	Fix:    `Put every detail into an array, even if there is only one.`,
	Silent: `Missing or null details.` + unlessAgents,
	Check: func(p *analysis.Pass) {
		judgeErrorObjects(p, func(at analysis.Place, failure a2a.Value) {
			if details := failure.Get("details"); details.Exists() && !details.IsNull() && details.Kind() != a2a.Array {
				p.Report(at.In("details"), "error.details is "+analysis.Quote(details), "expected an array of objects")
			}
		})
	},
}

var restErrorDetailsType = &analysis.Rule{
	ID:     "rest-error-details-type",
	Title:  "error detail without @type",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Stands: "1.0.1:2906",
	Doc: `Each detail of an error names its type in @type. Without it an ErrorInfo cannot be told from a list of wrong
fields: clients skip the detail, and typed ones cannot read the error.`,
	Fix:    `Add "@type" to each detail, such as "type.googleapis.com/google.rpc.ErrorInfo".`,
	Silent: `Details that are not an array. Only the first such detail in an answer is reported.` + unlessAgents,
	Check: func(p *analysis.Pass) {
		judgeErrorObjects(p, func(at analysis.Place, failure a2a.Value) {
			for i, d := range failure.Get("details").Elems() {
				if kind := d.Get("@type"); kind.Kind() != a2a.String || kind.Is("") {
					p.Report(at.At(a2a.Ptr("/error/details", i)), "the detail "+analysis.Quote(d)+" has no @type",
						"expected the name of its type")
				}
			}
		})
	},
}
