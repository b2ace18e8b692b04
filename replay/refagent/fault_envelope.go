package refagent

import "net/http"

// Faults of media types, JSON text and the envelopes of both bindings.
var envelopeFaults = []Fault{
	{
		Slug: "rpc-response-content-type", agents: only03,
		Doc:   "JSON-RPC answers are sent as text/plain.",
		hooks: onAnswer(isRPC, asPlainText),
	},
	{
		Slug: "rpc-response-content-type-v1", agents: with10,
		Doc:   "JSON-RPC answers are sent as text/plain.",
		hooks: onAnswer(isRPC, asPlainText),
	},
	{
		Slug: "json-wellformed", agents: anyAgent,
		Doc: "Results have a comma before the last brace.",
		hooks: onAnswer(isResult, func(_ *call, out *answer) {
			text := appendJSON(nil, out.body)
			out.text = append(text[:len(text)-1], ",}"...)
		}),
	},
	{
		Slug: "json-duplicate-keys", agents: anyAgent,
		Doc: "Results hold their first member twice.",
		hooks: onAnswer(isResult, editObject(func(o object) object {
			if len(o) == 0 {
				return o
			}
			return append(object{o[0]}, o...)
		})),
	},
	{
		Slug: "rpc-response-jsonrpc", agents: anyAgent,
		Doc:   `JSON-RPC answers say "jsonrpc":"1.0".`,
		hooks: onAnswer(isRPC, editObject(func(o object) object { return o.with("jsonrpc", "1.0") })),
	},
	{
		Slug: "rpc-id-echo", agents: anyAgent,
		Doc:   "JSON-RPC results carry an id that is not the request's.",
		hooks: onAnswer(isRPCResult, editObject(func(o object) object { return o.with("id", "another-id") })),
	},
	{
		Slug: "rpc-result-xor-error", agents: anyAgent,
		Doc: "JSON-RPC results come with an error.",
		hooks: onAnswer(isRPCResult, editObject(func(o object) object {
			return o.with("error", object{{"code", codeInternal}, {"message", "Internal error"}})
		})),
	},
	{
		Slug: "rpc-error-code-int", agents: anyAgent,
		Doc: "The code of JSON-RPC errors is a string.",
		hooks: onAnswer(isRPCFailure, editError(func(o object) object {
			code, _ := o.get("code")
			return o.with("code", string(appendJSON(nil, code)))
		})),
	},
	{
		Slug: "rpc-error-message", agents: anyAgent,
		Doc:   "JSON-RPC errors have no message.",
		hooks: onAnswer(isRPCFailure, editError(func(o object) object { return o.without("message") })),
	},
	{
		Slug: "rest-error-not-2xx", agents: with10,
		Doc:   "HTTP+JSON errors are sent with status 200.",
		hooks: onAnswer(isRESTFailure, func(_ *call, out *answer) { out.status = http.StatusOK }),
	},
	{
		Slug: "rest-error-envelope", agents: with10,
		Doc: "HTTP+JSON errors lack the error member around them.",
		hooks: onAnswer(isRESTFailure, editObject(func(o object) object {
			e, _ := o.get("error")
			return e.(object)
		})),
	},
}

func asPlainText(_ *call, out *answer) { out.header.Set("Content-Type", "text/plain; charset=utf-8") }
