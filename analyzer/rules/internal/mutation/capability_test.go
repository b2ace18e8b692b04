package mutation_test

import (
	"slices"
	"strings"

	"a2atap/proxy/capture"
)

// capabilityMutations break what cards promise, credentials, extensions and versions.
var capabilityMutations = []mutation{
	broken("streams though the card says no", every&^rest03, "cap-streaming-unsupported cap-streaming-unsupported-0x",
		"card",
		when(publicCard, when(does("stream"), both(set("capabilities.streaming", `false`),
			noExtended)))).with(otherCapabilities).elsewhere(),
	broken("pushes though the card says no", every, "push-unsupported-error push-unsupported-error-0x", "card",
		when(publicCard, when(does("set"), both(set("capabilities.pushNotifications", `false`),
			noExtended)))).with(otherCapabilities).elsewhere(),
	broken("hands out a card that it does not offer", modern, "cap-extended-undeclared", "capabilities",
		when(publicCard, when(does("card"), set("extendedAgentCard", `false`)))).with(otherCapabilities).elsewhere(),
	broken("refuses to stream though the card says yes", rpc&^v01, "cap-streaming-refused", "",
		when(called("stream"), when(opening, answerError(-32004, "UNSUPPORTED_OPERATION",
			"This operation is not supported")))).with(cutOff),
	broken("does not find the method to stream", rpc, "cap-streaming-refused", "",
		when(called("stream"), when(opening, answerError(-32601, "", "Method not found")))).
		with(cutOff + " rpc-core-method-missing-v1").faithfully(),
	broken("refuses push though the card says yes", rpc, "push-supported-but-refused", "",
		when(called("set config configs"), answerError(-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", "No push"))).
		with(cutOff + " push-list-complete"),
	broken("does not find the method for push", rpc, "push-supported-but-refused", "",
		when(called("set"), answerError(-32601, "", "Method not found"))).
		with(cutOff + " push-list-complete").faithfully(),
	broken("does not find the method for the extended card", v03|v10, "cap-extended-declared", "",
		when(called("card"), answerError(-32601, "", "Method not found"))).faithfully(),
	broken("refuses the extended card though the card says yes", v03|v10, "cap-extended-declared", "",
		when(called("card"), answerError(-32004, "UNSUPPORTED_OPERATION", "This operation is not supported"))),
	broken("core method is not found", v03|v10, "rpc-core-method-missing rpc-core-method-missing-v1", "",
		when(called("get cancel send"), answerError(-32601, "", "Method not found"))).
		with(cutOff).faithfully(),
	broken("does not refuse to stream as it should", v10, "cap-streaming-unsupported", "error",
		when(asked("stream"), when(aboutEnd, otherError("TASK_NOT_CANCELABLE", -32002)))).
		with("rpc-errorinfo-code-match rpc-invalid-request-unfounded").elsewhere(),
	broken("does not refuse push as it should", v10, "push-unsupported-error", "error",
		when(asked("set configs"), when(is("message", "Push notifications are not supported"),
			otherError("TASK_NOT_CANCELABLE", -32002)))).with("rpc-errorinfo-code-match"),
	broken("does not refuse push as it should before 1.0", v01|kinds, "push-unsupported-error-0x", "error",
		when(asked("set"), set("code", `-32603`))).with("error-internal-for-named-case"),

	broken("call without credentials", every, "auth-credentials-sent auth-not-enforced", "",
		when(called("get send cancel"), header("Authorization", ""))).with("auth-credentials-sent auth-not-enforced"),
	broken("extended card without credentials", v03|modern, "auth-extended-card-client auth-extended-card-server", "",
		when(called("card"), header("Authorization", ""))).
		with("auth-credentials-sent auth-not-enforced auth-extended-card-client auth-extended-card-server"),

	broken("extensions of 0.3 asked of 1.0", modern, "ext-header-name", "",
		when(called("send get"), bodyless(func(x *capture.Exchange) bool {
			text := string(x.Request.Head)
			x.Request.Head = []byte(strings.Replace(text, "\r\nA2A-Extensions:", "\r\nX-A2A-Extensions:", 1))
			return text != string(x.Request.Head)
		}))).with(extensionGone),
	broken("extensions in two fields", modern, "ext-header-format", "", when(called("send get"), func(s *spot) bool {
		return strings.Contains(string(s.x().Request.Head), "A2A-Extensions") &&
			moreHeader("A2A-Extensions: https://ext.example/plain/v2")(s)
	})),
	broken("extension that is no URI asked for", modern, "ext-header-format", "",
		when(called("send get"), header("A2A-Extensions", "https://ext.example/geo/v1, geo places"))),
	broken("empty extension asked for", modern, "ext-header-format", "",
		when(called("send get"), header("A2A-Extensions", "https://ext.example/geo/v1,,"))),
	broken("required extension not asked for", modern, "ext-required-missing", "",
		when(called("send"), when(noExtensions, header("A2A-Extensions", "")))).with(extensionGone),
	broken("required extension not asked for in 0.3", kinds|rest03, "ext-required-missing-0x", "",
		when(called("send"), when(noExtensions, header("X-A2A-Extensions", "")))).with(extensionGone),
	broken("extension that nobody asked for", later, "ext-response-unrequested", "", when(called("send"),
		either(label("A2A-Extensions", "https://ext.example/other/v3"),
			label("X-A2A-Extensions", "https://ext.example/other/v3")))),
	broken("another version of an extension", later, "ext-no-fallback", "", when(called("send"),
		either(label("A2A-Extensions", "https://ext.example/geo/v2"),
			label("X-A2A-Extensions", "https://ext.example/geo/v2")))).with("ext-response-unrequested"),

	broken("call without a version", modern, "ver-header-present", "",
		when(called("send get"), header("A2A-Version",
			""))).with("ver-empty-means-03 dialect-mismatch ver-interface-match").faithfully(),
	broken("version with a letter", modern, "ver-header-format", "",
		when(called("send get"), header("A2A-Version", "v1"))),
	broken("version without a point", modern, "ver-header-format", "",
		when(called("send get"), header("A2A-Version", "1"))),
	broken("version with a patch number", modern, "ver-header-patch", "",
		when(called("send get"), header("A2A-Version", "1.0.0"))),
	broken("version asked for twice, differently", modern, "ver-header-param-conflict", "",
		when(called("get send"), requestLine(`^(\S+) ([^? ]+)`, "$1 $2?A2A-Version=0.3"))),
	broken("version that the card does not have", modern, "ver-interface-match ver-unsupported-error", "",
		when(called("get send"), header("A2A-Version", "9.9"))).
		with("ver-interface-match ver-unsupported-error ver-semantics").faithfully(),
	broken("version of the card is refused", v10, "ver-supported-refused", "",
		when(called("get"), answerError(-32009, "VERSION_NOT_SUPPORTED", "Version not supported"))),
	broken("answer in 0.3", v10, "ver-semantics dialect-mismatch send-response-oneof", "",
		when(called("send"), inside(`{"kind":"task","id":"t1","contextId":"c1","status":{"state":"completed"}}`))).
		with("version-semantics-mixed legacy-field-emitted enum-name-string id-context-preserved id-task-continued " +
			"id-context-stable " + otherState + " " + otherContent).with("state-send-terminal-rejected-v1"),
	broken("answer in 1.0", v03, "dialect-mismatch send-result-type ver-empty-means-03 ver-semantics", "",
		when(called("send"), inside(`{"task":{"id":"t1","contextId":"c1",`+
			`"status":{"state":"TASK_STATE_COMPLETED"}}}`))).
		with("version-semantics-mixed rpc-response-content-type-v1 id-task-continued " + otherState + " " +
			otherContent + " " + otherContext),
}

const (
	cutOff = "rpc-a2a-errorinfo error-internal-for-named-case stream-artifact-consistent state-send-terminal-code " +
		"id-task-unique hook-task-known " +
		"state-unknown-task-known equiv-error-same rpc-errorinfo-reason hook-attempted"
	extensionGone = "ext-required-missing ext-required-missing-0x ext-required-missing-client " +
		"ext-response-unrequested ext-response-echo"
)

// publicCard holds for the card that everybody gets.
func publicCard(s *spot) bool { return s.kind.operation == "fetch" }

// noExtensions holds for messages that name no extension themselves.
func noExtensions(s *spot) bool {
	return !strings.Contains(string(s.x().Request.Body.Data), `"extensions"`)
}

func bodyless(change func(*capture.Exchange) bool) func(*spot) bool {
	return func(s *spot) bool { return change(s.x()) }
}

// inside puts another result in an answer of JSON-RPC.
func inside(result string) func(*spot) bool {
	return func(s *spot) bool {
		r := s.x().Response
		root, ok := parseValue(string(r.Body.Data))
		if !ok || !root.has("result") || root.get("result").has("message") || root.str("result", "kind") == "message" {
			return false
		}
		root.put("result", result)
		return setText(&r.Body, &r.Head, root.text(""))
	}
}

// answerError answers a call of JSON-RPC with an error.
func answerError(code int, reason, message string) func(*spot) bool {
	return func(s *spot) bool {
		request, ok := parseValue(string(s.x().Request.Body.Data))
		if !ok || !request.has("id") {
			return false
		}
		data := ""
		if reason != "" && s.kind.in == v10 {
			data = `,"data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"` + reason +
				`","domain":"a2a-protocol.org"}]`
		}
		text := `{"jsonrpc":"2.0","id":` + request.get("id").raw + `,"error":{"code":` + jsonInt(code) +
			`,"message":"` + message + `"` + data + `}}`
		r := s.x().Response
		at := r.Body.At
		head := string(r.Head)
		r.Stream, r.Events = false, nil
		r.Body = capture.Body{Data: []byte(text), Size: int64(len(text)), Complete: true, At: at}
		r.Head = []byte(head)
		setHeader(&r.Head, "Content-Type", "application/json")
		return true
	}
}

// does holds where an operation succeeds somewhere.
func does(operation string) func(*spot) bool {
	return func(s *spot) bool {
		for i, x := range s.exchanges {
			if called(operation)(&spot{exchanges: s.exchanges, i: i, kind: kindOf(x)}) {
				return true
			}
		}
		return false
	}
}

// noExtended takes away what says that there is an extended card, which might offer more.
func noExtended(s *spot) bool {
	s.o.remove("supportsAuthenticatedExtendedCard")
	if c := s.o.get("capabilities"); c != nil {
		c.remove("extendedAgentCard")
	}
	return true
}

// opening holds for messages that begin a task.
func opening(s *spot) bool {
	text := string(s.x().Request.Body.Data)
	if s.kind.in != v01 {
		return !strings.Contains(text, `"taskId"`)
	}
	request, ok := parseValue(text)
	return ok && s.i > 0 && !slices.ContainsFunc(s.exchanges[:s.i], func(x *capture.Exchange) bool {
		return strings.Contains(string(x.Request.Body.Data), `"id":`+request.get("params").get("id").raw)
	})
}
