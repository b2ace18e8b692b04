package fault

import (
	"encoding/json"
	"strings"

	"a2atap/replay/client"
)

// Faults of JSON-RPC requests.
var rpcFaults = []ClientFault{
	of(overRPC, "rpc-request-is-object", client.GetTask,
		"Requests for a task are serialised twice: the body is a string that holds them.",
		onEach(func(out *client.Outgoing) {
			if text, err := json.Marshal(string(out.Body)); err == nil {
				out.Body = text
			}
		}, client.GetTask)),
	of(overRPC, "rpc-method-string", client.GetTask, "Requests for a task have no method.",
		onBody(func(body map[string]any) { delete(body, "method") }, client.GetTask)),
	of(overRPC, "rpc-method-reserved", client.GetTask, `The method that gets a task begins with "rpc.".`,
		onMethod(func(method string) string { return "rpc." + method })),
	of(only03, "rpc-method-pattern", client.GetTask, "The method that gets a task has no category.",
		onMethod(func(method string) string { return strings.ReplaceAll(method, "/", "") })),
	of(only03, "rpc-method-known", client.GetTask, "The method that gets a task has a name that no version of A2A has.",
		onMethod(func(method string) string { return method + "/now" })),
	of(overRPC, "rpc-params-structured", "", "Parameters are a text.",
		onBody(func(body map[string]any) { body["params"] = "as before" })),
	of(overRPC, "rpc-params-object", "", "Parameters are passed by position.", onBody(func(body map[string]any) {
		if params, ok := body["params"]; ok {
			body["params"] = []any{params}
		}
	})),
	of(overRPC, "rpc-id-type", "", "The id of requests is an object.",
		onBody(func(body map[string]any) { body["id"] = map[string]any{"id": body["id"]} })),
	of(overRPC, "rpc-id-null", "", "The id of requests is null.", onBody(func(body map[string]any) { body["id"] = nil })),
	of(overRPC, "rpc-id-fraction", "", "The id of requests is 1.5.",
		onBody(func(body map[string]any) { body["id"] = 1.5 })),
	of(overRPC, "rpc-id-missing", "", "Requests have no id.", onBody(func(body map[string]any) { delete(body, "id") })),
	of(overRPC, "rpc-batch-empty", client.GetTask, "Tasks are asked for with an empty batch.",
		onEach(func(out *client.Outgoing) { out.Body = []byte("[]") }, client.GetTask)),
	of(overRPC, "rpc-id-reuse-inflight", client.SendMessage, "Messages are sent twice in one batch, with one id.",
		onEach(func(out *client.Outgoing) {
			out.Body = []byte("[" + string(out.Body) + "," + string(out.Body) + "]")
		}, client.SendMessage)),
	of(overRPC, "rpc-batch-stream", client.StreamMessage, "Messages to be streamed are sent in a batch.",
		onEach(func(out *client.Outgoing) { out.Body = []byte("[" + string(out.Body) + "]") }, client.StreamMessage)),
}

// onMethod makes a fault edit the JSON-RPC method that gets a task.
func onMethod(edit func(method string) string) func() func(*client.Outgoing) {
	return onBody(func(body map[string]any) {
		if method, ok := body["method"].(string); ok {
			body["method"] = edit(method)
		}
	}, client.GetTask)
}

// Faults of media types, JSON text and the envelopes of both bindings.
var envelopeFaults = []ClientFault{
	of(anyProtocol, "json-wellformed", "", "Bodies lack their last brace.", onEach(func(out *client.Outgoing) {
		if len(out.Body) > 0 {
			out.Body = out.Body[:len(out.Body)-1]
		}
	})),
	of(overRPC, "json-duplicate-keys", "", "Bodies hold the member jsonrpc twice.", onEach(func(out *client.Outgoing) {
		if len(out.Body) > 0 {
			out.Body = append([]byte(`{"jsonrpc":"2.0",`), out.Body[1:]...)
		}
	})),
	of(overRPC, "rpc-request-jsonrpc", "", `JSON-RPC requests say "jsonrpc":"1.0".`,
		onBody(func(body map[string]any) { body["jsonrpc"] = "1.0" })),
}
