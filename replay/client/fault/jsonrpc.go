package fault

import (
	"encoding/json"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
)

// Faults of JSON-RPC requests.
var rpcFaults = []ClientFault{
	of(overRPC, "rpc-request-is-object", a2a.GetTask,
		"Requests for a task are serialized twice: the body is a string with the JSON.",
		onEach(func(out *client.Outgoing) {
			if text, err := json.Marshal(string(out.Body)); err == nil {
				out.Body = text
			}
		}, a2a.GetTask)),
	of(overRPC, "rpc-method-string", a2a.GetTask, "Requests for a task have no method.",
		onBody(func(body map[string]any) { delete(body, "method") }, a2a.GetTask)),
	of(overRPC, "rpc-method-reserved", a2a.GetTask, `The method that gets a task begins with "rpc.".`,
		onMethod(func(method string) string { return "rpc." + method })),
	of(only03, "rpc-method-pattern", a2a.GetTask, "The method that gets a task has a name without a category.",
		onMethod(func(method string) string { return strings.ReplaceAll(method, "/", "") })),
	of(only03, "rpc-method-known", a2a.GetTask, "The method that gets a task has a name that no version of A2A has.",
		onMethod(func(method string) string { return method + "/now" })),
	of(overRPC, "rpc-params-structured", sends, "The parameters are a string.",
		onBody(func(body map[string]any) { body["params"] = "as before" })),
	of(overRPC, "rpc-params-object", sends, "Parameters are passed by position.", onBody(func(body map[string]any) {
		if params, ok := body["params"]; ok {
			body["params"] = []any{params}
		}
	})),
	of(overRPC, "rpc-id-type", sends, "The id of requests is an object.",
		onBody(func(body map[string]any) { body["id"] = map[string]any{"id": body["id"]} })),
	of(overRPC, "rpc-id-null", sends, "The id of requests is null.", onBody(func(body map[string]any) { body["id"] = nil })),
	of(overRPC, "rpc-id-fraction", sends, "The id of requests is 1.5.",
		onBody(func(body map[string]any) { body["id"] = 1.5 })),
	of(overRPC, "rpc-id-missing", sends, "Requests have no id.", onBody(func(body map[string]any) { delete(body, "id") })),
	of(overRPC, "rpc-batch-empty", a2a.GetTask, "Tasks are requested with an empty batch.",
		onEach(func(out *client.Outgoing) { out.Body = []byte("[]") }, a2a.GetTask)),
	of(overRPC, "rpc-id-reuse-inflight", sends, "Messages are sent twice in one batch, with the same id.",
		onEach(func(out *client.Outgoing) {
			out.Body = []byte("[" + string(out.Body) + "," + string(out.Body) + "]")
		}, a2a.SendMessage)),
	of(overRPC, "rpc-batch-stream", a2a.SendStreamingMessage, "Streaming calls are sent in a batch.",
		onEach(func(out *client.Outgoing) { out.Body = []byte("[" + string(out.Body) + "]") }, a2a.SendStreamingMessage)),
}

// onMethod makes a fault edit the JSON-RPC method that gets a task.
func onMethod(edit func(method string) string) func() func(*client.Outgoing) {
	return onBody(func(body map[string]any) {
		if method, ok := body["method"].(string); ok {
			body["method"] = edit(method)
		}
	}, a2a.GetTask)
}

// Faults of media types, JSON text and the envelopes of both bindings.
var envelopeFaults = []ClientFault{
	of(anyProtocol, "json-wellformed", sends, "Bodies lack their last brace.", onEach(func(out *client.Outgoing) {
		if len(out.Body) > 0 {
			out.Body = out.Body[:len(out.Body)-1]
		}
	})),
	of(overRPC, "json-duplicate-keys", sends, "Bodies have the member jsonrpc twice.", onEach(func(out *client.Outgoing) {
		if len(out.Body) > 0 {
			out.Body = append([]byte(`{"jsonrpc":"2.0",`), out.Body[1:]...)
		}
	})),
	of(overRPC, "rpc-request-jsonrpc", sends, `JSON-RPC requests have "jsonrpc":"1.0".`,
		onBody(func(body map[string]any) { body["jsonrpc"] = "1.0" })),
}
