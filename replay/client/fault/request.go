package fault

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"a2atap/replay/client"
)

// Faults of what requests ask for, and of what they refer to.
var requestFaults = []ClientFault{
	of(overRPC, "req-task-id", client.GetTask, "Requests to read a task do not say which.",
		onParams(func(params map[string]any) { delete(params, "id") }, client.GetTask)),
	of(only01, "req-send-id-v01", "", "Messages do not name a task.",
		onParams(func(params map[string]any) { delete(params, "id") }, client.SendMessage, client.StreamMessage)),
	of(append(only10, client.JSONRPC03), "req-history-length", client.GetTask,
		"Tasks are asked for with a negative number of messages.", onParam("historyLength", -1, client.GetTask)),
	of(only10, "req-page-size", client.ListTasks, "Lists are asked for in pages of 500 tasks.",
		onParam("pageSize", 500, client.ListTasks)),
	of(only10, "req-page-token-origin", client.ListTasks,
		"Lists are asked for from a page on that the client counts itself.", onParam("pageToken", "2", client.ListTasks)),
	of([]client.Protocol{client.JSONRPC10}, "req-list-status", client.ListTasks,
		"Lists are filtered by a state that does not exist.", onParam("status", "open", client.ListTasks)),
	of(append(only10, client.JSONRPC03), "req-push-config", client.CreatePushConfig, "Push configs have no URL.",
		onConfig(func(config map[string]any) { delete(config, "url") })),
	of(append(only10, client.JSONRPC03), "req-push-authentication", client.CreatePushConfig,
		"Push configs ask for authentication by no scheme.",
		onConfig(func(config map[string]any) { config["authentication"] = map[string]any{"credentials": "secret"} })),
	of(only10, "req-push-inline-taskid", "", "The push config that goes along with a message names a task.",
		withConfig(map[string]any{"url": nowhere, "taskId": "another"})),
	of(append(only10, client.JSONRPC03), "req-push-https", client.CreatePushConfig, "Notifications are wanted over FTP.",
		onConfig(func(config map[string]any) { config["url"] = "ftp://127.0.0.1/hook" })),
	of(only10, "req-push-token-unique", "", "All messages bring a push config with the same token.",
		withConfig(map[string]any{"url": nowhere, "token": "for-all"})),
	of(overRPC, "req-push-delete-id", client.DeletePushConfig, "Requests to delete a push config do not say which.",
		onParams(func(params map[string]any) {
			if params["taskId"] != nil { // 1.0
				delete(params, "id")
			}
			delete(params, "pushNotificationConfigId")
		}, client.DeletePushConfig)),
	of([]client.Protocol{client.JSONRPC10}, "req-push-get-id", client.GetPushConfig,
		"Requests to read a push config do not say which.",
		onParams(func(params map[string]any) { delete(params, "id") }, client.GetPushConfig)),
	of(only10, "req-tenant-omit", "", "Requests name a tenant that no card declares.", onParam("tenant", "acme")),
	of(append(only10, client.JSONRPC03), "req-to-terminal", "",
		"Messages go to the task that was canceled last, or would have been if it had not ended.", toCanceled),
	of(only10, "req-context-task-mismatch", "", "Messages to a task name another context.",
		onMessage(func(m map[string]any) {
			if m["taskId"] != nil {
				m["contextId"] = "another"
			}
		})),
	of(only10, "req-taskid-exists", "", "All messages go to a task that does not exist.",
		onMessage(func(m map[string]any) { m["taskId"] = "no-such-task" })),
	of(append(only10, client.JSONRPC03), "req-message-id-reuse", "", "All messages have the same id.",
		onMessage(func(m map[string]any) { m["messageId"] = "m1" })),
}

// nowhere is a webhook where nobody listens.
const nowhere = "http://127.0.0.1:9/hook"

// onParam makes a fault set a parameter of the operations, in the body or, where there is none, in the query.
func onParam(name string, value any, ops ...client.Operation) func() func(*client.Outgoing) {
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
	}, client.CreatePushConfig)
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
	}, client.SendMessage, client.StreamMessage)
}

// toCanceled remembers which task was canceled, and sends all messages there.
func toCanceled() func(*client.Outgoing) {
	canceled := ""
	remember := onParams(func(params map[string]any) {
		if id, ok := params["id"].(string); ok {
			canceled = id
		}
	}, client.CancelTask)()
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
