package rest

import (
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
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

const unlessAgents = ` Error objects that a gateway may have written, by their status: there only one that speaks of a
task, or that has details of a type, is judged.`

var restErrorEnvelope = &analysis.Rule{
	ID:     "rest-error-envelope",
	Title:  "error JSON without the error object",
	Level:  analysis.Must,
	Covers: []string{"rest-error-body"},
	Stands: "1.0.1:2898",
	Doc: `Errors of the HTTP+JSON binding are objects with one member, error, which holds code, status, message and
details. A client that finds another shape knows that something failed, and not what.`,
	Fix: `Wrap the error: {"error": {"code": 404, "status": "NOT_FOUND", "message": "...", "details": [...]}}.`,
	Silent: `Bodies that are no JSON or not labelled as JSON. Statuses that gateways and frameworks answer on their own
(401, 403 to 408, 411, 413 to 415, 417, 421, 426, 429, 431, 501 to 505) are a note, unless a 404 speaks of a task.
application/problem+json is a warning, since examples of 1.0 print it. Requests that name no version, which stands for
0.3, unless a card says that only 1.0 is spoken there.`,
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

// judgeErrorObjects calls judge with the error object of a failed answer, and with where it stands. Only an answer that
// has one is judged by its members, and where a gateway may have written it, only one that is surely the agent's.
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

// isAgents reports whether an error object is surely the agent's own: it speaks of a task that is not found, or has
// details of a type.
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
	Doc: `The code of an error repeats the HTTP status, so that it is still known where the body is logged or handed on
alone. With another number there, two layers of one client act on different errors.`,
	Fix: `Write the HTTP status as error.code, as a JSON number. The code of JSON-RPC, such as -32001, does not belong
there: the ErrorInfo in details says which error it is.`,
	Silent: `A number without fraction counts as an integer however it is written. Errors under a status of success are
left to rest-error-not-2xx.` + unlessAgents,
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
	Doc: `The error object has a message, a string. It is what people read in a log when the status alone does not tell
them which of their values was wrong.`,
	Fix: `Send a short sentence as error.message.`,
	Silent: `An empty message is a warning. Answers without an error object are left to rest-error-envelope.` +
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
	Doc: `error.status is the name of a gRPC status, such as NOT_FOUND. Libraries turn it into an enum: another word, the
HTTP reason phrase or a number makes them drop the error or fail to read it.`,
	Fix: `Write the gRPC name for the HTTP status: INVALID_ARGUMENT or FAILED_PRECONDITION for 400, NOT_FOUND for 404,
INTERNAL for 500. What A2A calls the error goes into the ErrorInfo.`,
	Silent: `A missing or null status. Whether the name fits the HTTP status is not judged.` + unlessAgents,
	Check: func(p *analysis.Pass) {
		judgeErrorObjects(p, func(at analysis.Place, failure a2a.Value) {
			if name := failure.Get("status"); name.Exists() && !name.IsNull() && !isGRPCStatus(name.Text()) {
				p.Report(at.In("status"), "error.status is "+analysis.Quote(name),
					"expected the name of a gRPC status, such as NOT_FOUND")
			}
		})
	},
}

// isGRPCStatus reports whether a name is one of gRPC's canonical status codes.
func isGRPCStatus(name string) bool {
	switch name {
	case "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
		"PERMISSION_DENIED",
		"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE",
		"DATA_LOSS",
		"UNAUTHENTICATED":
		return true
	}
	return false
}

var restErrorDetailsArray = &analysis.Rule{
	ID:     "rest-error-details-array",
	Title:  "error.details is not an array",
	Level:  analysis.Must,
	Stands: "1.0.1:2902",
	Doc: `error.details is a list of objects, each of a type that it names. Clients look through the list for the
ErrorInfo; from an object or a string in its place typed ones cannot read the error at all.`,
	Fix:    `Put every detail into an array, also where there is only one.`,
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
	Doc: `Each detail of an error names its type in @type. Without it nobody can tell an ErrorInfo from a list of wrong
fields: clients skip the detail, and typed ones fail to read the error.`,
	Fix:    `Add "@type" to each detail, such as "type.googleapis.com/google.rpc.ErrorInfo".`,
	Silent: `Details that are not an array. Of several such details in one answer the first is reported.` + unlessAgents,
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
