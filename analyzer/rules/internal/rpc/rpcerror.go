package rpc

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Errors is the family of rules about the error object of a JSON-RPC 2.0 response.
var Errors = rule.Family{
	Name:     "rpcerror",
	Category: analysis.ErrorHandling,
	Side:     a2a.Agent,
	Once:     analysis.PerExchange,
	On:       analysis.AnswerSeen | analysis.EventSeen,
	Bindings: rule.OnRPC,
}.Of(
	rpcErrorObject,
	rpcErrorCodeInt,
	rpcErrorMessage,
	rpcErrorDataArray,
	rpcErrorDataTypeKey,
)

var rpcErrorObject = &analysis.Rule{
	ID:     "rpc-error-object",
	Title:  "JSON-RPC error is not an object",
	Level:  analysis.Must,
	Cites:  rule.Cite("6.12", rule.Before1...).And("JSON-RPC 2.0 §5.1", a2a.V1_0),
	Stands: "0.1.0:752 0.2.6:types:697 0.3.0:types:900",
	Doc: `The member error is an object with a code and a message. Clients that find a text or a list cannot read the
answer, and report a broken connection instead of the reason for the refusal.`,
	Fix: `Send {"code": -32603, "message": "..."} with the code that fits.`,
	Silent: `Answers of gateways that are not JSON-RPC, such as {"error":"invalid_token"} under 401. A null alongside
a result is reported by rpc-result-xor-error; in 0.1 null counts as absent.`,
	Check: func(p *analysis.Pass) {
		judgeResponses(p, func(at string, response a2a.Value) {
			failure := response.Get("error")
			if !failure.Exists() || failure.IsNull() && (response.Has("result") || p.Dialects == a2a.Of(a2a.V0_1)) {
				return
			}
			p.Applied()
			if failure.Kind() != a2a.Object {
				p.Report(p.Place.At(at+"/error"), "error is "+analysis.Quote(failure), "expected an object with code and message")
			}
		})
	},
}

var rpcErrorCodeInt = &analysis.Rule{
	ID:    "rpc-error-code-int",
	Title: "JSON-RPC error code missing or not an integer",
	Level: analysis.Must,
	If:    analysis.Refused,
	Cites: rule.Cite("JSON-RPC 2.0 §5.1", rule.Every...),
	Doc: `The code of an error object is an integer. It is the only thing that tells clients a missing task from a
broken agent, and typed clients cannot read the answer at all.`,
	Fix: `Send the numeric code of the error, such as -32001, as a JSON number.`,
	Silent: `A number without a fraction counts as an integer in any notation. An error that is not an object is not
checked here.`,
	Check: func(p *analysis.Pass) {
		judgeErrors(p, func(at string, failure a2a.Value) {
			code := failure.Get("code")
			if _, integer := code.Int(); !integer {
				p.Report(p.Place.At(at+"/code"), "code is "+analysis.Quote(code), "expected an integer")
			}
		})
	},
}

var rpcErrorMessage = &analysis.Rule{
	ID:     "rpc-error-message",
	Title:  "JSON-RPC error message missing or not a string",
	Level:  analysis.Must,
	If:     analysis.Refused,
	Cites:  rule.Cite("JSON-RPC 2.0 §5.1", rule.Before1...).And("3.3.2", a2a.V1_0),
	Stands: "1.0.1:543",
	Doc: `A JSON-RPC error object has a message, a string, in addition to its code. People read it in a log if the
code alone does not show which value was wrong.`,
	Fix:    `Send a short sentence as error.message.`,
	Silent: `An empty message is a warning. An error that is not an object is not checked here.`,
	Check: func(p *analysis.Pass) {
		judgeErrors(p, func(at string, failure a2a.Value) {
			message := failure.Get("message")
			switch {
			case message.Kind() != a2a.String:
				p.Report(p.Place.At(at+"/message"), "message is "+analysis.Quote(message), "expected a string")
			case message.Is(""):
				p.Report(p.Place.At(at+"/message"), "message is empty", "expected a short description",
					analysis.AtMost(analysis.Warning))
			}
		})
	},
}

var rpcErrorDataArray = &analysis.Rule{
	ID:     "rpc-error-data-array",
	Title:  "JSON-RPC error data is not an array",
	Level:  analysis.Must,
	If:     analysis.Refused,
	Cites:  rule.Cite("9.5", a2a.V1_0),
	Stands: "1.0.1:2437",
	Doc: `In 1.0 the data of an error is an array of typed objects, in which a client looks for those that it knows.
If it is a text or a single object, the client finds no reason, and typed clients may not be able to read the error at
all.`,
	Fix: `Send "data": [{"@type": "...", ...}], or leave data out.`,
	Silent: `A null counts as absent. With the codes of JSON-RPC itself and agent-specific codes the finding is a
note, since an example of 1.0.0 shows an object.`,
	Check: func(p *analysis.Pass) {
		judgeErrors(p, func(at string, failure a2a.Value) {
			data := failure.Get("data")
			if !data.Exists() || data.IsNull() || data.Kind() == a2a.Array {
				return
			}
			worst := analysis.Note
			if code, ok := failure.Get("code").Int(); ok && ofA2A(code) {
				worst = analysis.Error
			}
			p.Report(p.Place.At(at+"/data"), "data is "+analysis.Quote(data), "expected an array of objects with @type",
				analysis.AtMost(worst))
		})
	},
}

// ofA2A reports whether 1.0 gives an error code a meaning.
func ofA2A(code int64) bool { return a2a.ErrorNameOf(code, a2a.Of(a2a.V1_0)).A2A() }

var rpcErrorDataTypeKey = &analysis.Rule{
	ID:     "rpc-error-data-type-key",
	Title:  "element of JSON-RPC error data without @type",
	Level:  analysis.Must,
	If:     analysis.Refused,
	Cites:  rule.Cite("9.5", a2a.V1_0),
	Stands: "1.0.1:2455",
	Doc: `Each element of an error's data names its type in @type. Clients use it to choose how to read the element:
without it they do not find the reason.`,
	Fix: `Add "@type", for example "type.googleapis.com/google.rpc.ErrorInfo".`,
	Silent: `Data that is not an array is reported by rpc-error-data-array. Only the first such element in an exchange
is reported.`,
	Check: func(p *analysis.Pass) {
		judgeErrors(p, func(at string, failure a2a.Value) {
			for i, detail := range failure.Get("data").Elems() {
				kind := detail.Get("@type")
				switch {
				case detail.Kind() != a2a.Object:
					p.Report(p.Place.At(a2a.Ptr(at+"/data", i)), "an element of data is "+analysis.Quote(detail),
						"expected an object with @type")
				case kind.Kind() != a2a.String || kind.Is(""):
					p.Report(p.Place.At(a2a.Ptr(at+"/data", i, "@type")), "@type is "+analysis.Quote(kind), "expected a type URL")
				}
			}
		})
	},
}
