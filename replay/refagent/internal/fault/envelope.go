package fault

import (
	"net/http"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

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
		hooks: onAnswer(isResult, func(_ *wire.Call, out *wire.Answer) {
			text := jsonvalue.Append(nil, out.Body)
			out.Text = append(text[:len(text)-1], ",}"...)
		}),
	},
	{
		Slug: "json-duplicate-keys", agents: anyAgent,
		Doc: "Results hold their first member twice.",
		hooks: onAnswer(isResult, editObject(func(o jsonvalue.Object) jsonvalue.Object {
			if len(o) == 0 {
				return o
			}
			return append(jsonvalue.Object{o[0]}, o...)
		})),
	},
	{
		Slug: "rpc-response-jsonrpc", agents: anyAgent,
		Doc:   `JSON-RPC answers say "jsonrpc":"1.0".`,
		hooks: onAnswer(isRPC, editObject(func(o jsonvalue.Object) jsonvalue.Object { return o.With("jsonrpc", "1.0") })),
	},
	{
		Slug: "rpc-id-echo", agents: anyAgent,
		Doc: "JSON-RPC results carry an id that is not the request's.",
		hooks: onAnswer(isRPCResult, editObject(func(o jsonvalue.Object) jsonvalue.Object {
			return o.With("id",
				"another-id")
		})),
	},
	{
		Slug: "rpc-result-xor-error", agents: anyAgent,
		Doc: "JSON-RPC results have an error beside them.",
		hooks: onAnswer(isRPCResult, editObject(func(o jsonvalue.Object) jsonvalue.Object {
			return o.With("error", jsonvalue.Object{{"code", model.CodeInternal}, {"message", "Internal error"}})
		})),
	},
	{
		Slug: "rpc-error-code-int", agents: anyAgent,
		Doc: "The code of JSON-RPC errors is a string.",
		hooks: onAnswer(isRPCFailure, editError(func(o jsonvalue.Object) jsonvalue.Object {
			code, _ := o.Get("code")
			return o.With("code", string(jsonvalue.Append(nil, code)))
		})),
	},
	{
		Slug: "rpc-error-message", agents: anyAgent,
		Doc:   "JSON-RPC errors have no message.",
		hooks: onAnswer(isRPCFailure, editError(func(o jsonvalue.Object) jsonvalue.Object { return o.Without("message") })),
	},
	{
		Slug: "rest-error-not-2xx", agents: with10,
		Doc:   "HTTP+JSON errors are sent with status 200.",
		hooks: onAnswer(isRESTFailure, func(_ *wire.Call, out *wire.Answer) { out.Status = http.StatusOK }),
	},
	{
		Slug: "rest-error-envelope", agents: with10,
		Doc: "HTTP+JSON errors lack the error member around them.",
		hooks: onAnswer(isRESTFailure, editObject(func(o jsonvalue.Object) jsonvalue.Object {
			e, _ := o.Get("error")
			return e.(jsonvalue.Object)
		})),
	},
}

func asPlainText(_ *wire.Call, out *wire.Answer) {
	out.Header.Set("Content-Type", "text/plain; charset=utf-8")
}
