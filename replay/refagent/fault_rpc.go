package refagent

import (
	"slices"
	"strings"
)

// Faults of JSON-RPC: ids, outcomes, codes, what stands beside a code, and batches.
var rpcFaults = slices.Concat(rpcEnvelopeFaults, rpcErrorFaults, rpcBatchFaults)

var rpcEnvelopeFaults = []Fault{
	{
		Slug: "rpc-unknown-method-code", agents: anyAgent,
		Doc:   "An unknown method is answered with -32603.",
		hooks: onAnswer(failsWith(codeMethodNotFound), setCode(codeInternal)),
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
		hooks: onAnswer(isRPCResult, editObject(func(o object) object { return o.without("id") })),
	},
	{
		Slug: "rpc-id-null-parse-error", agents: anyAgent,
		Doc:   "The answer to text that is not JSON has an id.",
		hooks: onAnswer(failsWith(codeParse), editObject(func(o object) object { return o.with("id", "none") })),
	},
	{
		Slug: "rpc-id-null-unjustified", agents: anyAgent,
		Doc: "JSON-RPC errors have a null id, whatever the request's.",
		hooks: onAnswer(func(c *call) bool {
			return isRPCFailure(c) && c.id != nil && c.failure.code != codeInvalidRequest
		}, editObject(func(o object) object { return o.with("id", nil) })),
	},
	{
		Slug: "rpc-result-xor-error-v01", agents: []string{"spec01"},
		Doc: "Results come with an error.",
		hooks: onAnswer(isRPCResult, editObject(func(o object) object {
			return o.with("error", object{{"code", codeInternal}, {"message", "Internal error"}})
		})),
	},
	{
		Slug: "rpc-result-null", agents: withTask,
		Doc: "JSON-RPC answers the request for a task with null.",
		hooks: onAnswer(func(c *call) bool { return isRPCResult(c) && c.op == getTask },
			editObject(func(o object) object { return o.with("result", nil) })),
	},
	{
		Slug: "rpc-notification-answered", agents: anyAgent,
		Doc: "A request without id is answered, as if there were no task, with a null id.",
		hooks: onAnswer(func(c *call) bool {
			return failsWith(codeInvalidRequest)(c) && strings.HasSuffix(c.failure.message, "id is missing")
		}, func(c *call, out *answer) {
			out.body = out.body.(object).with("error", c.rpcError(fail(codeTaskNotFound, "Task not found")))
		}),
	},
}

// withoutGet are the hooks of an agent whose JSON-RPC binding does not know the method that gets a task.
func withoutGet() hooks {
	return hooks{admit: func(c *call) *failure {
		if c.binding == jsonRPC && c.op == getTask {
			return fail(codeMethodNotFound, "Method not found")
		}
		return nil
	}}
}

var rpcErrorFaults = []Fault{
	{
		Slug: "rpc-error-object", agents: anyAgent,
		Doc: "JSON-RPC errors are a text.",
		hooks: onAnswer(isRPCFailure, func(c *call, out *answer) {
			out.body = out.body.(object).with("error", c.failure.message)
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
			return values(details, func(d any) any { return d.(object).without("@type") })
		})),
	},
	{
		Slug: "rpc-error-code-reserved", agents: anyAgent,
		Doc:   "Invalid parameters are refused with -32650.",
		hooks: onAnswer(failsWith(codeInvalidParams), setCode(-32650)),
	},
	{
		Slug: "rpc-error-code-a2a-range", agents: with10,
		Doc:   "Invalid parameters are refused with -32050.",
		hooks: onAnswer(failsWith(codeInvalidParams), setCode(-32050)),
	},
	{
		Slug: "rpc-error-code-dialect", agents: only03,
		Doc:   "Invalid parameters are refused with -32008, which 1.0 defines.",
		hooks: onAnswer(failsWith(codeInvalidParams), setCode(-32008)),
	},
	{
		Slug: "rpc-parse-error-unfounded", agents: anyAgent,
		Doc:   "Invalid parameters are refused with -32700.",
		hooks: onAnswer(failsWith(codeInvalidParams), setCode(codeParse)),
	},
	{
		Slug: "rpc-invalid-json-wrong-code", agents: anyAgent,
		Doc:   "Text that is not JSON is refused with -32600.",
		hooks: onAnswer(failsWith(codeParse), setCode(codeInvalidRequest)),
	},
	{
		Slug: "rpc-invalid-request-wrong-code", agents: anyAgent,
		Doc: "A request without method is refused with -32603.",
		hooks: onAnswer(func(c *call) bool { return failsWith(codeInvalidRequest)(c) && c.id != nil },
			setCode(codeInternal)),
	},
	{
		Slug: "rpc-invalid-request-unfounded", agents: anyAgent,
		Doc:   "Invalid parameters are refused with -32600.",
		hooks: onAnswer(failsWith(codeInvalidParams), setCode(codeInvalidRequest)),
	},
	{
		Slug: "rpc-a2a-errorinfo", agents: with10,
		Doc:   "JSON-RPC errors of A2A have no data.",
		hooks: onAnswer(isA2AFailure, editError(func(o object) object { return o.without("data") })),
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
		hooks: onAnswer(failsWith(codeTaskNotFound), editInfo("reason", func(string) string {
			return errorKinds[codeTaskNotCancelable].reason
		})),
	},
	{
		Slug: "rpc-validation-detail", agents: with10,
		Doc: "Invalid parameters are refused without words which.",
		hooks: onAnswer(failsWith(codeInvalidParams), editError(func(o object) object {
			return o.with("message", "Invalid parameters").without("data")
		})),
	},
}

var rpcBatchFaults = []Fault{
	{
		Slug: "rpc-batch-response-array", agents: anyAgent,
		Doc: "The first call of a batch is answered with an empty result, the others not.",
		hooks: onBatch(func(ids []any) any {
			return object{{"jsonrpc", "2.0"}, {"id", ids[0]}, {"result", object{}}}
		}),
	},
	{
		Slug: "rpc-batch-response-complete", agents: anyAgent,
		Doc: "The calls of a batch are refused one by one, except for the last.",
		hooks: onBatch(func(ids []any) any {
			return values(ids[:len(ids)-1], func(id any) any {
				return object{
					{"jsonrpc", "2.0"},
					{"id", id},
					{"error", object{{"code", codeInternal}, {"message", "batches are not supported"}}},
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
func onBatch(answerTo func(ids []any) any) func() hooks {
	return onAnswer(func(c *call) bool { return len(c.batch) > 0 }, func(c *call, out *answer) {
		out.body = answerTo(values(c.batch, func(v any) any {
			o, _ := v.(object)
			id, _ := o.get("id")
			return id
		}))
	})
}

// failsWith says that a JSON-RPC call fails with the code.
func failsWith(code int) func(*call) bool {
	return func(c *call) bool { return isRPCFailure(c) && c.failure.code == code }
}

// isA2AFailure says that a JSON-RPC call fails with an error of A2A.
func isA2AFailure(c *call) bool { return isRPCFailure(c) && errorKinds[c.failure.code].reason != "" }

// setCode replaces the code of a JSON-RPC error.
func setCode(code int) func(*call, *answer) {
	return editError(func(o object) object { return o.with("code", code) })
}

// editDetails replaces the data of a JSON-RPC error that has some.
func editDetails(edit func(details []any) any) func(*call, *answer) {
	return editError(func(o object) object {
		data, found := o.get("data")
		if !found {
			return o
		}
		return o.with("data", edit(data.([]any)))
	})
}

// editInfo replaces a member of the ErrorInfo in a JSON-RPC error.
func editInfo(name string, edit func(string) string) func(*call, *answer) {
	return editDetails(func(details []any) any {
		return values(details, func(d any) any {
			o := d.(object)
			if text, ok := textOf(o, name); ok {
				return o.with(name, edit(text))
			}
			return o
		})
	})
}

func textOf(o object, name string) (string, bool) {
	v, _ := o.get(name)
	text, ok := v.(string)
	return text, ok
}
