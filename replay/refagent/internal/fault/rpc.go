package fault

import (
	"slices"
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of JSON-RPC: ids, outcomes, codes, error members other than the code, and batches.
var rpcFaults = slices.Concat(rpcEnvelopeFaults, rpcErrorFaults, rpcBatchFaults)

var rpcEnvelopeFaults = []AgentFault{
	of(anyAge, "rpc-unknown-method-code", "An unknown method is answered with -32603.",
		onAnswer(failsWith(model.CodeMethodNotFound), setCode(model.CodeInternal))),
	of(only03, "rpc-core-method-missing", "The method tasks/get is unknown.", withoutGet),
	of(only10, "rpc-core-method-missing-v1", "The method GetTask is unknown over JSON-RPC.", withoutGet),
	of(anyAge, "rpc-response-id-present", "JSON-RPC results have no id.",
		onAnswer(isRPCResult, editObject(without("id")))),
	of(anyAge, "rpc-id-null-parse-error", "The answer to text that is not JSON has an id.",
		onAnswer(failsWith(model.CodeParse),
			editObject(with("id", "none")))),
	of(anyAge, "rpc-id-null-unjustified", "JSON-RPC errors have a null id, whatever the request's.",
		onAnswer(func(c *wire.Call) bool {
			return isRPCFailure(c) && c.ID != nil && c.Failure.Code != model.CodeInvalidRequest
		}, editObject(with("id", nil)))),
	of(before02, "rpc-result-xor-error-v01", "Results come with an error.",
		onAnswer(isRPCResult, addInternalError)),
	of(anyAgeTask, "rpc-result-null", "A request for a task over JSON-RPC is answered with null.",
		onAnswer(both(isRPCResult, calls(model.GetTask)), editObject(with("result", nil)))),
	of(anyAge, "rpc-notification-answered",
		"A request without id is answered with TaskNotFoundError and a null id.", onAnswer(func(c *wire.Call) bool {
			return failsWith(model.CodeInvalidRequest)(c) && strings.HasSuffix(c.Failure.Message, "id is missing")
		}, func(c *wire.Call, out *wire.Answer) {
			out.Body = out.Body.(jsonvalue.Object).With("error",
				c.RPCError(model.Fail(model.CodeTaskNotFound, "Task not found")))
		})),
}

// withoutGet makes hooks of an agent whose JSON-RPC binding does not know the method that gets a task.
var withoutGet = admitNone(both(isRPC, calls(model.GetTask)), model.CodeMethodNotFound, "Method not found")

var rpcErrorFaults = []AgentFault{
	of(anyAge, "rpc-error-object", "JSON-RPC errors are a string.",
		onAnswer(isRPCFailure, func(c *wire.Call, out *wire.Answer) {
			out.Body = out.Body.(jsonvalue.Object).With("error", c.Failure.Message)
		})),
	of(with10, "rpc-error-data-array", "The data of JSON-RPC errors is a single object.",
		onAnswer(isRPCFailure, editDetails("data", func(details []any) any { return details[0] }))),
	of(with10, "rpc-error-data-type-key", "The objects in the data of JSON-RPC errors have no @type.",
		onAnswer(isRPCFailure, editDetails("data", untyped))),
	of(anyAge, "rpc-error-code-reserved", "Invalid parameters are refused with -32650.",
		onAnswer(failsWith(model.CodeInvalidParams), setCode(-32650))),
	of(with10, "rpc-error-code-a2a-range", "Invalid parameters are refused with -32050.",
		onAnswer(failsWith(model.CodeInvalidParams), setCode(-32050))),
	of(only03, "rpc-error-code-dialect", "Invalid parameters are refused with -32008, which 1.0 defines.",
		onAnswer(failsWith(model.CodeInvalidParams), setCode(-32008))),
	of(anyAge, "rpc-parse-error-unfounded", "Invalid parameters are refused with -32700.",
		onAnswer(failsWith(model.CodeInvalidParams), setCode(model.CodeParse))),
	of(anyAge, "rpc-invalid-json-wrong-code", "Text that is not JSON is refused with -32600.",
		onAnswer(failsWith(model.CodeParse), setCode(model.CodeInvalidRequest))),
	of(anyAge, "rpc-invalid-request-wrong-code", "A request without method is refused with -32603.",
		onAnswer(func(c *wire.Call) bool { return failsWith(model.CodeInvalidRequest)(c) && c.ID != nil },
			setCode(model.CodeInternal))),
	of(anyAge, "rpc-invalid-request-unfounded", "Invalid parameters are refused with -32600.",
		onAnswer(failsWith(model.CodeInvalidParams), setCode(model.CodeInvalidRequest))),
	of(with10, "rpc-a2a-errorinfo", "JSON-RPC errors of A2A have no data.",
		onAnswer(isA2AFailure, editError(without("data")))),
	of(with10, "rpc-errorinfo-domain", "The domain of JSON-RPC errors is not A2A's.",
		onAnswer(isA2AFailure, editInfo("domain", func(string) string { return "agentbin.example" }))),
	of(with10, "rpc-errorinfo-reason", "The reason of JSON-RPC errors ends in ERROR.",
		onAnswer(isA2AFailure, editInfo("reason", func(reason string) string { return reason + "_ERROR" }))),
	of(with10, "rpc-errorinfo-code-match", "An unknown task is refused with the reason TASK_NOT_CANCELABLE.",
		onAnswer(failsWith(model.CodeTaskNotFound), editInfo("reason", func(string) string {
			return model.ErrorKinds[model.CodeTaskNotCancelable].Reason
		}))),
	of(with10, "rpc-validation-detail", "Invalid parameters are refused without naming them.",
		onAnswer(failsWith(model.CodeInvalidParams), editError(func(o jsonvalue.Object) jsonvalue.Object {
			return o.With("message", "Invalid parameters").Without("data")
		}))),
}

var rpcBatchFaults = []AgentFault{
	of(anyAge, "rpc-batch-response-array",
		"The first call of a batch is answered with an empty result, the others not.", onBatch(func(ids []any) any {
			return jsonvalue.Object{{"jsonrpc", "2.0"}, {"id", ids[0]}, {"result", jsonvalue.Object{}}}
		})),
	of(anyAge, "rpc-batch-response-complete", "The calls of a batch are refused one by one, except for the last.",
		onBatch(func(ids []any) any {
			return jsonvalue.Values(ids[:len(ids)-1], func(id any) any {
				return jsonvalue.Object{
					{"jsonrpc", "2.0"},
					{"id", id},
					{"error", jsonvalue.Object{{"code", model.CodeInternal}, {"message", "batches are not supported"}}},
				}
			})
		}), "error-internal-for-named-case"), // of a call whose task does not exist
	of(anyAge, "rpc-batch-response-empty-array", "Batches are answered with an empty array.",
		onBatch(func([]any) any { return []any{} })),
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

// failsWith matches JSON-RPC calls that fail with the code.
func failsWith(code int) func(*wire.Call) bool {
	return func(c *wire.Call) bool { return isRPCFailure(c) && c.Failure.Code == code }
}

// isA2AFailure reports whether a JSON-RPC call fails with an A2A error.
func isA2AFailure(c *wire.Call) bool {
	return isRPCFailure(c) && model.ErrorKinds[c.Failure.Code].Reason != ""
}

// setCode replaces the code of a JSON-RPC error.
func setCode(code int) func(*wire.Call, *wire.Answer) {
	return editError(with("code", code))
}

// editDetails replaces the details of an error that has some. Their member depends on the binding.
func editDetails(member string, edit func(details []any) any) func(*wire.Call, *wire.Answer) {
	return editError(func(o jsonvalue.Object) jsonvalue.Object {
		details, found := o.Get(member)
		if !found {
			return o
		}
		return o.With(member, edit(details.([]any)))
	})
}

// untyped removes the types from details.
func untyped(details []any) any {
	return jsonvalue.Values(details, func(d any) any { return d.(jsonvalue.Object).Without("@type") })
}

// editInfo replaces a member of the ErrorInfo in a JSON-RPC error.
func editInfo(name string, edit func(string) string) func(*wire.Call, *wire.Answer) {
	return editDetails("data", func(details []any) any {
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
