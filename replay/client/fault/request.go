package fault

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
)

// Faults in the parameters of requests, and in their references.
var requestFaults = []ClientFault{
	of(overRPC, "req-task-id", a2a.GetTask, "Requests to get a task do not name it.",
		onParams(func(params map[string]any) { delete(params, "id") }, a2a.GetTask)),
	of(only01, "req-send-id-v01", sends, "Messages do not name a task.",
		onParams(func(params map[string]any) { delete(params, "id") }, a2a.SendMessage, a2a.SendStreamingMessage)),
	of(append(only10, client.JSONRPC03), "req-history-length", a2a.GetTask,
		"Tasks are requested with a negative historyLength.", onParam("historyLength", -1, a2a.GetTask)),
	of(only10, "req-page-size", a2a.ListTasks, "Lists are requested in pages of 500 tasks.",
		onParam("pageSize", 500, a2a.ListTasks)),
	of(only10, "req-page-token-origin", a2a.ListTasks,
		"Lists are requested with a page token that the client made up.", onParam("pageToken", "2", a2a.ListTasks)),
	of([]client.Protocol{client.JSONRPC10}, "req-list-status", a2a.ListTasks,
		"Lists are filtered by a state that does not exist.", onParam("status", "open", a2a.ListTasks)),
	of(append(only10, client.JSONRPC03), "req-push-config", a2a.CreatePushConfig, "Push configs have no URL.",
		onConfig(func(config map[string]any) { delete(config, "url") })),
	of(append(only10, client.JSONRPC03), "req-push-authentication", a2a.CreatePushConfig,
		"Push configs have an authentication without a scheme.",
		onConfig(func(config map[string]any) { config["authentication"] = map[string]any{"credentials": "secret"} })),
	of(only10, "req-push-inline-taskid", sends, "The push config in a message names a task.",
		withConfig(map[string]any{"url": nowhere, "taskId": "another"})),
	of(append(only10, client.JSONRPC03), "req-push-https", a2a.CreatePushConfig, "Push configs have an FTP URL.",
		onConfig(func(config map[string]any) { config["url"] = "ftp://127.0.0.1/hook" })),
	of(only10, "req-push-token-unique", sends, "All messages have a push config with the same token.",
		withConfig(map[string]any{"url": nowhere, "token": "for-all"})),
	of(overRPC, "req-push-delete-id", a2a.DeletePushConfig, "Requests to delete a push config do not name it.",
		onParams(func(params map[string]any) {
			if params["taskId"] != nil { // 1.0
				delete(params, "id")
			}
			delete(params, "pushNotificationConfigId")
		}, a2a.DeletePushConfig)),
	of([]client.Protocol{client.JSONRPC10}, "req-push-get-id", a2a.GetPushConfig,
		"Requests to get a push config do not name it.",
		onParams(func(params map[string]any) { delete(params, "id") }, a2a.GetPushConfig)),
	of(only10, "req-tenant-omit", sends, "Requests name a tenant that no card declares.", onParam("tenant", "acme")),
	of(append(only10, client.JSONRPC03), "req-to-terminal", sends,
		"Messages are sent to the last task that the client canceled or tried to cancel.", toCanceled),
	of(only10, "req-context-task-mismatch", sends, "Messages to a task name another context.",
		onMessage(func(m map[string]any) {
			if m["taskId"] != nil {
				m["contextId"] = "another"
			}
		})),
	of(only10, "req-taskid-exists", sends, "All messages are sent to a task that does not exist.",
		onMessage(func(m map[string]any) { m["taskId"] = "no-such-task" })),
	of(append(only10, client.JSONRPC03), "req-message-id-reuse", sends, "All messages have the same id.",
		onMessage(func(m map[string]any) { m["messageId"] = "m1" })),
}

// nowhere is a webhook URL on which no server listens.
const nowhere = "http://127.0.0.1:9/hook"

// onParam returns a fault that sets a parameter of the operations, in the body or, if the request has no body, in the
// query.
func onParam(name string, value any, ops ...a2a.Operation) func() func(*client.Outgoing) {
	inBody := onParams(func(params map[string]any) { params[name] = value }, ops...)
	inQuery := onQuery(func(q url.Values) { q.Set(name, fmt.Sprint(value)) }, ops...)
	return func() func(*client.Outgoing) {
		body, query := inBody(), inQuery()
		return func(out *client.Outgoing) {
			if out.Method == http.MethodPost && len(out.Body) > 0 {
				body(out)
			} else {
				query(out)
			}
		}
	}
}

// onConfig makes a fault edit push configs that are created on their own.
func onConfig(edit func(config map[string]any)) func() func(*client.Outgoing) {
	return onParams(func(params map[string]any) {
		if config, ok := params["pushNotificationConfig"].(map[string]any); ok { // before 1.0
			params = config
		}
		edit(params)
	}, a2a.CreatePushConfig)
}

// withConfig makes a fault send a push config along with every message.
func withConfig(config map[string]any) func() func(*client.Outgoing) {
	return onParams(func(params map[string]any) {
		configuration, ok := params["configuration"].(map[string]any)
		if !ok {
			configuration = make(map[string]any)
		}
		configuration["taskPushNotificationConfig"] = config
		params["configuration"] = configuration
	}, a2a.SendMessage, a2a.SendStreamingMessage)
}

// toCanceled remembers which task was canceled, and sends all messages there.
func toCanceled() func(*client.Outgoing) {
	canceled := ""
	remember := onParams(func(params map[string]any) {
		if id, ok := params["id"].(string); ok {
			canceled = id
		}
	}, a2a.CancelTask)()
	send := onMessage(func(m map[string]any) {
		delete(m, "contextId")
		if canceled != "" {
			m["taskId"] = canceled
		}
	})()
	return func(out *client.Outgoing) {
		if id, ok := strings.CutSuffix(path.Base(out.URL), ":cancel"); ok {
			canceled = id
		}
		remember(out)
		send(out)
	}
}
