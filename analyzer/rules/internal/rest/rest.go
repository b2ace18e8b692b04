package rest

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/reach"
	"a2atap/proxy/a2a"
)

// Calls is the family of rules about how the HTTP+JSON binding uses HTTP: routes, methods, media types, and successful
// responses.
var Calls = rule.Family{
	Name:     "rest",
	Category: analysis.ErrorHandling,
	Bindings: rule.OnREST,
}.Of(
	restVerb,
	restRouteKnown,
	restRouteInID,
	restv1Prefix,
	restRequestContentType,
	restResponseContentType,
	restContentTypeV1,
	restBodyObject,
	restSuccessStatus,
	restAnswerMissing,
)

var restVerb = &analysis.Rule{
	ID:    "rest-verb",
	Title: "route called with the wrong HTTP method",
	Level: analysis.Must,
	Side:  a2a.Client,
	On:    analysis.RequestSeen,
	Needs: []*analysis.Tracker{card.Tracker},
	Cites: rule.Cite("7", a2a.V0_2).And("3.2.3", a2a.V0_3).And("3.5.3", a2a.V0_3).And("5.3", a2a.V1_0).
		And("11.3", a2a.V1_0),
	Stands: "0.2.6:485 0.3.0:98 0.3.0:184 1.0.1:1162 1.0.1:2783",
	Doc: `Over HTTP+JSON the HTTP method is part of the operation: GET reads, POST acts, DELETE removes. An agent
answers any other method with 404 or 405, or does something else than the client meant.`,
	Fix: `Use the method of the route: POST for message:send, message:stream, :cancel and new push configs, GET for tasks,
lists and cards, DELETE to remove a push config.`,
	Silent: `Subscribing with GET or POST, which are both right; OPTIONS and HEAD; paths that are not below an
interface that a card declares and show no other sign of A2A. The finding is a note if the card declares extensions,
which may add methods.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Operation != a2a.NoOperation {
			p.Applied()
			return
		}
		if verbs := routeMethods(x); len(verbs) > 0 {
			p.Report(x.RequestPlace().Line(), "the request is "+analysis.Clip(x.Request.Method+" "+x.Path),
				"expected "+strings.Join(verbs, " or "), atMostIfExtended(p))
		}
	},
}

// routeMethods returns the HTTP methods that the path of a call accepts, or nil if it is not a route, even if only the
// id at its end is missing.
func routeMethods(x *analysis.Exchange) []string {
	if strings.HasSuffix(x.Path, "/") && slices.Contains(a2a.RouteMethods(x.Path+"id"), x.Request.Method) {
		return nil
	}
	return a2a.RouteMethods(x.Path)
}

// atMostIfExtended makes a finding a note if a card declares extensions, which may add routes and methods.
func atMostIfExtended(p *analysis.Pass) analysis.Option {
	for _, c := range card.Of(p).Before(p.Exchange) {
		for range c.Extensions() {
			return analysis.AtMost(analysis.Note)
		}
	}
	return analysis.AtMost(analysis.Error)
}

var restRouteKnown = &analysis.Rule{
	ID:     "rest-route-known",
	Title:  "path is not a route of the HTTP+JSON binding",
	Level:  analysis.Must,
	Side:   a2a.Client,
	On:     analysis.AnswerSeen,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("3.2.3", a2a.V0_3).And("11.3", a2a.V1_0),
	Stands: "0.3.0:99 1.0.1:2787",
	Doc: `The path names the operation. A path that is almost a route, such as tasks/ID/cancel or messages:send, is
not one: the agent does not know it, and the call fails as if the agent did not exist.`,
	Fix: `Append the route to the interface's URL exactly as in the specification: message:send, message:stream,
tasks/ID, tasks/ID:cancel, tasks/ID:subscribe, tasks/ID/pushNotificationConfigs.`,
	Silent: `Paths that the agent does not answer with 404, 405 or 501; paths that are not below a declared HTTP+JSON
interface, or that show no sign of A2A (its headers, its media type, a path that looks like a route); well-known URIs;
the URLs of other interfaces and paths below them. The finding is a note if the card declares extensions, which may
add routes.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Operation != a2a.NoOperation {
			p.Applied()
			return
		}
		switch x.Response.Status {
		case 404, 405, 501:
		default:
			return
		}
		if len(routeMethods(x)) == 0 {
			p.Report(x.RequestPlace().Line(),
				fmt.Sprintf("the path is %s, answered with %d", analysis.QuoteText(x.Path), x.Response.Status),
				"expected a route of the HTTP+JSON binding", atMostIfExtended(p))
		}
	},
}

var restRouteInID = &analysis.Rule{
	ID:     "rest-route-in-id",
	Title:  "the end of a route is taken for part of the task's id",
	Level:  analysis.Should,
	Side:   a2a.Agent,
	On:     analysis.AnswerSeen,
	If:     analysis.NamesTask | analysis.Refused,
	Cites:  rule.Cite("3.2.3", a2a.V0_3).And("11.3", a2a.V1_0),
	Stands: "0.3.0:99 1.0.1:2787",
	Covers: []string{"error-not-found-code"},
	Doc: `The agent has no route for the operation. Its route for tasks treats the whole end of the path as an id, and
the agent then looks for a task with that id, which does not exist.`,
	Fix: `Add routes for tasks/ID:cancel, tasks/ID:subscribe and tasks/ID/pushNotificationConfigs before the route for
tasks/ID, or let the pattern of the id end before a colon or a slash. Accept GET and POST for tasks/ID:subscribe.`,
	Silent: `Errors that do not quote the id together with the text that follows it, and errors that only repeat the
path, as frameworks do for a missing route. The finding is a note for tasks/ID:subscribe, for which the specification
names two HTTP methods.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Operation == a2a.NoOperation || p.Answer == nil || p.Answer.Err == nil {
			return
		}
		rest, ok := reach.RouteInID(p.Observation)
		if !ok {
			return
		}
		p.Report(p.Place.At(p.Answer.Err.Pointer),
			fmt.Sprintf("the agent looks for a task %s: it takes %s in the path for part of the id",
				analysis.QuoteText(x.Call.TaskID+rest), analysis.QuoteText(rest)),
			fmt.Sprintf("expected %s of task %s", x.Call.Operation, analysis.QuoteText(x.Call.TaskID)),
			analysis.AtMostIf(x.Call.Operation == a2a.SubscribeToTask, analysis.Note))
	},
}

var restRequestContentType = &analysis.Rule{
	ID:     "rest-request-content-type",
	Title:  "HTTP+JSON request not labeled application/json",
	Level:  analysis.Must,
	Side:   a2a.Client,
	Once:   analysis.PerCause,
	On:     analysis.RequestSeen,
	Cites:  rule.Cite("3.2.3", a2a.V0_3),
	Stands: "0.3.0:100",
	Doc: `In 0.3 a body of the HTTP+JSON binding is labeled application/json. Frameworks choose the parser by this
label: with another one they answer 415, or give the agent an empty body.`,
	Fix: `Send "Content-Type: application/json" with every body.`,
	Silent: `Requests without a body, bodies of GET and DELETE, which have no meaning, and labels that are not in the
recording. Parameters such as charset are ignored.
Only the first message with each label between the same two programs is reported, with the number of messages.`,
	Check: func(p *analysis.Pass) {
		if !hasOwnBody(p) {
			return
		}
		p.Applied()
		fields := p.Exchange.Request.Fields
		if fields.MediaType() != "application/json" {
			p.Report(p.Exchange.RequestPlace().Header("Content-Type"), rule.ContentType(fields.Values("Content-Type")),
				"expected application/json")
		}
	},
}

// hasOwnBody reports whether the current request is a call with a meaningful body and recorded labels.
func hasOwnBody(p *analysis.Pass) bool {
	x := p.Exchange
	return p.Doc != nil && x.Request.Method == "POST" && x.Call.Operation != a2a.NoOperation &&
		rule.LabelKept(x, x.Request.Fields)
}

var restResponseContentType = &analysis.Rule{
	ID:     "rest-response-content-type",
	Title:  "HTTP+JSON answer not labeled application/json",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Once:   analysis.PerCause,
	On:     analysis.AnswerSeen,
	Cites:  rule.Cite("3.2.3", a2a.V0_3),
	Stands: "0.3.0:100",
	Doc: `In 0.3 an answer of the HTTP+JSON binding is labeled application/json. Clients choose their parser by this
label: they show JSON labeled as text to a user, or refuse it, although its content is right.`,
	Fix: `Send "Content-Type: application/json" with every JSON body.`,
	Silent: `Bodies that are neither a JSON object nor an array, JSON errors that gateways send, and
application/problem+json for errors. Parameters are ignored.
Only the first message with each label between the same two programs is reported, with the number of messages.`,
	Check: func(p *analysis.Pass) {
		if !hasOwnAnswer(p) {
			return
		}
		p.Applied()
		fields := p.Exchange.Response.Fields
		switch label := fields.MediaType(); {
		case label == "application/json":
		case label == "application/problem+json" && p.Exchange.Response.Status >= 400:
		default:
			p.Report(p.Exchange.ResponsePlace().Header("Content-Type"), rule.ContentType(fields.Values("Content-Type")),
				"expected application/json")
		}
	},
}

// hasOwnAnswer reports whether the current answer is JSON that the agent itself wrote, with recorded labels, and no
// event stream is expected.
func hasOwnAnswer(p *analysis.Pass) bool {
	x := p.Exchange
	if p.Doc == nil || p.Doc.Err != nil || x.Call.Operation == a2a.NoOperation || !rule.LabelKept(x, x.Response.Fields) ||
		rule.DueAsStream(p) {
		return false
	}
	root := p.Doc.Root
	if root.Kind() != a2a.Object && root.Kind() != a2a.Array {
		return false
	}
	return !rule.FromInfrastructure(x.Response.Status) || root.Get("error").Kind() == a2a.Object
}

var restContentTypeV1 = &analysis.Rule{
	ID:     "rest-content-type-v1",
	Title:  "HTTP+JSON body not labeled as JSON",
	Level:  analysis.Should,
	Side:   a2a.Agent,
	Either: true,
	Once:   analysis.PerCause,
	On:     analysis.RequestSeen | analysis.AnswerSeen,
	Cites:  rule.Cite("11.1", a2a.V1_0),
	Stands: "1.0.1:2750",
	Doc: `Bodies of the HTTP+JSON binding are labeled application/a2a+json, or application/json as in 1.0.0. Both
sides choose their parser by this label: under another one a right body is refused, or never read.`,
	Fix: `Send "Content-Type: application/a2a+json" with every JSON body.`,
	Silent: `Any label that ends in +json; messages without a body, bodies of GET and DELETE, event streams, error
pages that are not JSON, and errors that gateways send. Parameters are ignored.
Only the first message with each label between the same two programs is reported, with the number of messages.`,
	Check: func(p *analysis.Pass) {
		at, fields := p.Exchange.RequestPlace(), p.Exchange.Request.Fields
		judged := p.Kind == analysis.RequestSeen && hasOwnBody(p) && p.Doc.Err == nil
		if p.Kind == analysis.AnswerSeen {
			at, fields = p.Exchange.ResponsePlace(), p.Exchange.Response.Fields
			judged = hasOwnAnswer(p)
		}
		if !judged {
			return
		}
		p.Applied()
		if !rule.IsJSON(fields.MediaType()) {
			p.Report(at.Header("Content-Type"), rule.ContentType(fields.Values("Content-Type")), "expected application/a2a+json",
				rule.BySender(p))
		}
	},
}

var restBodyObject = &analysis.Rule{
	ID:     "rest-body-object",
	Title:  "request body is not the request object",
	Level:  analysis.Must,
	Side:   a2a.Client,
	On:     analysis.RequestSeen,
	Cites:  rule.Cite("3.2.3", a2a.V0_3).And("11.4", a2a.V1_0),
	Covers: []string{"req-push-config", "msg-object", "unknown-field"},
	Stands: "0.3.0:102 1.0.1:2810",
	Doc: `The body of an HTTP+JSON call is the request object of the operation. If it is a list, a string or null, the
agent cannot read any field: it refuses the call, or acts on an empty request.`,
	Fix: `Send the request object, such as {"message": {...}}. For a call without parameters send {} or no body at
all.`,
	Silent: `Requests without a body, bodies of routes that have none, and bodies that are not JSON.`,
	Check: func(p *analysis.Pass) {
		switch p.Exchange.Call.Operation {
		case a2a.SendMessage, a2a.SendStreamingMessage, a2a.CancelTask, a2a.CreatePushConfig:
		default:
			return
		}
		if p.Doc == nil || p.Doc.Err != nil {
			return
		}
		p.Applied()
		if root := p.Doc.Root; root.Kind() != a2a.Object {
			p.Report(p.Place.At(""), "the body is "+analysis.Quote(root), "expected an object")
		} else if root.Has("jsonrpc") && root.Has("method") {
			p.Report(p.Place.At(""), "the body is a JSON-RPC request: "+analysis.Quote(root),
				"expected the request object of the operation, as HTTP+JSON defines it")
		}
	},
}

var restSuccessStatus = &analysis.Rule{
	ID:     "rest-success-status",
	Title:  "result under a status other than 200",
	Level:  analysis.Advice,
	Side:   a2a.Agent,
	On:     analysis.AnswerSeen,
	Cites:  rule.Cite("3.2.3", a2a.V0_3).And("11.4", a2a.V1_0),
	Stands: "0.3.0:101 1.0.1:2835",
	Doc: `All examples answer a successful call with 200, though no sentence requires it. Clients that compare the
status with 200, as generated ones do, treat any other status as a failure and discard the result.`,
	Fix:    `Answer 200 with the result, even if a task was created or continues.`,
	Silent: `201 for a new push config, 204 for a removed one, and 203, which proxies set.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		status, op := x.Response.Status, x.Call.Operation
		if p.Doc == nil || p.Answer.Err != nil || op == a2a.NoOperation || !rule.Succeeded(status) {
			return
		}
		p.Applied()
		if status == 200 || status == 203 || status == 201 && op == a2a.CreatePushConfig ||
			status == 204 && op == a2a.DeletePushConfig {
			return
		}
		p.Report(x.ResponsePlace().Status(), fmt.Sprintf("%s answered with status %d and a result", op, status),
			"expected 200")
	},
}

var restAnswerMissing = &analysis.Rule{
	ID:     "rest-answer-missing",
	Title:  "HTTP+JSON call answered without a body",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	On:     analysis.AnswerSeen,
	Cites:  rule.Cite("3.2.3", a2a.V0_3).And("11.4", a2a.V1_0),
	Stands: "0.3.0:102 1.0.1:2810",
	Doc: `Nearly every call returns something: a task, a message, a list, a config. If the status says success and
there is no body, the client has no id to continue with, and loses the task that it may have started.`,
	Fix: `Send the result as JSON with status 200. An empty list is a result too.`,
	Silent: `The removal of a push config, which returns nothing; streaming calls; statuses other than 2xx; answers
that were cut off.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		switch x.Call.Operation {
		case a2a.NoOperation, a2a.DeletePushConfig, a2a.SendStreamingMessage, a2a.SubscribeToTask:
			return
		}
		if !rule.Succeeded(x.Response.Status) {
			return
		}
		p.Applied()
		if p.Doc == nil {
			p.Report(p.Place, fmt.Sprintf("%s answered with status %d and no body", x.Call.Operation, x.Response.Status),
				"expected the result")
		}
	},
}
