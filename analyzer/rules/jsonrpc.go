package rules

import (
	"slices"

	"a2atap/analyzer"
	"a2atap/analyzer/a2a"
)

// JSONRPC is the family of rules about the JSON-RPC 2.0 envelope.
var JSONRPC = []*analyzer.Rule{
	RPCRequestJSONRPC,
	RPCResponseJSONRPC,
	RPCIDEcho,
	RPCResultXorError,
	RPCErrorCodeInt,
	RPCErrorMessage,
}

// judgeResponses calls judge with what is at hand if it is to be read as a JSON-RPC response object, and with where it
// stands: any JSON object under a 2xx status or in an event, else only one that is recognisably meant as one, since gateways
// answer with bodies of their own. In the answer to a batch these are all its elements.
func judgeResponses(p *analyzer.Pass, judge func(at string, response a2a.Value)) {
	if p.Answer == nil || p.Answer.Doc.Err != nil {
		return
	}
	root, call := p.Answer.Doc.Root, &p.Exchange.Call
	asked := call.Method != "" || call.Batch != nil
	ours := p.Answer.IsEnvelope || asked && (p.Kind == analyzer.EventSeen || succeeded(p.Exchange.Response.Status))
	switch {
	case call.Batch != nil && root.Kind() == a2a.Array:
		for i, v := range root.Elems() {
			if v.Kind() == a2a.Object && (ours || v.Has("jsonrpc")) {
				judge(a2a.Ptr("", i), v)
			}
		}
	case root.Kind() == a2a.Object && (ours || root.Has("jsonrpc")):
		judge("", root)
	}
}

// judgeRequests calls judge with the JSON-RPC request object at hand, or with each one of a batch, and with where it stands.
// What has no member of such a request is meant for something else at the same URL.
func judgeRequests(p *analyzer.Pass, judge func(at string, request a2a.Value)) {
	if p.Doc == nil || p.Doc.Err != nil {
		return
	}
	meant := func(v a2a.Value) bool { return v.Has("method") || v.Has("jsonrpc") || v.Has("params") }
	if meant(p.Doc.Root) {
		judge("", p.Doc.Root)
	}
	for i, v := range p.Doc.Root.Elems() {
		if meant(v) {
			judge(a2a.Ptr("", i), v)
		}
	}
}

// RPCRequestJSONRPC reports a request that does not say "jsonrpc":"2.0".
var RPCRequestJSONRPC = &analyzer.Rule{
	ID:       "rpc-request-jsonrpc",
	Title:    `JSON-RPC request without "jsonrpc":"2.0"`,
	Family:   "jsonrpc",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Must,
	Side:     a2a.Client,
	On:       analyzer.RequestSeen,
	Bindings: onRPC,
	Cites: slices.Concat(
		cite("6.11.1", before1...),
		cite("9.3", a2a.V1_0),
	),
	Doc: `Every JSON-RPC 2.0 request carries the member jsonrpc with exactly the string "2.0". A strict agent refuses the
request without it, so a client that leaves it out works with some agents only.`,
	Fix:    `Send "jsonrpc": "2.0", as a string, in every request.`,
	Silent: `Bodies that are no JSON-RPC at all: JSON without method, params and jsonrpc. In 0.1 its absence is a note, since that schema gives it a default.`,
	Check: func(p *analyzer.Pass) {
		judgeRequests(p, func(at string, request a2a.Value) {
			p.Applied()
			version := request.Get("jsonrpc")
			if version.Is("2.0") {
				return
			}
			worst := analyzer.Error
			if !version.Exists() && p.Dialects == a2a.Of(a2a.V0_1) {
				worst = analyzer.Note
			}
			p.Report(p.Place.At(at+"/jsonrpc"), "jsonrpc is "+analyzer.Quote(version), `expected "2.0"`, analyzer.AtMost(worst))
		})
	},
}

// RPCResponseJSONRPC reports an answer that does not say "jsonrpc":"2.0".
var RPCResponseJSONRPC = &analyzer.Rule{
	ID:       "rpc-response-jsonrpc",
	Title:    `JSON-RPC response without "jsonrpc":"2.0"`,
	Family:   "jsonrpc",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.AnswerSeen | analyzer.EventSeen,
	Bindings: onRPC,
	Cites: slices.Concat(
		cite("6.11.2", before1...),
		cite("9.3", a2a.V1_0),
	),
	Doc: `Every JSON-RPC 2.0 response, each event of a stream included, carries the member jsonrpc with exactly the string
"2.0". Clients use it to tell a response from anything else that may come with status 200.`,
	Fix:    `Send "jsonrpc": "2.0", as a string, in every response object and in the data of every event.`,
	Silent: `Error pages of gateways and frameworks that are no JSON-RPC. In a stream or a batch the first such response is reported. In 0.1 its absence from an event is a warning.`,
	Check: func(p *analyzer.Pass) {
		judgeResponses(p, func(at string, response a2a.Value) {
			p.Applied()
			version := response.Get("jsonrpc")
			if version.Is("2.0") {
				return
			}
			worst := analyzer.Error
			if !version.Exists() && p.Dialects == a2a.Of(a2a.V0_1) && p.Kind == analyzer.EventSeen {
				worst = analyzer.Warning
			}
			p.Report(p.Place.At(at+"/jsonrpc"), "jsonrpc is "+analyzer.Quote(version), `expected "2.0"`, analyzer.AtMost(worst))
		})
	},
}

// RPCIDEcho reports an answer whose id is not the request's.
var RPCIDEcho = &analyzer.Rule{
	ID:       "rpc-id-echo",
	Title:    "JSON-RPC response id differs from the request's",
	Family:   "jsonrpc",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	On:       analyzer.AnswerSeen,
	Bindings: onRPC,
	Cites: slices.Concat(
		cite("6.11.2", before1...),
		cite("JSON-RPC 2.0 §5", a2a.V1_0),
	),
	Doc: `A response carries the id of its request, with the same JSON type. A client that has several calls under way
finds the caller by it: with another id the answer is lost or reaches the wrong one.`,
	Fix:    `Copy the id of the request as it came: a number stays that number, a string that string.`,
	Silent: `1 and 1.0 are the same number. Events of a stream are left to stream-rpc-id. A null id in an answer and requests whose id is missing, null or of another type are not judged here. Answers to a batch may come in any order.`,
	Check: func(p *analyzer.Pass) {
		call := &p.Exchange.Call
		judgeResponses(p, func(at string, response a2a.Value) {
			got := response.Get("id")
			switch {
			case !isID(got):
			case call.Batch != nil:
				echoesOneOf(p, at, got)
			case isID(call.ID):
				p.Applied()
				if !a2a.SameID(call.ID, got) {
					p.Report(p.Place.At(at+"/id"), "id is "+analyzer.Quote(got), "expected "+analyzer.Quote(call.ID)+", the id of the request")
				}
			}
		})
	},
}

// echoesOneOf judges the id of one response to a batch.
func echoesOneOf(p *analyzer.Pass, at string, got a2a.Value) {
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
	p.Report(p.Place.At(at+"/id"), "id is "+analyzer.Quote(got), "expected the id of a request of the batch")
}

func isID(v a2a.Value) bool { return v.Kind() == a2a.String || v.Kind() == a2a.Number }

// RPCResultXorError reports an answer with both result and error, or with neither.
var RPCResultXorError = &analyzer.Rule{
	ID:       "rpc-result-xor-error",
	Title:    "JSON-RPC response with both result and error, or neither",
	Family:   "jsonrpc",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.AnswerSeen | analyzer.EventSeen,
	Bindings: onRPC,
	Cites: slices.Concat(
		cite("6.11.2", a2a.V0_2, a2a.V0_3),
		cite("JSON-RPC 2.0 §5", a2a.V1_0),
	),
	Doc: `A JSON-RPC response says either how the call came out or why it failed. With both a client has to guess, with
neither it has nothing: the call looks as if it had never been answered.`,
	Fix:    `Send the member result on success and the member error on failure, never both. A successful call without content still has a result.`,
	Silent: `A null result alone is a result. Error pages of gateways that are no JSON-RPC are not judged. In a stream or a batch the first such response is reported.`,
	Covers: []string{"rpc-response-jsonrpc"},
	Check: func(p *analyzer.Pass) {
		judgeResponses(p, func(at string, response a2a.Value) {
			p.Applied()
			result, failure := response.Get("result"), response.Get("error")
			switch {
			case result.Exists() && failure.IsNull():
				p.Report(p.Place.At(at), "there is a result, and error is null", "expected no member error beside a result")
			case result.Exists() && failure.Exists():
				p.Report(p.Place.At(at), "both result and error are there", "expected exactly one of them")
			case !result.Exists() && !failure.Exists():
				p.Report(p.Place.At(at), "neither result nor error is there", "expected exactly one of them")
			}
		})
	},
}

// RPCErrorCodeInt reports an error whose code is no integer.
var RPCErrorCodeInt = &analyzer.Rule{
	ID:       "rpc-error-code-int",
	Title:    "JSON-RPC error code missing or no integer",
	Family:   "jsonrpc",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.AnswerSeen | analyzer.EventSeen,
	Bindings: onRPC,
	Cites:    cite("JSON-RPC 2.0 §5.1", every...),
	Doc: `The code of an error object is an integer. Clients tell a task that is not found from an agent that is broken by
nothing else, and typed ones fail to read the answer at all.`,
	Fix:    `Send the numeric code of the error, such as -32001, as a JSON number.`,
	Silent: `A number without fraction counts as an integer however it is written. An error that is no object is not judged here.`,
	Check: func(p *analyzer.Pass) {
		judgeErrors(p, func(at string, failure a2a.Value) {
			code := failure.Get("code")
			if _, integer := code.Int(); !integer {
				p.Report(p.Place.At(at+"/code"), "code is "+analyzer.Quote(code), "expected an integer")
			}
		})
	},
}

// RPCErrorMessage reports an error without a message.
var RPCErrorMessage = &analyzer.Rule{
	ID:       "rpc-error-message",
	Title:    "JSON-RPC error message missing or no string",
	Family:   "jsonrpc",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerExchange,
	On:       analyzer.AnswerSeen | analyzer.EventSeen,
	Bindings: onRPC,
	Cites: slices.Concat(
		cite("JSON-RPC 2.0 §5.1", before1...),
		cite("3.3.2", a2a.V1_0),
	),
	Doc: `The error object of JSON-RPC has a message, a string, next to its code. It is what people read in a log when the
code alone does not tell them which of their values was wrong.`,
	Fix:    `Send a short sentence as error.message.`,
	Silent: `An empty message is a warning. An error that is no object is not judged here.`,
	Check: func(p *analyzer.Pass) {
		judgeErrors(p, func(at string, failure a2a.Value) {
			message := failure.Get("message")
			switch {
			case message.Kind() != a2a.String:
				p.Report(p.Place.At(at+"/message"), "message is "+analyzer.Quote(message), "expected a string")
			case message.Is(""):
				p.Report(p.Place.At(at+"/message"), "message is empty", "expected a short description", analyzer.AtMost(analyzer.Warning))
			}
		})
	},
}

// judgeErrors calls judge with the error object of each response at hand, and with where it stands.
func judgeErrors(p *analyzer.Pass, judge func(at string, failure a2a.Value)) {
	judgeResponses(p, func(at string, response a2a.Value) {
		if failure := response.Get("error"); failure.Kind() == a2a.Object {
			p.Applied()
			judge(at+"/error", failure)
		}
	})
}
