package fault

import (
	"net/http"
	"net/url"
	"strings"

	"a2atap/replay/client"
)

// Faults of how requests use HTTP: methods, paths, media types and queries.
var httpFaults = []Fault{
	{
		Slug: "rpc-http-post", protocols: overRPC, On: client.GetTask,
		Doc:  "A task is asked for over JSON-RPC with PUT.",
		edit: onEach(func(out *client.Outgoing) { out.Method = http.MethodPut }, client.GetTask),
	},
	{
		Slug: "rpc-request-content-type", protocols: only03, On: client.GetTask,
		Doc:  "A task is asked for with a body that is labelled as text.",
		edit: labelled("text/plain", client.GetTask),
	},
	{
		Slug: "rpc-request-content-type-v1", protocols: []client.Protocol{client.JSONRPC10},
		Doc:  "JSON-RPC requests bear the label of the other binding.",
		edit: labelled("application/a2a+json"),
	},
	{
		Slug: "rest-request-content-type", protocols: []client.Protocol{client.REST03}, On: client.SendMessage,
		Doc:  "Messages are sent over HTTP+JSON with a body that is labelled as text.",
		edit: labelled("text/plain", client.SendMessage),
	},
	{
		Slug: "rest-content-type-v1", protocols: overREST, On: client.SendMessage,
		Doc:  "Messages are sent over HTTP+JSON with a body that is labelled as text.",
		edit: labelled("text/plain", client.SendMessage),
	},
	{
		Slug: "json-utf8", protocols: overRPC, On: client.GetTask,
		Doc:  "A task is asked for with a byte order mark before the body.",
		edit: onEach(func(out *client.Outgoing) { out.Body = append([]byte("\xef\xbb\xbf"), out.Body...) }, client.GetTask),
	},
	{
		Slug: "rest-verb", protocols: []client.Protocol{client.REST10, client.REST03}, On: client.GetTask,
		Doc:  "A task is asked for over HTTP+JSON with POST.",
		edit: onEach(func(out *client.Outgoing) { out.Method = http.MethodPost }, client.GetTask),
	},
	{
		Slug: "rest-route-known", protocols: []client.Protocol{client.REST10, client.REST03}, On: client.GetTask,
		Doc: "A task is asked for at a path of the client's own making.",
		edit: onEach(func(out *client.Outgoing) { out.URL = strings.Replace(out.URL, "/tasks/", "/task/", 1) },
			client.GetTask),
	},
	{
		Slug: "rest-v1-prefix", protocols: overREST, On: client.GetTask,
		Doc: "A task is asked for at the path of earlier versions, below /v1.",
		edit: onEach(func(out *client.Outgoing) { out.URL = strings.Replace(out.URL, "/tasks/", "/v1/tasks/", 1) },
			client.GetTask),
	},
	{
		Slug: "rest-body-object", protocols: overREST, On: client.CancelTask,
		Doc:  "Tasks are canceled over HTTP+JSON with null.",
		edit: onEach(func(out *client.Outgoing) { out.Body = []byte("null") }, client.CancelTask),
	},
	{
		Slug: "rest-query-camelcase", protocols: overREST, On: client.ListTasks,
		Doc: "The size of a page is asked for as page_size.",
		edit: onQuery(func(q url.Values) {
			if size := q.Get("pageSize"); size != "" {
				q.Del("pageSize")
				q.Set("page_size", size)
			}
		}, client.ListTasks),
	},
	{
		Slug: "rest-query-bool", protocols: overREST, On: client.ListTasks,
		Doc:  "Artifacts are asked for with includeArtifacts=1.",
		edit: parameter("includeArtifacts", "1"),
	},
	{
		Slug: "rest-query-number", protocols: overREST, On: client.ListTasks,
		Doc:  "The size of a page is the fraction 2.0.",
		edit: parameter("pageSize", "2.0"),
	},
	{
		Slug: "rest-query-enum", protocols: overREST, On: client.ListTasks,
		Doc:  "Tasks are listed by the state RUNNING.",
		edit: parameter("status", "RUNNING"),
	},
	{
		Slug: "rest-query-timestamp", protocols: overREST, On: client.ListTasks,
		Doc:  "Tasks are listed from a day on, not from an instant.",
		edit: parameter("statusTimestampAfter", "2026-03-01"),
	},
	{
		Slug: "rest-query-nested", protocols: overREST, On: client.ListTasks,
		Doc:  "Lists of tasks are asked for with metadata.",
		edit: parameter("metadata.source", "a2atap"),
	},
	{
		Slug: "rest-query-encoding", protocols: overREST, On: client.ListTasks,
		Doc: "Lists of tasks are asked for with quotes in the query.",
		edit: onEach(func(out *client.Outgoing) {
			separator := "?"
			if strings.Contains(out.URL, "?") {
				separator = "&"
			}
			out.URL += separator + `label="tasks"`
		}, client.ListTasks),
	},
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
