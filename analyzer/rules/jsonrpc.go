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

// answersRPC reports whether what is at hand is to be read as a JSON-RPC response object: any JSON object under a 2xx
// status or in an event, else only one that is recognisably meant as one. Gateways answer with bodies of their own.
func answersRPC(p *analyzer.Pass) bool {
	a := p.Answer
	if a == nil || a.Doc.Err != nil || a.Doc.Root.Kind() != a2a.Object || p.Exchange.Call.Batch != nil {
		return false
	}
	return a.IsEnvelope || p.Kind == analyzer.EventSeen || succeeded(p.Exchange.Response.Status)
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
	Silent: `Bodies that are no JSON object, and batches. In 0.1 its absence is a note, since that schema gives it a default.`,
	Check: func(p *analyzer.Pass) {
		root := p.Exchange.Call.Doc.Root
		if p.Doc == nil || p.Doc.Err != nil || root.Kind() != a2a.Object {
			return
		}
		p.Applied()
		version := root.Get("jsonrpc")
		if version.Text() == "2.0" {
			return
		}
		var lower []analyzer.Option
		if !version.Exists() && p.Dialects == a2a.Of(a2a.V0_1) {
			lower = append(lower, analyzer.AtMost(analyzer.Note))
		}
		p.Report(p.Place.At("/jsonrpc"), "jsonrpc is "+analyzer.Quote(version), `expected "2.0"`, lower...)
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
	Silent: `Error pages of gateways and frameworks that are no JSON-RPC, and answers to batches. In a stream the first such event is reported. In 0.1 its absence from an event is a warning.`,
	Check: func(p *analyzer.Pass) {
		if !answersRPC(p) {
			return
		}
		p.Applied()
		version := p.Answer.Doc.Root.Get("jsonrpc")
		if version.Text() == "2.0" {
			return
		}
		var lower []analyzer.Option
		if !version.Exists() && p.Dialects == a2a.Of(a2a.V0_1) && p.Kind == analyzer.EventSeen {
			lower = append(lower, analyzer.AtMost(analyzer.Warning))
		}
		p.Report(p.Place.At("/jsonrpc"), "jsonrpc is "+analyzer.Quote(version), `expected "2.0"`, lower...)
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
	Silent: `1 and 1.0 are the same number. A null id in an answer, events of a stream, batches, and requests whose id is missing or of a type that JSON-RPC does not know have rules of their own.`,
	Check: func(p *analyzer.Pass) {
		asked, got := p.Exchange.Call.ID, p.Answer.ID
		if !answersRPC(p) || !isID(asked) || !isID(got) {
			return
		}
		p.Applied()
		if !a2a.SameID(asked, got) {
			p.Report(p.Place.At("/id"), "id is "+analyzer.Quote(got), "expected "+analyzer.Quote(asked)+", the id of the request")
		}
	},
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
	Silent: `A null result alone is a result. Error pages of gateways that are no JSON-RPC, and answers to batches, are not judged. In a stream the first such event is reported.`,
	Check: func(p *analyzer.Pass) {
		if !answersRPC(p) {
			return
		}
		p.Applied()
		root := p.Answer.Doc.Root
		switch result, failure := root.Get("result").Exists(), root.Get("error").Exists(); {
		case result && failure:
			p.Report(p.Place.At(""), "both result and error are there", "expected exactly one of them")
		case !result && !failure:
			p.Report(p.Place.At(""), "neither result nor error is there", "expected exactly one of them")
		}
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
	Silent: `A number without fraction counts as an integer however it is written. An error that is no object has a rule of its own.`,
	Check: func(p *analyzer.Pass) {
		code, ok := errorMember(p, "code")
		if !ok {
			return
		}
		p.Applied()
		if _, integer := code.Int(); !integer {
			p.Report(p.Place.At("/error/code"), "code is "+analyzer.Quote(code), "expected an integer")
		}
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
	Silent: `An empty message is a warning. An error that is no object has a rule of its own.`,
	Check: func(p *analyzer.Pass) {
		message, ok := errorMember(p, "message")
		if !ok {
			return
		}
		p.Applied()
		switch text, isString := message.Str(); {
		case !isString:
			p.Report(p.Place.At("/error/message"), "message is "+analyzer.Quote(message), "expected a string")
		case text == "":
			p.Report(p.Place.At("/error/message"), "message is empty", "expected a short description", analyzer.AtMost(analyzer.Warning))
		}
	},
}

// errorMember returns a member of the answer's error object, and whether there is such an object.
func errorMember(p *analyzer.Pass, name string) (a2a.Value, bool) {
	if !answersRPC(p) {
		return a2a.Value{}, false
	}
	failure := p.Answer.Doc.Root.Get("error")
	return failure.Get(name), failure.Kind() == a2a.Object
}
