package mutation_test

import (
	"strconv"
	"strings"
)

// envelopeMutations break JSON-RPC.
var envelopeMutations = []mutation{
	broken("request without jsonrpc", rpc&^v01, "rpc-request-jsonrpc", "call", dropped("jsonrpc")).with(unread),
	broken("request of JSON-RPC 1.0", rpc, "rpc-request-jsonrpc", "call", set("jsonrpc", `"1.0"`)).with(unread),
	broken("version of JSON-RPC as a number", rpc, "rpc-request-jsonrpc", "call", set("jsonrpc", `2.0`)).with(unread),
	broken("request without a method", rpc, "rpc-method-string", "call",
		when(asked("get send cancel"), when(spoken, dropped("method")))).with("rpc-invalid-request-wrong-code"),
	broken("method is a number", rpc, "rpc-method-string", "call",
		when(spoken, set("method", `7`))).with("rpc-invalid-request-wrong-code"),
	broken("method of JSON-RPC itself", rpc, "rpc-method-reserved", "call",
		set("method", `"rpc.send"`)).with(misread + " rpc-unknown-method-code"),
	broken("params by position", rpc, "rpc-params-object", "call",
		when(asked("get cancel"), set("params", `["t1"]`))).with("req-task-id"),
	broken("params is a text", rpc, "rpc-params-structured", "call",
		when(asked("get cancel send"), set("params", `"t1"`))).
		with("rpc-invalid-request-wrong-code msg-object req-task-id"),
	broken("params is null", rpc&^v01, "rpc-params-structured", "call", when(asked("get"), set("params", `null`))).
		with("rpc-invalid-request-wrong-code req-task-id"),
	broken("id is an object", rpc, "rpc-id-type", "call", set("id", `{}`)).with(wrongID),
	broken("id is a boolean", rpc, "rpc-id-type", "call", set("id", `true`)).with(wrongID),
	broken("id is an array", rpc, "rpc-id-type", "call", set("id", `[1]`)).with(wrongID),
	broken("id is null", rpc&^v01, "rpc-id-null", "call", set("id", `null`)).with(wrongID),
	broken("id with a fraction", rpc, "rpc-id-fraction", "call", set("id", `1.5`)).with(wrongID),
	broken("call without an id", kinds|v10, "rpc-id-missing", "call", when(asked("get send cancel"), dropped("id"))).
		with("rpc-notification-answered " + wrongID),
	broken("request is an array without calls", rpc, "rpc-batch-empty", "call",
		when(asked("get"), become(`[]`))).with(unread + " rpc-id-echo"),
	broken("request is a text", rpc, "rpc-request-is-object", "call",
		when(asked("get"), become(`"tasks/get"`))).with(unread),
	broken("parameters for the extended card", v03, "rpc-params-none-getcard", "call",
		when(asked("card"), give("params", `{"id":"x"}`))),
	broken("method in snake case", v10, "rpc-method-pascal", "call",
		when(asked("get send"), when(plain, set("method", `"do_something"`)))).with(misread +
		" rpc-unknown-method-code"),
	broken("method without a category", v03, "rpc-method-pattern", "call",
		when(asked("get send"), when(plain, set("method", `"something"`)))).with(misread +
		" rpc-unknown-method-code").faithfully(),
	broken("method of 0.3 asked of 1.0", v10, "rpc-method-dialect dialect-mismatch", "call",
		when(asked("get"), set("method", `"tasks/get"`))).
		with("version-semantics-mixed ver-semantics ver-unsupported-error"),
	broken("two calls of a batch with one id", rpc, "rpc-id-reuse-inflight", "call",
		when(asked("get"), twice)).with("rpc-batch-response-array"),

	broken("reply without jsonrpc", rpc&^v01, "rpc-response-jsonrpc stream-rpc-envelope", "reply", dropped("jsonrpc")),
	broken("reply of JSON-RPC 1.0", rpc, "rpc-response-jsonrpc", "reply", set("jsonrpc", `"1.0"`)),
	broken("reply with a version as a number", rpc, "rpc-response-jsonrpc", "reply", set("jsonrpc", `2.0`)),
	broken("reply without an id", rpc, "rpc-response-id-present", "reply", dropped("id")),
	broken("reply with another id", rpc, "rpc-id-echo stream-rpc-id", "reply", set("id", `"another"`)),
	broken("reply with the id in another type", rpc, "rpc-id-echo stream-rpc-id", "reply", idOfAnotherType),
	broken("reply with a null id", rpc, "rpc-id-null-unjustified stream-rpc-id", "reply",
		when(lacks("error"), set("id", `null`))),
	broken("error with a null id", rpc, "rpc-id-null-unjustified", "reply",
		when(is("error.message", "Task not found"), set("id", `null`))),
	broken("reply with neither result nor error", rpc, "rpc-result-xor-error rpc-result-xor-error-v01", "reply",
		dropped("result")),
	broken("reply with result and error", rpc, "rpc-result-xor-error rpc-result-xor-error-v01", "reply",
		when(has("result"), give("error", `{"code":-32603,"message":"Internal error"}`))).
		with(alsoRefused + " stream-error-last hook-task-known"),
	broken("result is null", kinds|v10, "rpc-result-null", "reply",
		when(asked("get cancel send list set config"), set("result", `null`))),
	broken("result is a text", rpc, "send-result-type send-response-oneof get-result-task", "reply",
		when(asked("send get cancel"), set("result", `"done"`))).with("field-type"),
	broken("result is a list", rpc, "send-result-type send-response-oneof get-result-task", "reply",
		when(asked("send get cancel"), set("result", `[]`))),
	broken("result is an empty object", rpc, "send-result-type send-response-oneof get-result-task task-id-present",
		"reply",
		when(asked("send get cancel"), set("result", `{}`))).with("task-status-present task-context-id task-kind"),
	broken("error is a text", rpc, "rpc-error-object", "reply", set("error", `"Task not found"`)),
	broken("error is a list", rpc, "rpc-error-object", "reply", set("error", `[-32001]`)),
	broken("error without a code", rpc, "rpc-error-code-int", "error", dropped("code")),
	broken("error with a code that is a text", rpc, "rpc-error-code-int", "error", set("code", `"-32001"`)),
	broken("error with half a code", rpc, "rpc-error-code-int", "error", set("code", `-32001.5`)),
	broken("error without a message", rpc, "rpc-error-message", "error", dropped("message")),
	broken("error with a message that is an object", rpc, "rpc-error-message", "error",
		set("message", `{"text":"no"}`)),
	broken("error with an empty message", rpc, "rpc-error-message", "error", set("message", `""`)),
	broken("error with a code that JSON-RPC keeps", rpc, "rpc-error-code-reserved", "error",
		when(taskError, set("code", `-32500`))).with(alsoRefused),
	broken("parse error about JSON", rpc, "rpc-parse-error-unfounded", "error",
		when(taskError, set("code", `-32700`))).with(alsoRefused),
	broken("invalid request about a valid one", rpc, "rpc-invalid-request-unfounded", "error",
		when(is("message", "Task not found"), set("code", `-32600`))).with(alsoRefused),
	broken("unknown method is an internal error", rpc, "rpc-unknown-method-code", "error",
		when(unknownMethod, set("code", `-32603`))).with(alsoRefused),
	broken("unknown method is a missing task", rpc, "rpc-unknown-method-code", "error",
		when(unknownMethod, set("code", `-32001`))).with(alsoRefused),
	broken("request that is not JSON fails inside", rpc, "rpc-invalid-json-wrong-code", "",
		when(called("get"), when(spoken, both(answerError(-32603, "", "Internal error"),
			requestBody(cutHalf))))).with(unread),
}

// What comes along with a mutation since what it changes tells how the rest is read.
const (
	misread = "rpc-method-known rpc-method-dialect dialect-mismatch rpc-invalid-request-wrong-code"
	wrongID = "rpc-id-echo stream-rpc-id rpc-id-null-parse-error rpc-invalid-request-wrong-code " +
		"rpc-id-null-unjustified"
	unread = "rpc-invalid-request-wrong-code rpc-invalid-json-wrong-code rpc-id-null-parse-error " +
		"json-wellformed rpc-request-is-object"
	alsoRefused = "error-internal-for-named-case error-not-found-code state-send-terminal-code state-cancel-terminal-code " +
		"state-subscribe-terminal-code " +
		"push-unsupported-error push-unsupported-error-0x cap-streaming-unsupported cap-extended-undeclared " +
		"rpc-a2a-errorinfo rpc-errorinfo-code-match " +
		"rpc-errorinfo-reason cap-streaming-refused cap-extended-declared"
)

// unknownMethod holds for calls of what no dialect has.
func unknownMethod(s *spot) bool { return s.kind.operation == "unknown" }

// twice makes a batch of a call: the call, and the call again.
func twice(s *spot) bool {
	*s.o = value{kind: '[', elements: []*value{makeValue(s.o.text("")), makeValue(s.o.text(""))}}
	return true
}

// idOfAnotherType writes an id that is a string as a number, and the other way round.
func idOfAnotherType(s *spot) bool {
	id := s.o.get("id")
	switch {
	case id == nil:
		return false
	case id.kind == '0':
		s.o.put("id", strconv.Quote(id.raw))
	default:
		s.o.put("id", "7")
	}
	return true
}

func cutHalf(_ *spot, text string) string { return strings.TrimRight(text[:len(text)/2], "}") }

// plain holds where the card declares no extension, which could add methods.
func plain(s *spot) bool {
	for _, x := range s.exchanges {
		if kindOf(x).operation == "fetch" && x.Response != nil {
			return !strings.Contains(string(x.Response.Body.Data), `"extensions":[{`)
		}
	}
	return false
}
