package rpc

import (
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Requests is the family of rules about the JSON-RPC 2.0 request object: its version, its parameters, its id.
var Requests = rule.Family{
	Name:     "rpcrequest",
	Category: analysis.ErrorHandling,
	Side:     a2a.Client,
	On:       analysis.RequestSeen,
	Bindings: rule.OnRPC,
}.Of(
	rpcRequestIsObject,
	rpcRequestJSONRPC,
	rpcParamsStructured,
	rpcParamsObject,
	rpcParamsNoneGetCard,
	rpcidType,
	rpcidNull,
	rpcidFraction,
	rpcidMissing,
	rpcRequestUnknownMember,
)

var rpcRequestIsObject = &analysis.Rule{
	ID:     "rpc-request-is-object",
	Title:  "JSON-RPC request is not an object",
	Level:  analysis.Must,
	Cites:  rule.Cite("7", rule.Before1...).And("JSON-RPC 2.0 §4", a2a.V1_0),
	Stands: "0.1.0:777 0.2.6:447 0.3.0:656",
	Doc: `A call is a JSON object, and several calls are an array of objects. Anything else has neither method nor id:
the agent can only report that it did not understand, without saying which call it means.`,
	Fix: `Send one request object as the body. Look for a body that was serialized twice: the object is then inside a
string.`,
	Silent: `Bodies that are not labeled as JSON, and empty ones. An empty array is reported by rpc-batch-empty.`,
	Check: func(p *analysis.Pass) {
		if p.Doc == nil || p.Doc.Err != nil {
			return
		}
		switch root := p.Doc.Root; {
		case root.Kind() == a2a.Object:
			p.Applied()
		case root.Kind() != a2a.Array && labelledJSON(p.Exchange):
			p.Report(p.Place.At(""), "the request is "+analysis.Quote(root), "expected an object")
		}
		for i, v := range p.Doc.Root.Elems() {
			p.Applied()
			if v.Kind() != a2a.Object {
				p.Report(p.Place.At(a2a.Ptr("", i)), "an entry of the batch is "+analysis.Quote(v), "expected an object")
				return
			}
		}
	},
}

var rpcRequestJSONRPC = &analysis.Rule{
	ID:     "rpc-request-jsonrpc",
	Title:  `JSON-RPC request without "jsonrpc":"2.0"`,
	Level:  analysis.Must,
	Cites:  rule.Cite("6.11.1", rule.Before1...).And("9.3", a2a.V1_0),
	Stands: "0.1.0:735 0.2.6:422 0.3.0:631 1.0.1:2270",
	Doc: `Every JSON-RPC 2.0 request has the member jsonrpc with exactly the string "2.0". A strict agent refuses a
request without it, so a client that omits it works only with some agents.`,
	Fix: `Send "jsonrpc": "2.0", as a string, in every request.`,
	Silent: `Bodies that are not JSON-RPC at all: JSON without method, params and jsonrpc. In 0.1 a missing member is
a note, since that schema gives it a default.`,
	Check: func(p *analysis.Pass) {
		judgeRequests(p, func(at string, request a2a.Value, _ *a2a.Call) {
			p.Applied()
			version := request.Get("jsonrpc")
			if version.Is("2.0") {
				return
			}
			p.Report(p.Place.At(at+"/jsonrpc"), "jsonrpc is "+analysis.Quote(version), `expected "2.0"`,
				analysis.AtMostIf(!version.Exists() && p.Dialects == a2a.Of(a2a.V0_1), analysis.Note))
		})
	},
}

var rpcParamsStructured = &analysis.Rule{
	ID:    "rpc-params-structured",
	Title: "JSON-RPC params is neither object nor array",
	Level: analysis.Must,
	Cites: rule.Cite("JSON-RPC 2.0 §4.2", rule.Every...),
	Doc: `The member params holds the parameters by name, in an object, or is left out. If it is a string or null, a
strict agent refuses the whole request before it reads the method.`,
	Fix:    `Send an object. If the method has no parameters, leave params out instead of sending null.`,
	Silent: `In 0.1 null counts as absent. An array is reported by rpc-params-object.`,
	Check: func(p *analysis.Pass) {
		judgeRequests(p, func(at string, request a2a.Value, _ *a2a.Call) {
			params := request.Get("params")
			if !params.Exists() || params.IsNull() && p.Dialects == a2a.Of(a2a.V0_1) {
				return
			}
			p.Applied()
			if params.Kind() != a2a.Object && params.Kind() != a2a.Array {
				p.Report(p.Place.At(at+"/params"), "params is "+analysis.Quote(params), "expected an object")
			}
		})
	},
}

var rpcParamsObject = &analysis.Rule{
	ID:     "rpc-params-object",
	Title:  "parameters of an A2A method by position",
	Level:  analysis.Must,
	Cites:  rule.Cite("7.1", rule.Before1...).And("9.4", a2a.V1_0),
	Stands: "0.1.0:785 0.2.6:460 0.3.0:669 1.0.1:2294",
	Doc: `JSON-RPC allows parameters by position, but no A2A method defines an order: each expects one object. An
agent cannot know what the elements of an array mean.`,
	Fix: `Send params as an object with the named members of the method. Look for a JSON-RPC library that passes
arguments by position.`,
	Silent: `Methods that A2A does not define.`,
	Check: func(p *analysis.Pass) {
		judgeRequests(p, func(at string, request a2a.Value, call *a2a.Call) {
			params := request.Get("params")
			if call.Operation == a2a.NoOperation || params.Kind() != a2a.Object && params.Kind() != a2a.Array {
				return
			}
			p.Applied()
			if params.Kind() == a2a.Array {
				p.Report(p.Place.At(at+"/params"), "params is an array", "expected an object with named members")
			}
		})
	},
}

var rpcParamsNoneGetCard = &analysis.Rule{
	ID:     "rpc-params-none-getcard",
	Title:  "parameters for the method that has none",
	Level:  analysis.Must,
	Cites:  rule.Cite("7.10", a2a.V0_3),
	Stands: "0.3.0:types:1274",
	Doc: `In 0.3 the request for the extended card has no parameters: the credentials identify the caller. An agent
that validates the request against the schema refuses one with parameters.`,
	Fix:    `Leave params out of agent/getAuthenticatedExtendedCard.`,
	Silent: `Empty parameters. Parameters by position are reported by rpc-params-object.`,
	Check: func(p *analysis.Pass) {
		judgeRequests(p, func(at string, request a2a.Value, call *a2a.Call) {
			params := request.Get("params")
			if call.Operation != a2a.GetExtendedCard || params.Exists() && params.Kind() != a2a.Object {
				return
			}
			p.Applied()
			for name := range params.Members() {
				p.Report(p.Place.At(at+"/params"), "params has the member "+analysis.QuoteText(name), "expected no parameters")
				return
			}
		})
	},
}

var rpcidType = &analysis.Rule{
	ID:     "rpc-id-type",
	Title:  "JSON-RPC id of a wrong type",
	Level:  analysis.Must,
	Cites:  rule.Cite("6.11.1", rule.Before1...).And("JSON-RPC 2.0 §4", a2a.V1_0),
	Stands: "0.1.0:738 0.2.6:425 0.3.0:634",
	Doc: `The id of a request is a string or a number. An agent cannot echo any other value in a way that all clients
understand, and has to refuse the request without saying which one it means.`,
	Fix:    `Use a number that counts up, or a UUID as a string.`,
	Silent: `A null id is reported by rpc-id-null, a missing one by rpc-id-missing.`,
	Check: func(p *analysis.Pass) {
		judgeRequests(p, func(at string, request a2a.Value, _ *a2a.Call) {
			id := request.Get("id")
			if !id.Exists() {
				return
			}
			p.Applied()
			if !rule.IsID(id) && !id.IsNull() {
				p.Report(p.Place.At(at+"/id"), "id is "+analysis.Quote(id), "expected a string or a number")
			}
		})
	},
}

var rpcidNull = &analysis.Rule{
	ID:     "rpc-id-null",
	Title:  "JSON-RPC request with a null id",
	Level:  analysis.Should,
	Cites:  rule.Cite("6.11.1", rule.Before1...).And("JSON-RPC 2.0 §4", a2a.V1_0),
	Stands: "0.1.0:738 0.2.6:425 0.3.0:634",
	Doc: `In a response null stands for an id that could not be read. A client that sends null as its id cannot tell
its answer from such an error, and some agents take the request for a notification.`,
	Fix:    `Give every request a unique id: a number that counts up, or a UUID as a string.`,
	Silent: `In 0.1 the finding is a note, since null counts as absent there.`,
	Check: func(p *analysis.Pass) {
		judgeRequests(p, func(at string, request a2a.Value, _ *a2a.Call) {
			id := request.Get("id")
			if !rule.IsID(id) && !id.IsNull() {
				return
			}
			p.Applied()
			if id.IsNull() {
				p.Report(p.Place.At(at+"/id"), "id is null", "expected a string or a number",
					analysis.AtMostIf(p.Dialects == a2a.Of(a2a.V0_1), analysis.Note))
			}
		})
	},
}

var rpcidFraction = &analysis.Rule{
	ID:     "rpc-id-fraction",
	Title:  "JSON-RPC id with a fraction",
	Level:  analysis.Should,
	Cites:  rule.Cite("6.11.1", rule.Before1...).And("JSON-RPC 2.0 §4", a2a.V1_0),
	Stands: "0.1.0:738 0.2.6:425 0.3.0:634",
	Doc: `Fractions often change when they are parsed and printed: 1.1 may return as 1.1000000000000001, or as 1. Then
the client does not recognize the answer.`,
	Fix:    `Use whole numbers or strings. If you use a timestamp as the id, round it.`,
	Silent: `Whole numbers in any notation: 1.0 and 1e3 have no fraction.`,
	Check: func(p *analysis.Pass) {
		judgeRequests(p, func(at string, request a2a.Value, _ *a2a.Call) {
			id := request.Get("id")
			if id.Kind() != a2a.Number {
				return
			}
			p.Applied()
			if id.Fractional() {
				p.Report(p.Place.At(at+"/id"), "id is "+analysis.Quote(id), "expected a whole number")
			}
		})
	},
}

var rpcidMissing = &analysis.Rule{
	ID:     "rpc-id-missing",
	Title:  "A2A method called without an id",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("6.11.1", rule.Before1...).And("9.3", a2a.V1_0),
	Stands: "0.1.0:738 0.2.6:types:771 0.3.0:types:984 1.0.1:2270",
	Doc: `A JSON-RPC request without id is a notification, which is never answered: the client does not learn the id
of the task that it has just started, or that the call failed.`,
	Fix: `Send an id with every call: a number that counts up, or a UUID as a string.`,
	Silent: `Methods that A2A does not define. The finding is a warning in 1.0, which only shows the id, and if no
card distinguishes 0.2 from 0.3; it is a note in 0.1 and in versions before 0.2.2, whose schema does not require the
id.`,
	Check: func(p *analysis.Pass) {
		judgeRequests(p, func(at string, request a2a.Value, call *a2a.Call) {
			if call.Operation == a2a.NoOperation {
				return
			}
			p.Applied()
			if !request.Has("id") {
				p.Report(p.Place.At(at+"/id"), "id is missing", "expected a string or a number",
					analysis.AtMost(missingIDSeverity(p)))
			}
		})
	},
}

// missingIDSeverity returns the maximum severity of a call without id: schemas require the id since 0.2.2, and cards
// name their version only since 0.2.5.
func missingIDSeverity(p *analysis.Pass) analysis.Severity {
	switch {
	case p.Dialects.Has(a2a.V0_1):
		return analysis.Note
	case p.Dialects.Has(a2a.V1_0):
		return analysis.Warning
	case !p.Dialects.Has(a2a.V0_2):
		return analysis.Error
	}
	return rule.SeveritySince(p, "0.2", "0.2.0", "0.2.1")
}

var rpcRequestUnknownMember = &analysis.Rule{
	ID:    "rpc-request-unknown-member",
	Title: "request refused for a member that JSON-RPC does not define",
	Level: analysis.Advice,
	On:    analysis.AnswerSeen,
	If:    analysis.Refused,
	Cites: rule.Cite("JSON-RPC 2.0 §4", rule.Every...),
	Doc: `A JSON-RPC request object has the members jsonrpc, method, params and id. Others are not forbidden, and most
agents ignore them. An agent with a strict parser refuses the request, and this client cannot talk to it.`,
	Fix: `Leave the member out. Put additional data into the metadata of params, or into a header.`,
	Silent: `Refusals that do not call the request wrong, and refusals whose text does not name the member: they may
have another cause.`,
	Covers: []string{"rpc-invalid-request-unfounded", "outcome-no-protocol"},
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if call.Batch != nil || p.Doc == nil && p.Answer.Err == nil || !isRequest(call.Doc.Root, p.Dialects) {
			return
		}
		status, err := p.Exchange.Response.Status, p.Answer.Err
		strict := status == 400 || status == 422
		if err != nil {
			strict = err.Name == a2a.InvalidRequest || err.Name == a2a.InvalidParams || err.Name == a2a.ParseError
		}
		if !strict {
			return
		}
		p.Applied()
		refusal := string(p.Body)
		if err != nil {
			refusal = err.Message
		}
		for name, v := range call.Doc.Root.Members() {
			switch name {
			case "jsonrpc", "method", "params", "id":
				continue
			}
			if len(name) < 3 || !strings.Contains(refusal, name) {
				continue
			}
			at := p.Place
			if p.Answer.Err != nil {
				at = at.At(p.Answer.Err.Pointer)
			}
			p.Report(at, "the request has the member "+analysis.QuoteText(name)+" at "+
				p.Exchange.RequestPlace().Body().At(v.Pointer()).String()+", and is refused with "+refusalName(p),
				"expected only jsonrpc, method, params and id")
			return
		}
	},
}

// refusalName returns the name of the error in an answer, or else its status.
func refusalName(p *analysis.Pass) string {
	if err := p.Answer.Err; err != nil {
		return err.String()
	}
	return "status " + strconv.Itoa(p.Exchange.Response.Status)
}
