package fault

import (
	"slices"
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of JSON-RPC: ids, outcomes, codes, what stands beside a code, and batches.
var rpcFaults = slices.Concat(rpcEnvelopeFaults, rpcErrorFaults, rpcBatchFaults)

var rpcEnvelopeFaults = []Fault{
	{
		Slug: "rpc-unknown-method-code", agents: anyAgent,
		Doc:   "An unknown method is answered with -32603.",
		hooks: onAnswer(failsWith(model.CodeMethodNotFound), setCode(model.CodeInternal)),
	},
	{
		Slug: "rpc-core-method-missing", agents: only03,
		Doc:   "The method tasks/get is unknown.",
		hooks: withoutGet,
	},
	{
		Slug: "rpc-core-method-missing-v1", agents: only10,
		Doc:   "The method GetTask is unknown over JSON-RPC.",
		hooks: withoutGet,
	},
	{
		Slug: "rpc-response-id-present", agents: anyAgent,
		Doc:   "JSON-RPC results have no id.",
		hooks: onAnswer(isRPCResult, editObject(func(o jsonvalue.Object) jsonvalue.Object { return o.Without("id") })),
	},
	{
		Slug: "rpc-id-null-parse-error", agents: anyAgent,
		Doc: "The answer to what is no JSON has an id.",
		hooks: onAnswer(failsWith(model.CodeParse),
			editObject(func(o jsonvalue.Object) jsonvalue.Object { return o.With("id", "none") })),
	},
	{
		Slug: "rpc-id-null-unjustified", agents: anyAgent,
		Doc: "JSON-RPC errors have a null id, whatever the request's.",
		hooks: onAnswer(func(c *wire.Call) bool {
			return isRPCFailure(c) && c.ID != nil && c.Failure.Code != model.CodeInvalidRequest
		}, editObject(func(o jsonvalue.Object) jsonvalue.Object { return o.With("id", nil) })),
	},
	{
		Slug: "rpc-result-xor-error-v01", agents: []string{"spec01"},
		Doc: "Results have an error beside them.",
		hooks: onAnswer(isRPCResult, editObject(func(o jsonvalue.Object) jsonvalue.Object {
			return o.With("error", jsonvalue.Object{{"code", model.CodeInternal}, {"message", "Internal error"}})
		})),
	},
	{
		Slug: "rpc-result-null", agents: withTask,
		Doc: "JSON-RPC answers the request for a task with null.",
		hooks: onAnswer(func(c *wire.Call) bool { return isRPCResult(c) && c.Op == model.GetTask },
			editObject(func(o jsonvalue.Object) jsonvalue.Object { return o.With("result", nil) })),
	},
	{
		Slug: "rpc-notification-answered", agents: anyAgent,
		Doc: "A request without id is answered, as if there were no task, with a null id.",
		hooks: onAnswer(func(c *wire.Call) bool {
			return failsWith(model.CodeInvalidRequest)(c) && strings.HasSuffix(c.Failure.Message, "id is missing")
		}, func(c *wire.Call, out *wire.Answer) {
			out.Body = out.Body.(jsonvalue.Object).With("error",
				c.RPCError(model.Fail(model.CodeTaskNotFound, "Task not found")))
		}),
	},
}

// withoutGet are the hooks of an agent whose JSON-RPC binding does not know the method that gets a task.
func withoutGet() wire.Hooks {
	return wire.Hooks{Admit: func(c *wire.Call) *model.Failure {
		if c.Binding == wire.JSONRPC && c.Op == model.GetTask {
			return model.Fail(model.CodeMethodNotFound, "Method not found")
		}
		return nil
	}}
}

var rpcErrorFaults = []Fault{
	{
		Slug: "rpc-error-object", agents: anyAgent,
		Doc: "JSON-RPC errors are a text.",
		hooks: onAnswer(isRPCFailure, func(c *wire.Call, out *wire.Answer) {
			out.Body = out.Body.(jsonvalue.Object).With("error", c.Failure.Message)
		}),
	},
	{
		Slug: "rpc-error-data-array", agents: with10,
		Doc:   "The data of JSON-RPC errors is a single object.",
		hooks: onAnswer(isRPCFailure, editDetails(func(details []any) any { return details[0] })),
	},
	{
		Slug: "rpc-error-data-type-key", agents: with10,
		Doc: "The objects in the data of JSON-RPC errors have no @type.",
		hooks: onAnswer(isRPCFailure, editDetails(func(details []any) any {
			return jsonvalue.Values(details, func(d any) any { return d.(jsonvalue.Object).Without("@type") })
		})),
	},
	{
		Slug: "rpc-error-code-reserved", agents: anyAgent,
		Doc:   "Invalid parameters are refused with -32650.",
		hooks: onAnswer(failsWith(model.CodeInvalidParams), setCode(-32650)),
	},
	{
		Slug: "rpc-error-code-a2a-range", agents: with10,
		Doc:   "Invalid parameters are refused with -32050.",
		hooks: onAnswer(failsWith(model.CodeInvalidParams), setCode(-32050)),
	},
	{
		Slug: "rpc-error-code-dialect", agents: only03,
		Doc:   "Invalid parameters are refused with -32008, which 1.0 defines.",
		hooks: onAnswer(failsWith(model.CodeInvalidParams), setCode(-32008)),
	},
	{
		Slug: "rpc-parse-error-unfounded", agents: anyAgent,
		Doc:   "Invalid parameters are refused with -32700.",
		hooks: onAnswer(failsWith(model.CodeInvalidParams), setCode(model.CodeParse)),
	},
	{
		Slug: "rpc-invalid-json-wrong-code", agents: anyAgent,
		Doc:   "What is no JSON is refused with -32600.",
		hooks: onAnswer(failsWith(model.CodeParse), setCode(model.CodeInvalidRequest)),
	},
	{
		Slug: "rpc-invalid-request-wrong-code", agents: anyAgent,
		Doc: "A request without method is refused with -32603.",
		hooks: onAnswer(func(c *wire.Call) bool { return failsWith(model.CodeInvalidRequest)(c) && c.ID != nil },
			setCode(model.CodeInternal)),
	},
	{
		Slug: "rpc-invalid-request-unfounded", agents: anyAgent,
		Doc:   "Invalid parameters are refused with -32600.",
		hooks: onAnswer(failsWith(model.CodeInvalidParams), setCode(model.CodeInvalidRequest)),
	},
	{
		Slug: "rpc-a2a-errorinfo", agents: with10,
		Doc:   "JSON-RPC errors of A2A have no data.",
		hooks: onAnswer(isA2AFailure, editError(func(o jsonvalue.Object) jsonvalue.Object { return o.Without("data") })),
	},
	{
		Slug: "rpc-errorinfo-domain", agents: with10,
		Doc:   "The domain of JSON-RPC errors is the agent's own.",
		hooks: onAnswer(isA2AFailure, editInfo("domain", func(string) string { return "agentbin.example" })),
	},
	{
		Slug: "rpc-errorinfo-reason", agents: with10,
		Doc:   "The reason of JSON-RPC errors ends in ERROR.",
		hooks: onAnswer(isA2AFailure, editInfo("reason", func(reason string) string { return reason + "_ERROR" })),
	},
	{
		Slug: "rpc-errorinfo-code-match", agents: with10,
		Doc: "An unknown task is refused with the reason of one that cannot be canceled.",
		hooks: onAnswer(failsWith(model.CodeTaskNotFound), editInfo("reason", func(string) string {
			return model.ErrorKinds[model.CodeTaskNotCancelable].Reason
		})),
	},
	{
		Slug: "rpc-validation-detail", agents: with10,
		Doc: "Invalid parameters are refused without words which.",
		hooks: onAnswer(failsWith(model.CodeInvalidParams), editError(func(o jsonvalue.Object) jsonvalue.Object {
			return o.With("message", "Invalid parameters").Without("data")
		})),
	},
}

var rpcBatchFaults = []Fault{
	{
		Slug: "rpc-batch-response-array", agents: anyAgent,
		Doc: "The first call of a batch is answered with an empty result, the others not.",
		hooks: onBatch(func(ids []any) any {
			return jsonvalue.Object{{"jsonrpc", "2.0"}, {"id", ids[0]}, {"result", jsonvalue.Object{}}}
		}),
	},
	{
		Slug: "rpc-batch-response-complete", agents: anyAgent,
		Doc: "The calls of a batch are refused one by one, except for the last.",
		hooks: onBatch(func(ids []any) any {
			return jsonvalue.Values(ids[:len(ids)-1], func(id any) any {
				return jsonvalue.Object{
					{"jsonrpc", "2.0"},
					{"id", id},
					{"error", jsonvalue.Object{{"code", model.CodeInternal}, {"message", "batches are not supported"}}},
				}
			})
		}),
	},
	{
		Slug: "rpc-batch-response-empty-array", agents: anyAgent,
		Doc:   "Batches are answered with an empty array.",
		hooks: onBatch(func([]any) any { return []any{} }),
	},
}

// onBatch makes hooks that replace the answer to a batch, given the ids of its calls.
func onBatch(answerTo func(ids []any) any) func() wire.Hooks {
	return onAnswer(func(c *wire.Call) bool { return len(c.Batch) > 0 }, func(c *wire.Call, out *wire.Answer) {
		out.Body = answerTo(jsonvalue.Values(c.Batch, func(v any) any {
			o, _ := v.(jsonvalue.Object)
			id, _ := o.Get("id")
			return id
		}))
	})
}

// failsWith says that a JSON-RPC call fails with the code.
func failsWith(code int) func(*wire.Call) bool {
	return func(c *wire.Call) bool { return isRPCFailure(c) && c.Failure.Code == code }
}

// isA2AFailure says that a JSON-RPC call fails with an error of A2A.
func isA2AFailure(c *wire.Call) bool {
	return isRPCFailure(c) && model.ErrorKinds[c.Failure.Code].Reason != ""
}

// setCode replaces the code of a JSON-RPC error.
func setCode(code int) func(*wire.Call, *wire.Answer) {
	return editError(func(o jsonvalue.Object) jsonvalue.Object { return o.With("code", code) })
}

// editDetails replaces the data of a JSON-RPC error that has some.
func editDetails(edit func(details []any) any) func(*wire.Call, *wire.Answer) {
	return editError(func(o jsonvalue.Object) jsonvalue.Object {
		data, found := o.Get("data")
		if !found {
			return o
		}
		return o.With("data", edit(data.([]any)))
	})
}

// editInfo replaces a member of the ErrorInfo in a JSON-RPC error.
func editInfo(name string, edit func(string) string) func(*wire.Call, *wire.Answer) {
	return editDetails(func(details []any) any {
		return jsonvalue.Values(details, func(d any) any {
			o := d.(jsonvalue.Object)
			if text, ok := textOf(o, name); ok {
				return o.With(name, edit(text))
			}
			return o
		})
	})
}

func textOf(o jsonvalue.Object, name string) (string, bool) {
	v, _ := o.Get(name)
	text, ok := v.(string)
	return text, ok
}
