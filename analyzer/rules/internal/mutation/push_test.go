package mutation_test

import (
	"strings"

	"a2atap/proxy/capture"
)

// pushMutations break push configs and notifications.
var pushMutations = []mutation{
	broken("config without an address", every, "req-push-config", "wanted", dropped("url")).with("push-create-echo push-get-url-v01"),
	broken("config with an empty address", every, "req-push-config", "wanted",
		set("url", `""`)).with("push-create-echo push-get-url-v01"),
	broken("config with a relative address", every, "req-push-https", "wanted",
		set("url", `"/hook"`)).with("push-create-echo push-get-url-v01 hook-task-known"),
	broken("config over plain http", every, "req-push-https", "wanted",
		set("url", `"http://hooks.planner.com/hook"`)).with("push-create-echo push-get-url-v01 hook-task-known hook-https"),
	broken("config of older versions is missing", v01|kinds, "req-push-config", "params",
		when(asked("set"), dropped("pushNotificationConfig"))).with("push-get-url-v01"),
	broken("authentication without schemes", v01|kinds, "req-push-authentication", "wanted",
		func(s *spot) bool { return dropped("authentication.schemes")(s) }),
	broken("schemes are one text", v01|kinds, "req-push-authentication field-type", "wanted",
		set("authentication.schemes", `"Bearer"`)),
	broken("authentication without a scheme", modern, "req-push-authentication", "wanted",
		dropped("authentication.scheme")),
	broken("scheme of 0.3 in 1.0", modern, "req-push-authentication", "wanted",
		set("authentication", `{"schemes":["Bearer"]}`)).with("hook-auth version-semantics-mixed"),
	broken("authentication is a text", every, "field-type req-push-authentication", "wanted",
		set("authentication", `"Bearer"`)),
	broken("token is a number", every, "field-type", "wanted", set("token", `5`)),
	broken("address is a number", every, "req-push-config", "wanted", set("url", `5`)).with("push-create-echo push-get-url-v01"),
	broken("inline config names a task", modern, "req-push-inline-taskid", "wanted",
		when(asked("send"), put("taskId", `"t3"`))),
	broken("one token for two configs", modern, "req-push-token-unique", "wanted",
		when(asked("set"), when(does("configs"), set("token", `"tok-3"`)))).with("push-create-echo").faithfully(),
	broken("deletion without a config", v10, "req-push-delete-id", "params", when(asked("delete"), dropped("id"))),
	broken("deletion without a config in 0.3", kinds, "req-push-delete-id", "params",
		when(asked("delete"), dropped("pushNotificationConfigId"))),
	broken("config asked for without an id", v10, "req-push-get-id", "params", when(asked("config"), dropped("id"))),
	broken("config asked for without a task", v10, "req-push-get-id req-task-id", "params",
		when(asked("config"), dropped("taskId"))),
	broken("configs asked for without a task", rpc&^v01, "req-task-id", "params",
		when(asked("configs"), either(dropped("taskId"), dropped("id")))),

	broken("config confirmed for another address", every, "push-create-echo", "config",
		when(asked("set"), set("url", `"https://other.example/hook"`))),
	broken("config confirmed for another task", v01, "push-create-echo", "kept",
		when(asked("set"), set("id", `"t99"`))),
	broken("config confirmed for another task later", later, "push-create-echo", "kept",
		when(asked("set"), set("taskId", `"t99"`))),
	broken("config without an id", modern, "push-create-id", "config", when(asked("set"), dropped("id"))),
	broken("config with an empty id", modern, "push-create-id", "config", when(asked("set"), set("id", `""`))),
	broken("id of a config replaced", v03|rest03, "push-create-id-kept", "config",
		when(asked("set"), set("id", `"p99"`))).faithfully(),
	broken("config read without its address", modern, "push-get-details", "config",
		when(asked("config"), dropped("url"))),
	broken("config read with another address", v01, "push-get-url-v01", "config",
		when(asked("config"), set("url", `"https://other.example/hook"`))),
	broken("another config than asked for", later, "push-get-id-match", "config",
		when(asked("config"), set("id", `"p99"`))),
	broken("config of another task than asked for", later, "push-get-id-match", "kept",
		when(asked("config"), set("taskId", `"t99"`))),
	broken("list of configs is an object", kinds, "push-list-shape", "result",
		when(asked("configs"), become(`{"configs":[]}`))),
	broken("list of configs holds texts", kinds, "push-list-shape", "result", when(asked("configs"), become(`["p1"]`))),
	broken("list of configs is bare", modern, "push-list-shape-v1", "result",
		when(asked("configs"), become(`[]`))).with("push-list-complete"),
	broken("list of configs is a text", modern, "push-list-shape-v1", "result",
		when(asked("configs"), set("configs", `"p1"`))).with("push-list-complete"),
	broken("list without a config", modern, "push-list-complete", "result", when(asked("configs"), func(s *spot) bool {
		e := s.o.get("configs")
		if len(e.list()) < 2 {
			return false
		}
		e.elements = e.elements[:1]
		return true
	})),
	broken("deleted config is listed", modern, "push-list-no-deleted", "", listedAgain).faithfully(),
	broken("deleted config is read", modern, "push-get-missing", "", readAgain).elsewhere().faithfully(),
	broken("deletion answered with an object", kinds, "push-delete-result", "reply",
		when(asked("delete"), put("result", `{"deleted":true}`))),

	broken("notification by PUT", every, "hook-post", "", when(hooked, requestLine(`^POST`, "PUT"))),
	broken("notification labelled as text", every, "hook-content-type hook-content-type-0x", "",
		when(hooked, header("Content-Type", "text/plain"))),
	broken("notification of a bare task", modern, "hook-payload", "",
		when(hooked, hookBody(`{"id":"t6","contextId":"c8","status":{"state":"TASK_STATE_WORKING"}}`))),
	broken("notification in an envelope", modern, "hook-payload", "", when(hooked, hookBody(
		`{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t6","contextId":"c8",`+
			`"status":{"state":"TASK_STATE_WORKING"}}}}`))),
	broken("notification without a task", older, "hook-payload-0x", "", when(hooked, hookBody(`{"done":true}`))),
	broken("notification that is not JSON", every, "json-wellformed hook-payload hook-payload-0x", "",
		when(hooked, hookBody(`done`))),
	broken("notification without credentials", modern, "hook-auth", "", when(hooked, header("Authorization", ""))),
	broken("notification with other credentials", modern, "hook-auth", "",
		when(hooked, header("Authorization", "Bearer other"))),
	broken("notification with another scheme", modern, "hook-auth", "",
		when(hooked, header("Authorization", "Basic aGk6aG8="))),
	broken("notification without any credentials", older, "hook-auth-0x hook-token", "",
		when(hooked, both(header("Authorization", ""), header("X-A2A-Notification-Token", "")))),
	broken("notification without its token", older, "hook-token", "",
		when(hooked, header("X-A2A-Notification-Token", ""))),
	broken("notification with another token", older, "hook-token", "",
		when(hooked, header("X-A2A-Notification-Token", "tok-other"))),
	broken("notification redirected", modern, "hook-receiver-2xx", "", when(hooked, status("302 Found"))),
	broken("state in a notification is none", modern, "task-state-enum", "status",
		when(hooked, set("state", `"done"`))).with(otherState),
}

func hooked(s *spot) bool { return s.kind.operation == "hook" }

func hookBody(text string) func(*spot) bool {
	return requestBody(func(*spot, string) string { return text })
}

// listedAgain lists what was deleted.
func listedAgain(s *spot) bool {
	if s.kind.operation != "configs" {
		return false
	}
	for i, x := range s.exchanges[:s.i] {
		if kindOf(x).operation == "configs" && i < s.i && deletedBetween(s.exchanges[i:s.i]) {
			r := s.x().Response
			old, _ := parseValue(string(x.Response.Body.Data))
			now, _ := parseValue(string(r.Body.Data))
			if !s.kind.rest {
				now.put("result", old.get("result").text(""))
				old = now
			}
			return setText(&r.Body, &r.Head, old.text(""))
		}
	}
	return false
}

func deletedBetween(list []*capture.Exchange) bool {
	for _, x := range list {
		if kindOf(x).operation == "delete" {
			return true
		}
	}
	return false
}

// readAgain reads what was deleted.
func readAgain(s *spot) bool {
	if s.kind.operation != "config" || !strings.HasPrefix(s.kind.status, "2") || !deletedBetween(s.exchanges[s.i:]) {
		return false
	}
	s.after(s.copyOf(s.i))
	return true
}
