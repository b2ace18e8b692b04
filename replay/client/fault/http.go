package fault

import (
	"net/http"
	"net/url"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
)

// Faults of how requests use HTTP: methods, paths, media types and queries.
var httpFaults = []ClientFault{
	of(overRPC, "rpc-http-post", a2a.GetTask, "A task is requested over JSON-RPC with PUT.",
		onEach(func(out *client.Outgoing) { out.Method = http.MethodPut }, a2a.GetTask)),
	of(only03, "rpc-request-content-type", a2a.GetTask, "A task is requested with a body that is labeled as text.",
		labeled("text/plain", a2a.GetTask)),
	of([]client.Protocol{client.JSONRPC10}, "rpc-request-content-type-v1", sends,
		"JSON-RPC requests have the media type of the other binding.", labeled("application/a2a+json")),
	of([]client.Protocol{client.REST03}, "rest-request-content-type", sends,
		"Messages are sent over HTTP+JSON with a body that is labeled as text.",
		labeled("text/plain", a2a.SendMessage)),
	of(overREST, "rest-content-type-v1", sends,
		"Messages are sent over HTTP+JSON with a body that is labeled as text.",
		labeled("text/plain", a2a.SendMessage)),
	of(overRPC, "json-utf8", a2a.GetTask, "A task is requested with a byte order mark before the body.",
		onEach(func(out *client.Outgoing) { out.Body = append([]byte("\xef\xbb\xbf"), out.Body...) }, a2a.GetTask)),
	of([]client.Protocol{client.REST10, client.REST03}, "rest-verb", a2a.GetTask,
		"A task is requested over HTTP+JSON with POST.",
		onEach(func(out *client.Outgoing) { out.Method = http.MethodPost }, a2a.GetTask)),
	of([]client.Protocol{client.REST10, client.REST03}, "rest-route-known", a2a.GetTask,
		"A task is requested at a path that the client made up.",
		onEach(func(out *client.Outgoing) { out.URL = strings.Replace(out.URL, "/tasks/", "/task/", 1) },
			a2a.GetTask)),
	of(overREST, "rest-v1-prefix", a2a.GetTask, "A task is requested at the path of earlier versions, below /v1.",
		onEach(func(out *client.Outgoing) { out.URL = strings.Replace(out.URL, "/tasks/", "/v1/tasks/", 1) },
			a2a.GetTask)),
	of(overREST, "rest-body-object", a2a.CancelTask, "Tasks are canceled over HTTP+JSON with null as the body.",
		onEach(func(out *client.Outgoing) { out.Body = []byte("null") }, a2a.CancelTask)),
	of(overREST, "rest-query-camelcase", a2a.ListTasks, "The page size is sent as page_size.",
		onQuery(func(q url.Values) {
			if size := q.Get("pageSize"); size != "" {
				q.Del("pageSize")
				q.Set("page_size", size)
			}
		}, a2a.ListTasks)),
	of(overREST, "rest-query-bool", a2a.ListTasks, "Artifacts are requested with includeArtifacts=1.",
		parameter("includeArtifacts", "1")),
	of(overREST, "rest-query-number", a2a.ListTasks, "The page size is the fraction 2.0.",
		parameter("pageSize", "2.0")),
	of(overREST, "rest-query-enum", a2a.ListTasks, "Lists are filtered by the state RUNNING.",
		parameter("status", "RUNNING")),
	of(overREST, "rest-query-timestamp", a2a.ListTasks, "Lists are filtered by a date without a time.",
		parameter("statusTimestampAfter", "2026-03-01")),
	of(overREST, "rest-query-nested", a2a.ListTasks, "Lists of tasks are requested with metadata.",
		parameter("metadata.source", "a2atap")),
	of(overREST, "rest-query-encoding", a2a.ListTasks, "Lists of tasks are requested with quotes in the query.",
		onEach(func(out *client.Outgoing) {
			separator := "?"
			if strings.Contains(out.URL, "?") {
				separator = "&"
			}
			out.URL += separator + `label="tasks"`
		}, a2a.ListTasks)),
}

// labeled returns a fault that declares another media type for the operations' bodies.
func labeled(mediaType string, ops ...a2a.Operation) func() func(*client.Outgoing) {
	return onEach(func(out *client.Outgoing) {
		if len(out.Body) > 0 {
			out.Header.Set("Content-Type", mediaType)
		}
	}, ops...)
}

// parameter makes a fault set a query parameter of lists of tasks.
func parameter(name, value string) func() func(*client.Outgoing) {
	return onQuery(func(q url.Values) { q.Set(name, value) }, a2a.ListTasks)
}
