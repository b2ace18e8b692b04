package rules

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/a2a"
)

// REST is the family of rules about errors in the HTTP+JSON binding.
var REST = []*analyzer.Rule{
	RESTErrorNot2xx,
	RESTErrorEnvelope,
}

// RESTErrorNot2xx reports an error that travels under a status of success.
var RESTErrorNot2xx = &analyzer.Rule{
	ID:       "rest-error-not-2xx",
	Title:    "error body under a 2xx status",
	Family:   "rest",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	On:       analyzer.AnswerSeen | analyzer.EventSeen,
	Bindings: onREST,
	Cites: slices.Concat(
		cite("3.2.3", a2a.V0_3),
		cite("11.6", a2a.V1_0),
	),
	Doc: `Over HTTP+JSON the status code says whether a call succeeded. A client that reads 200 takes the body for a task or
a message, and fails in a place that has nothing to do with the cause.`,
	Fix:    `Answer failures with the status of the error: 404 for a task that is not found, 400 for a request that is wrong.`,
	Silent: `Only a body with error.code and error.message, or application/problem+json, counts as an error. In a stream only the first event is judged: later there is no status left to choose.`,
	Check: func(p *analyzer.Pass) {
		if p.Answer == nil || p.Answer.Doc.Err != nil || p.Kind == analyzer.EventSeen && !opensStream(p) {
			return
		}
		p.Applied()
		status := p.Exchange.Response.Status
		if at, failed := errorBody(p); failed && succeeded(status) {
			p.Report(p.Place.At(at), fmt.Sprintf("an error under status %d", status), "expected a status of 400 or more")
		}
	},
}

// errorBody reports whether the JSON at hand is surely meant as an error, and where the error stands in it.
func errorBody(p *analyzer.Pass) (pointer string, failed bool) {
	failure := p.Answer.Doc.Root.Get("error")
	if failure.Get("code").Exists() && failure.Get("message").Kind() == a2a.String {
		return "/error", true
	}
	types := p.Exchange.Response.Fields.Values("Content-Type")
	return "", p.Kind == analyzer.AnswerSeen && essence(types) == "application/problem+json"
}

// RESTErrorEnvelope reports an error whose JSON lacks the object that clients look into.
var RESTErrorEnvelope = &analyzer.Rule{
	ID:       "rest-error-envelope",
	Title:    "error JSON without the error object",
	Family:   "rest",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	On:       analyzer.AnswerSeen,
	Bindings: onREST,
	Cites:    cite("11.6", a2a.V1_0),
	Doc: `Errors of the HTTP+JSON binding are objects with one member, error, which holds code, status, message and details.
A client that finds another shape knows that something failed, and not what.`,
	Fix: `Wrap the error: {"error": {"code": 404, "status": "NOT_FOUND", "message": "...", "details": [...]}}.`,
	Silent: `Bodies that are no JSON or not labelled as JSON. Statuses that gateways and frameworks answer on their own (401, 403 to 408, 411, 413 to 415, 417,
421, 426, 429, 431, 501 to 505) are a note, unless a 404 speaks of a task. application/problem+json is a warning, since examples of 1.0 print it.`,
	Check: func(p *analyzer.Pass) {
		x := p.Exchange
		status := x.Response.Status
		label := essence(x.Response.Fields.Values("Content-Type"))
		if status < 400 || p.Doc == nil || p.Doc.Err != nil || x.Call.Operation == a2a.NoOperation || label != "" && !isJSON(label) {
			return
		}
		p.Applied()
		root := p.Doc.Root
		if root.Get("error").Kind() == a2a.Object {
			return
		}
		worst := analyzer.Error
		switch {
		case label == "application/problem+json":
			worst = analyzer.Warning
		case fromInfrastructure(status) && !(status == 404 && speaksOfTask(root, x.Path)):
			worst = analyzer.Note
		}
		p.Report(p.Place.At(""), fmt.Sprintf("status %d with %s", status, analyzer.Quote(root)), `expected an object with the member "error"`, analyzer.AtMost(worst))
	},
}

// fromInfrastructure reports whether a status is one that servers, gateways and frameworks answer before the agent is
// asked.
func fromInfrastructure(status int) bool {
	switch status {
	case 401, 403, 404, 405, 406, 407, 408, 411, 413, 414, 415, 417, 421, 426, 429, 431, 501, 502, 503, 504, 505:
		return true
	}
	return false
}

// speaksOfTask reports whether an error's text is about a task or a config, and does not just repeat the path that was
// asked, as frameworks do for a route that they do not have.
func speaksOfTask(v a2a.Value, path string) bool {
	text := strings.ToLower(strings.ReplaceAll(string(v.Raw()), path, ""))
	return strings.Contains(text, "task") || strings.Contains(text, "config")
}
