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
var requestFaults = []Fault{
	{
		Slug: "req-task-id", protocols: overRPC, On: client.GetTask,
		Doc:  "Requests to read a task do not say which.",
		edit: onParams(func(params map[string]any) { delete(params, "id") }, client.GetTask),
	},
	{
		Slug: "req-send-id-v01", protocols: only01,
		Doc:  "Messages do not name a task.",
		edit: onParams(func(params map[string]any) { delete(params, "id") }, client.SendMessage, client.StreamMessage),
	},
	{
		Slug: "req-history-length", protocols: append(only10, client.JSONRPC03), On: client.GetTask,
		Doc:  "Tasks are asked for with a negative number of messages.",
		edit: onParam("historyLength", -1, client.GetTask),
	},
	{
		Slug: "req-page-size", protocols: only10, On: client.ListTasks,
		Doc:  "Lists are asked for in pages of 500 tasks.",
		edit: onParam("pageSize", 500, client.ListTasks),
	},
	{
		Slug: "req-page-token-origin", protocols: only10, On: client.ListTasks,
		Doc:  "Lists are asked for from a page on that the client counts itself.",
		edit: onParam("pageToken", "2", client.ListTasks),
	},
	{
		Slug: "req-list-status", protocols: []client.Protocol{client.JSONRPC10}, On: client.ListTasks,
		Doc:  "Lists are filtered by a state that does not exist.",
		edit: onParam("status", "open", client.ListTasks),
	},
	{
		Slug: "req-push-config", protocols: append(only10, client.JSONRPC03), On: client.CreatePushConfig,
		Doc:  "Push configs have no URL.",
		edit: onConfig(func(config map[string]any) { delete(config, "url") }),
	},
	{
		Slug: "req-push-authentication", protocols: append(only10, client.JSONRPC03), On: client.CreatePushConfig,
		Doc:  "Push configs ask for authentication by no scheme.",
		edit: onConfig(func(config map[string]any) { config["authentication"] = map[string]any{"credentials": "secret"} }),
	},
	{
		Slug: "req-push-inline-taskid", protocols: only10,
		Doc:  "The push config that goes along with a message names a task.",
		edit: withConfig(map[string]any{"url": nowhere, "taskId": "another"}),
	},
	{
		Slug: "req-push-https", protocols: append(only10, client.JSONRPC03), On: client.CreatePushConfig,
		Doc:  "Notifications are wanted over FTP.",
		edit: onConfig(func(config map[string]any) { config["url"] = "ftp://127.0.0.1/hook" }),
	},
	{
		Slug: "req-push-token-unique", protocols: only10,
		Doc:  "All messages bring a push config with the same token.",
		edit: withConfig(map[string]any{"url": nowhere, "token": "for-all"}),
	},
	{
		Slug: "req-push-delete-id", protocols: overRPC, On: client.DeletePushConfig,
		Doc: "Requests to delete a push config do not say which.",
		edit: onParams(func(params map[string]any) {
			if params["taskId"] != nil { // 1.0
				delete(params, "id")
			}
			delete(params, "pushNotificationConfigId")
		}, client.DeletePushConfig),
	},
	{
		Slug: "req-push-get-id", protocols: []client.Protocol{client.JSONRPC10}, On: client.GetPushConfig,
		Doc:  "Requests to read a push config do not say which.",
		edit: onParams(func(params map[string]any) { delete(params, "id") }, client.GetPushConfig),
	},
	{
		Slug: "req-tenant-omit", protocols: only10,
		Doc:  "Requests name a tenant that no card declares.",
		edit: onParam("tenant", "acme"),
	},
	{
		Slug: "req-to-terminal", protocols: append(only10, client.JSONRPC03),
		Doc:  "Messages go to the task that was canceled last, or would have been if it had not ended.",
		edit: toCanceled,
	},
	{
		Slug: "req-context-task-mismatch", protocols: only10,
		Doc: "Messages to a task name another context.",
		edit: onMessage(func(m map[string]any) {
			if m["taskId"] != nil {
				m["contextId"] = "another"
			}
		}),
	},
	{
		Slug: "req-taskid-exists", protocols: only10,
		Doc:  "All messages go to a task that does not exist.",
		edit: onMessage(func(m map[string]any) { m["taskId"] = "no-such-task" }),
	},
	{
		Slug: "req-message-id-reuse", protocols: append(only10, client.JSONRPC03),
		Doc:  "All messages have the same id.",
		edit: onMessage(func(m map[string]any) { m["messageId"] = "m1" }),
	},
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
