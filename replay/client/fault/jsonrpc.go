package fault

import (
	"encoding/json"
	"strings"

	"a2atap/replay/client"
)

// Faults of JSON-RPC requests.
var rpcFaults = []Fault{
	{
		Slug: "rpc-request-is-object", protocols: overRPC, On: client.GetTask,
		Doc: "Requests for a task are serialised twice: the body is a string that holds them.",
		edit: onEach(func(out *client.Outgoing) {
			if text, err := json.Marshal(string(out.Body)); err == nil {
				out.Body = text
			}
		}, client.GetTask),
	},
	{
		Slug: "rpc-method-string", protocols: overRPC, On: client.GetTask,
		Doc:  "Requests for a task have no method.",
		edit: onBody(func(body map[string]any) { delete(body, "method") }, client.GetTask),
	},
	{
		Slug: "rpc-method-reserved", protocols: overRPC, On: client.GetTask,
		Doc:  `The method that gets a task begins with "rpc.".`,
		edit: onMethod(func(method string) string { return "rpc." + method }),
	},
	{
		Slug: "rpc-method-pattern", protocols: only03, On: client.GetTask,
		Doc:  "The method that gets a task has no category.",
		edit: onMethod(func(method string) string { return strings.ReplaceAll(method, "/", "") }),
	},
	{
		Slug: "rpc-method-known", protocols: only03, On: client.GetTask,
		Doc:  "The method that gets a task has a name that no version of A2A has.",
		edit: onMethod(func(method string) string { return method + "/now" }),
	},
	{
		Slug: "rpc-params-structured", protocols: overRPC,
		Doc:  "Parameters are a text.",
		edit: onBody(func(body map[string]any) { body["params"] = "as before" }),
	},
	{
		Slug: "rpc-params-object", protocols: overRPC,
		Doc: "Parameters are passed by position.",
		edit: onBody(func(body map[string]any) {
			if params, ok := body["params"]; ok {
				body["params"] = []any{params}
			}
		}),
	},
	{
		Slug: "rpc-id-type", protocols: overRPC,
		Doc:  "The id of requests is an object.",
		edit: onBody(func(body map[string]any) { body["id"] = map[string]any{"id": body["id"]} }),
	},
	{
		Slug: "rpc-id-null", protocols: overRPC,
		Doc:  "The id of requests is null.",
		edit: onBody(func(body map[string]any) { body["id"] = nil }),
	},
	{
		Slug: "rpc-id-fraction", protocols: overRPC,
		Doc:  "The id of requests is 1.5.",
		edit: onBody(func(body map[string]any) { body["id"] = 1.5 }),
	},
	{
		Slug: "rpc-id-missing", protocols: overRPC,
		Doc:  "Requests have no id.",
		edit: onBody(func(body map[string]any) { delete(body, "id") }),
	},
	{
		Slug: "rpc-batch-empty", protocols: overRPC, On: client.GetTask,
		Doc:  "Tasks are asked for with an empty batch.",
		edit: onEach(func(out *client.Outgoing) { out.Body = []byte("[]") }, client.GetTask),
	},
	{
		Slug: "rpc-id-reuse-inflight", protocols: overRPC, On: client.SendMessage,
		Doc: "Messages are sent twice in one batch, with one id.",
		edit: onEach(func(out *client.Outgoing) {
			out.Body = []byte("[" + string(out.Body) + "," + string(out.Body) + "]")
		}, client.SendMessage),
	},
	{
		Slug: "rpc-batch-stream", protocols: overRPC, On: client.StreamMessage,
		Doc:  "Messages to be streamed are sent in a batch.",
		edit: onEach(func(out *client.Outgoing) { out.Body = []byte("[" + string(out.Body) + "]") }, client.StreamMessage),
	},
}

// onMethod makes a fault edit the JSON-RPC method that gets a task.
func onMethod(edit func(method string) string) func() func(*client.Outgoing) {
	return onBody(func(body map[string]any) {
		if method, ok := body["method"].(string); ok {
			body["method"] = edit(method)
		}
	}, client.GetTask)
}
