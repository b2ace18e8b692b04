package fault

import (
	"net/http"
	"net/url"
	"strings"

	"a2atap/replay/client"
)

// Faults of how requests use HTTP: methods, paths, media types and queries.
var httpFaults = []ClientFault{
	of(overRPC, "rpc-http-post", client.GetTask, "A task is asked for over JSON-RPC with PUT.",
		onEach(func(out *client.Outgoing) { out.Method = http.MethodPut }, client.GetTask)),
	of(only03, "rpc-request-content-type", client.GetTask, "A task is asked for with a body that is labelled as text.",
		labelled("text/plain", client.GetTask)),
	of([]client.Protocol{client.JSONRPC10}, "rpc-request-content-type-v1", "",
		"JSON-RPC requests bear the label of the other binding.", labelled("application/a2a+json")),
	of([]client.Protocol{client.REST03}, "rest-request-content-type", client.SendMessage,
		"Messages are sent over HTTP+JSON with a body that is labelled as text.",
		labelled("text/plain", client.SendMessage)),
	of(overREST, "rest-content-type-v1", client.SendMessage,
		"Messages are sent over HTTP+JSON with a body that is labelled as text.",
		labelled("text/plain", client.SendMessage)),
	of(overRPC, "json-utf8", client.GetTask, "A task is asked for with a byte order mark before the body.",
		onEach(func(out *client.Outgoing) { out.Body = append([]byte("\xef\xbb\xbf"), out.Body...) }, client.GetTask)),
	of([]client.Protocol{client.REST10, client.REST03}, "rest-verb", client.GetTask,
		"A task is asked for over HTTP+JSON with POST.",
		onEach(func(out *client.Outgoing) { out.Method = http.MethodPost }, client.GetTask)),
	of([]client.Protocol{client.REST10, client.REST03}, "rest-route-known", client.GetTask,
		"A task is asked for at a path of the client's own making.",
		onEach(func(out *client.Outgoing) { out.URL = strings.Replace(out.URL, "/tasks/", "/task/", 1) },
			client.GetTask)),
	of(overREST, "rest-v1-prefix", client.GetTask, "A task is asked for at the path of earlier versions, below /v1.",
		onEach(func(out *client.Outgoing) { out.URL = strings.Replace(out.URL, "/tasks/", "/v1/tasks/", 1) },
			client.GetTask)),
	of(overREST, "rest-body-object", client.CancelTask, "Tasks are canceled over HTTP+JSON with null.",
		onEach(func(out *client.Outgoing) { out.Body = []byte("null") }, client.CancelTask)),
	of(overREST, "rest-query-camelcase", client.ListTasks, "The size of a page is asked for as page_size.",
		onQuery(func(q url.Values) {
			if size := q.Get("pageSize"); size != "" {
				q.Del("pageSize")
				q.Set("page_size", size)
			}
		}, client.ListTasks)),
	of(overREST, "rest-query-bool", client.ListTasks, "Artifacts are asked for with includeArtifacts=1.",
		parameter("includeArtifacts", "1")),
	of(overREST, "rest-query-number", client.ListTasks, "The size of a page is the fraction 2.0.",
		parameter("pageSize", "2.0")),
	of(overREST, "rest-query-enum", client.ListTasks, "Tasks are listed by the state RUNNING.",
		parameter("status", "RUNNING")),
	of(overREST, "rest-query-timestamp", client.ListTasks, "Tasks are listed from a day on, not from an instant.",
		parameter("statusTimestampAfter", "2026-03-01")),
	of(overREST, "rest-query-nested", client.ListTasks, "Lists of tasks are asked for with metadata.",
		parameter("metadata.source", "a2atap")),
	of(overREST, "rest-query-encoding", client.ListTasks, "Lists of tasks are asked for with quotes in the query.",
		onEach(func(out *client.Outgoing) {
			separator := "?"
			if strings.Contains(out.URL, "?") {
				separator = "&"
			}
			out.URL += separator + `label="tasks"`
		}, client.ListTasks)),
}

// labelled makes a fault give the bodies of the operations another media type.
func labelled(mediaType string, ops ...client.Operation) func() func(*client.Outgoing) {
	return onEach(func(out *client.Outgoing) {
		if len(out.Body) > 0 {
			out.Header.Set("Content-Type", mediaType)
		}
	}, ops...)
}

// parameter makes a fault set a query parameter of lists of tasks.
func parameter(name, value string) func() func(*client.Outgoing) {
	return onQuery(func(q url.Values) { q.Set(name, value) }, client.ListTasks)
}
