package fault

import (
	"net/http"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of media types, JSON text and the envelopes of both bindings.
var envelopeFaults = []AgentFault{
	of(before10, "rpc-response-content-type", "JSON-RPC answers are sent as text/plain.", onAnswer(isRPC, asPlainText)),
	of(with10, "rpc-response-content-type-v1", "JSON-RPC answers are sent as text/plain.", onAnswer(isRPC, asPlainText)),
	of(anyAge, "json-wellformed", "Results have a comma before the last brace.",
		onAnswer(isResult, func(_ *wire.Call, out *wire.Answer) {
			text := jsonvalue.Append(nil, out.Body)
			out.Text = append(text[:len(text)-1], ",}"...)
		})),
	of(anyAge, "json-duplicate-keys", "Results have their first member twice.",
		onAnswer(isResult, editObject(func(o jsonvalue.Object) jsonvalue.Object {
			if len(o) == 0 {
				return o
			}
			return append(jsonvalue.Object{o[0]}, o...)
		}))),
	of(anyAge, "rpc-response-jsonrpc", `JSON-RPC answers have "jsonrpc":"1.0".`,
		onAnswer(isRPC, editObject(with("jsonrpc", "1.0")))),
	of(anyAge, "rpc-id-echo", "JSON-RPC results have another id than the request.",
		onAnswer(isRPCResult, editObject(with("id", "another-id")))),
	of(anyAgent, "rpc-result-xor-error", "JSON-RPC results come with an error.",
		onAnswer(isRPCResult, addInternalError)),
	of(anyAge, "rpc-error-code-int", "The code of JSON-RPC errors is a string.",
		onAnswer(isRPCFailure, editError(func(o jsonvalue.Object) jsonvalue.Object {
			code, _ := o.Get("code")
			return o.With("code", string(jsonvalue.Append(nil, code)))
		}))),
	of(anyAge, "rpc-error-message", "JSON-RPC errors have no message.",
		onAnswer(isRPCFailure, editError(without("message")))),
	of(with10, "rest-error-not-2xx", "HTTP+JSON errors are sent with status 200.",
		onAnswer(isRESTFailure, func(_ *wire.Call, out *wire.Answer) { out.Status = http.StatusOK })),
	of(with10, "rest-error-envelope", "HTTP+JSON errors lack the enclosing member error.",
		onAnswer(isRESTFailure, editObject(func(o jsonvalue.Object) jsonvalue.Object {
			e, _ := o.Get("error")
			return e.(jsonvalue.Object)
		}))),
}

// addInternalError adds an error next to a result.
var addInternalError = editObject(with("error",
	jsonvalue.Object{{"code", model.CodeInternal}, {"message", "Internal error"}}))

func asPlainText(_ *wire.Call, out *wire.Answer) {
	out.Header.Set("Content-Type", "text/plain; charset=utf-8")
}
