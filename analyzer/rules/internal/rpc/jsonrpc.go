package rpc

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Responses is the family of rules about the JSON-RPC 2.0 response object: its version, its id, its outcome.
var Responses = rule.Family{
	Name:     "jsonrpc",
	Category: analysis.ErrorHandling,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen | analysis.EventSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.11.2", rule.Before1...).And("JSON-RPC 2.0 §5", a2a.V1_0),
}.Of(
	rpcResponseJSONRPC,
	rpcResponseIDPresent,
	rpcidEcho,
	rpcidNullParseError,
	rpcidNullUnjustified,
	rpcResultXorError,
	rpcResultXorErrorV01,
	rpcResultNull,
	rpcNotificationAnswered,
)

var rpcResponseJSONRPC = &analysis.Rule{
	ID:     "rpc-response-jsonrpc",
	Title:  `JSON-RPC response without "jsonrpc":"2.0"`,
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Stands: "0.1.0:744 0.2.6:431 0.3.0:640",
	Doc: `Every JSON-RPC 2.0 response, including each event of a stream, has the member jsonrpc with exactly the
string "2.0". Clients use it to tell a response from anything else that may come with status 200.`,
	Fix: `Send "jsonrpc": "2.0", as a string, in every response object and in the data of every event.`,
	Silent: `Error pages of gateways and frameworks that are not JSON-RPC. Only the first such response in a stream or
a batch is reported. In 0.1 a missing member is a warning in an event, and a note at an address that serves only
streams.`,
	Check: func(p *analysis.Pass) {
		judgeResponses(p, func(at string, response a2a.Value) {
			p.Applied()
			version := response.Get("jsonrpc")
			if version.Is("2.0") {
				return
			}
			worst := analysis.Error
			if !version.Exists() && p.Dialects == a2a.Of(a2a.V0_1) && p.Kind == analysis.EventSeen {
				worst = analysis.Warning
				if p.Exchange.Call.Early {
					worst = analysis.Note
				}
			}
			p.Report(p.Place.At(at+"/jsonrpc"), "jsonrpc is "+analysis.Quote(version), `expected "2.0"`, analysis.AtMost(worst))
		})
	},
}

var rpcResponseIDPresent = &analysis.Rule{
	ID:     "rpc-response-id-present",
	Title:  "JSON-RPC response without id",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Stands: "0.1.0:745 0.2.6:432 0.3.0:641",
	Doc: `Every response object has the member id, which may be null. Typed clients cannot read a response without
one, and a client that waits for the answer to a certain call never finds it.`,
	Fix: `Copy the id of the request into every response, including errors and events of streams. Send null if the
request's id cannot be read.`,
	Silent: `If jsonrpc is missing too, only that is reported. Error pages of gateways that are not JSON-RPC are not
checked. Only the first such response in a stream or a batch is reported.`,
	Check: func(p *analysis.Pass) {
		judgeResponses(p, func(at string, response a2a.Value) {
			if !response.Has("jsonrpc") {
				return
			}
			p.Applied()
			if !response.Has("id") {
				p.Report(p.Place.At(at+"/id"), "id is missing", "expected the id of the request, or null if it cannot be read")
			}
		})
	},
}

var rpcidEcho = &analysis.Rule{
	ID:     "rpc-id-echo",
	Title:  "JSON-RPC response id differs from the request's",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen,
	Stands: "0.1.0:745 0.2.6:432 0.3.0:641",
	Doc: `A response has the id of its request, with the same JSON type. A client with several calls in progress uses
it to find the caller: with another id the answer is lost or reaches the wrong caller.`,
	Fix: `Copy the id of the request unchanged: a number stays a number, and a string stays a string.`,
	Silent: `1 and 1.0 are the same number. Events of a stream are reported by stream-rpc-id. A null id in an answer
and requests whose id is missing, null or of another type are not checked here. Answers to a batch may come in any
order.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		judgeResponses(p, func(at string, response a2a.Value) {
			got := response.Get("id")
			switch {
			case !rule.IsID(got):
			case call.Batch != nil:
				echoesOneOf(p, at, got)
			case rule.IsID(call.ID):
				p.Applied()
				if !a2a.SameID(call.ID, got) {
					p.Report(p.Place.At(at+"/id"), "id is "+analysis.Quote(got),
						"expected "+analysis.Quote(call.ID)+", the id of the request")
				}
			}
		})
	},
}

// echoesOneOf judges the id of one response to a batch.
func echoesOneOf(p *analysis.Pass, at string, got a2a.Value) {
	calls := p.Exchange.Call.Batch
	if p.Exchange.Call.Doc.Root.Len() != len(calls) {
		return // too many to have been read
	}
	p.Applied()
	for i := range calls {
		if a2a.SameID(calls[i].ID, got) {
			return
		}
	}
	p.Report(p.Place.At(at+"/id"), "id is "+analysis.Quote(got), "expected the id of a request of the batch")
}

var rpcidNullParseError = &analysis.Rule{
	ID:     "rpc-id-null-parse-error",
	Title:  "error about an unreadable request with an id",
	Level:  analysis.Must,
	Stands: "0.1.0:745 0.2.6:432 0.3.0:641",
	Doc: `If the id of a request cannot be read, the error that answers it has the id null. An id that the agent made
up reaches an unrelated call, or no call.`,
	Fix: `Send "id": null with -32700, and with -32600 for a request whose id is missing or of a wrong type.`,
	Silent: ` An id echoed from a readable request is right under any code. A missing id is reported by
rpc-response-id-present. Texts that some parsers read (more text after the value, a byte order mark) and batches are
not checked.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		doc := &x.Call.Doc
		if x.Call.Batch != nil || doc.Err == nil && !doc.Root.Exists() {
			return
		}
		asked := doc.Root.Get("id").Kind()
		readable := asked == a2a.Null || asked == a2a.String || asked == a2a.Number
		judgeResponses(p, func(at string, response a2a.Value) {
			code, _ := response.Get("error").Get("code").Int()
			switch {
			case !response.Has("id"):
			case code == -32700 && unreadable(x), code == -32600 && doc.Err == nil && !readable:
				p.Applied()
				if id := response.Get("id"); !id.IsNull() {
					p.Report(p.Place.At(at+"/id"), "id is "+analysis.Quote(id)+", and the request has no readable id",
						"expected null")
				}
			}
		})
	},
}

var rpcidNullUnjustified = &analysis.Rule{
	ID:     "rpc-id-null-unjustified",
	Title:  "null id in the answer to a request that has one",
	Level:  analysis.Must,
	On:     analysis.AnswerSeen,
	Stands: "0.1.0:745 0.2.6:432 0.3.0:641",
	Doc: `A null id says that the agent could not read the request's id. A client with several calls in progress
cannot tell which of them this answers, and drops it.`,
	Fix: `Keep the request's id available in error handlers, and send it in every answer except to a request that
cannot be read.`,
	Silent: `The codes -32700 and -32600, which say that the request could not be read. Refusals that may be sent
before the body is read (401, 403, 404, 405, 413, 415, 429, 5xx and the like) are a note. Events of a stream are
reported by stream-rpc-id; batches are not checked.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if call.Batch != nil || call.Doc.Err != nil || !rule.IsID(call.ID) {
			return
		}
		judgeResponses(p, func(at string, response a2a.Value) {
			code, _ := response.Get("error").Get("code").Int()
			if code == -32700 || code == -32600 || !response.Has("id") {
				return
			}
			p.Applied()
			if !response.Get("id").IsNull() {
				return
			}
			worst := analysis.Error
			if status := p.Exchange.Response.Status; rule.FromInfrastructure(status) || status >= 500 {
				worst = analysis.Note
			}
			p.Report(p.Place.At(at+"/id"), "id is null", "expected "+analysis.Quote(call.ID)+", the id of the request",
				analysis.AtMost(worst))
		})
	},
}

var rpcResultXorError = &analysis.Rule{
	ID:     "rpc-result-xor-error",
	Title:  "JSON-RPC response with both result and error, or neither",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Cites:  rule.Cite("6.11.2", a2a.V0_2, a2a.V0_3).And("JSON-RPC 2.0 §5", a2a.V1_0),
	Stands: "0.2.6:435 0.3.0:644",
	Doc: `A JSON-RPC response has either a result or an error. With both, a client has to guess; with neither, the
call looks as if it had never been answered.`,
	Fix: `Send the member result on success and the member error on failure, never both. A successful call without
content still has a result.`,
	Silent: `A null result alone is a result. Error pages of gateways that are not JSON-RPC are not checked. A null
alongside the other member, if the call may be one of 0.1. Only the first such response in a stream or a batch is
reported.`,
	Covers: []string{
		"rpc-response-jsonrpc", "rpc-response-id-present", "list-next-token-present", "list-required-fields",
		"push-list-shape", "push-list-shape-v1",
	},
	Check: func(p *analysis.Pass) {
		judgeResponses(p, func(at string, response a2a.Value) {
			p.Applied()
			result, failure := response.Get("result"), response.Get("error")
			if mayBeOf0_1(p.Exchange) && (result.IsNull() || failure.IsNull()) && result.Exists() && failure.Exists() {
				return
			}
			switch {
			case result.Exists() && failure.IsNull():
				p.Report(p.Place.At(at), "there is a result, and error is null", "expected no member error with a result")
			case result.Exists() && failure.Exists():
				p.Report(p.Place.At(at), "both result and error are present", "expected exactly one of them")
			case !result.Exists() && !failure.Exists():
				p.Report(p.Place.At(at), "both result and error are missing", "expected exactly one of them")
			}
		})
	},
}

var rpcResultXorErrorV01 = &analysis.Rule{
	ID:     "rpc-result-xor-error-v01",
	Title:  "JSON-RPC response with both result and error, or neither",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Cites:  rule.Cite("6.11.2", a2a.V0_1),
	Stands: "0.1.0:748",
	Doc: `A JSON-RPC response has either a result or an error. With both, a client has to guess; with neither, the
call looks as if it had never been answered.`,
	Fix: `Send the member result on success and the member error on failure, never both.`,
	Silent: `A null alongside the other member counts as absent, and so does an error of null; a null result alone is
a result. Error pages of gateways that are not JSON-RPC are not checked. Only the first such response in a stream or a
batch is reported.`,
	Covers: []string{"rpc-response-jsonrpc", "rpc-response-id-present"},
	Check: func(p *analysis.Pass) {
		judgeResponses(p, func(at string, response a2a.Value) {
			p.Applied()
			result, failure := response.Get("result"), response.Get("error")
			failed := failure.Exists() && !failure.IsNull()
			switch {
			case failed && result.Exists() && !result.IsNull():
				p.Report(p.Place.At(at), "both result and error are present", "expected exactly one of them")
			case !failed && !result.Exists():
				p.Report(p.Place.At(at), "both result and error are missing", "expected exactly one of them")
			}
		})
	},
}

var rpcResultNull = &analysis.Rule{
	ID:     "rpc-result-null",
	Title:  "null result of a method that returns an object",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Cites:  rule.Cite("7", a2a.V0_2, a2a.V0_3).And("3.1", a2a.V1_0),
	Stands: "0.2.6:types:755 0.3.0:types:966 1.0.1:167",
	Doc: `Every A2A method returns an object or a list, except the deletion of a push config. A client that gets null
believes that the call succeeded, and fails at the first member that it reads.`,
	Fix: `Return the task, message, config or card, or an error if it does not exist. A list without entries is an
empty list.`,
	Silent: `Deletion of a push config, and methods that A2A does not define. In 0.1 null counts as absent. Only the
first such response in a stream or a batch is reported.`,
	Check: func(p *analysis.Pass) {
		judgeReplies(p, func(at string, response, request a2a.Value) {
			result := response.Get("result")
			if !result.Exists() || response.Has("error") {
				return
			}
			switch operation(p, request) {
			case a2a.NoOperation, a2a.DeletePushConfig:
				return
			}
			p.Applied()
			if result.IsNull() {
				p.Report(p.Place.At(at+"/result"), "result is null",
					"expected what "+analysis.QuoteText(request.Get("method").Text())+" returns")
			}
		})
	},
}

// operation returns the operation of a request object.
func operation(p *analysis.Pass, request a2a.Value) a2a.Operation {
	call := &p.Exchange.Call
	if call.Batch == nil {
		return call.Operation
	}
	for i := range call.Batch {
		if one := &call.Batch[i]; one.ID.Exists() && one.ID == request.Get("id") {
			return one.Operation
		}
	}
	return a2a.NoOperation
}

var rpcNotificationAnswered = &analysis.Rule{
	ID:    "rpc-notification-answered",
	Title: "JSON-RPC response to a notification",
	Level: analysis.Must,
	Once:  analysis.PerExchange,
	Cites: rule.Cite("JSON-RPC 2.0 §4.1", rule.Every...),
	Doc: `A request without the member id is a notification: the client expects no answer, and cannot match one
without an id. An agent that executes such a call and answers it does not check the id at all.`,
	Fix: `Answer a request without id with no body (status 202 or 204), or refuse it with -32600 and a null id.`,
	Silent: `Errors -32600, and errors -32602 whose id is missing or null, since the schemas since 0.2.2 require an id
in requests; errors that may be sent before the body is read (401, 403, 404, 405, 413, 415, 429 and the like); requests
and errors that are wrong in another respect too.`,
	Covers: []string{"rpc-response-id-present"},
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.EventSeen && !rule.OpensStream(p) || !notifies(p) {
			return
		}
		p.Applied()
		batch := p.Exchange.Call.Batch != nil
		judgeResponses(p, func(at string, response a2a.Value) {
			id, failure := response.Get("id"), response.Get("error")
			if batch && rule.IsID(id) {
				return // it answers a call that has an id
			}
			if failure.Exists() {
				code, ok := failure.Get("code").Int()
				if !ok || code == -32600 ||
					!rule.IsID(id) && (code == -32602 || rule.FromInfrastructure(p.Exchange.Response.Status)) || batch && at == "" {
					return
				}
			}
			p.Report(p.Place.At(at), "a response to a request without id", "expected no response")
		})
	},
}

// notifies reports whether the request is a notification, or a batch with at least one notification and no invalid
// call.
func notifies(p *analysis.Pass) bool {
	call := &p.Exchange.Call
	if call.Batch == nil {
		return isNotification(call.Doc.Root, p.Dialects)
	}
	found := false
	for _, v := range call.Doc.Root.Elems() {
		if !isRequest(v, p.Dialects) || v.Get("id").IsNull() {
			return false
		}
		found = found || !v.Has("id")
	}
	return found
}
