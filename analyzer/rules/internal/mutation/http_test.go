package mutation_test

import (
	"strings"
)

// httpMutations break HTTP, the media types, and the HTTP+JSON binding.
var httpMutations = []mutation{
	broken("call by PUT", rpc, "rpc-http-post", "", when(called("get send"), requestLine(`^POST`, "PUT"))),
	broken("request labelled as text", rpc, "rpc-request-content-type rpc-request-content-type-v1", "",
		when(called("get send cancel"), header("Content-Type", "text/plain"))),
	broken("request without a label", rpc, "rpc-request-content-type rpc-request-content-type-v1", "",
		when(called("get send cancel"), header("Content-Type", ""))),
	broken("answer labelled as text", rpc, "rpc-response-content-type rpc-response-content-type-v1", "",
		when(called("get send cancel"), label("Content-Type", "text/plain"))),
	broken("answer labelled as HTML", rpc, "rpc-response-content-type rpc-response-content-type-v1", "",
		when(called("get send cancel"), label("Content-Type", "text/html"))),
	broken("REST request labelled as text", rests, "rest-request-content-type rest-content-type-v1", "",
		when(called("send set"), header("Content-Type", "text/plain"))),
	broken("REST answer labelled as text", rests, "rest-response-content-type rest-content-type-v1", "",
		when(called("get send cancel"), label("Content-Type", "text/plain"))),
	broken("REST answer labelled as a form", rests, "rest-response-content-type rest-content-type-v1", "",
		when(called("get send cancel"), label("Content-Type", "application/x-www-form-urlencoded"))),
	broken("stream labelled as JSON", every, "stream-content-type", "",
		when(called("stream subscribe"), relabelled("application/json"))).faithfully(),
	broken("stream labelled as text", every, "stream-content-type", "",
		when(called("stream subscribe"), relabelled("text/plain"))),
	broken("stream under 201", every, "stream-status-200", "", when(called("stream subscribe"), status("201 Created"))),
	broken("stream answered with one object", every, "stream-method-answered-json", "", when(called("stream"), asOne)),
	broken("call answered with a stream", every, "nonstream-method-answered-sse", "",
		when(called("get send cancel"), asStream)),
	broken("answer without a body", rpc, "rpc-answer-missing", "", when(called("get send cancel"), body(""))),
	broken("REST answer without a body", rests, "rest-answer-missing", "", when(called("get send cancel"), body(""))),
	broken("answer is cut in the middle", every, "json-wellformed", "",
		when(called("get send cancel"), answered(cutHalf))),
	broken("answer is HTML", every, "json-wellformed", "", when(called("get send cancel"), answered(func(*spot,
		string,
	) string {
		return "<html><body>It works!</body></html>"
	}))).
		with("rpc-response-content-type"),
	broken("answer with a comma too many", every, "json-wellformed", "",
		when(called("get send cancel"), answered(func(_ *spot,
			old string,
		) string {
			return strings.TrimSuffix(strings.TrimSpace(old), "}") + ",}"
		}))),
	broken("answer in single quotes", every, "json-wellformed", "",
		when(called("get cancel"), answered(func(_ *spot, old string) string {
			return strings.ReplaceAll(old, `"`,
				`'`)
		}))),
	broken("answer with two objects", every, "json-wellformed", "",
		when(called("get cancel"), answered(func(_ *spot, old string) string { return strings.TrimSpace(old) + old }))),
	broken("request is cut in the middle", every, "json-wellformed", "",
		when(called("send"), when(spoken, requestBody(cutHalf)))).with(unread),
	broken("answer in Latin-1", every, "json-utf8", "", when(called("get cancel "+
		"send"), answered(latin1))).with(otherContent),
	broken("request in Latin-1", every, "json-utf8", "", when(called("send"), requestBody(latin1))),
	broken("answer with a byte order mark", every, "json-utf8", "",
		when(called("get cancel send"), answered(func(_ *spot, old string) string { return "\ufeff" + old }))),
	broken("answer with a member twice", every, "json-duplicate-keys", "task", addAgain("id")),
	broken("request with a member twice", later, "json-duplicate-keys", "asked", addAgain("messageId")),
	broken("member twice with another value", every, "json-duplicate-keys", "status", func(s *spot) bool {
		s.o.members = append(s.o.members, member{`"state"`, s.o.get("state")})
		return true
	}),

	broken("task asked for by POST", rests, "rest-verb", "", when(called("get"), requestLine(`^GET`, "POST"))),
	broken("message sent by PUT", rests, "rest-verb", "", when(called("send"), requestLine(`^POST`, "PUT"))),
	broken("task canceled by DELETE", rests, "rest-verb", "", when(called("cancel"), requestLine(`^POST`, "DELETE"))),
	broken("config deleted by POST", rests, "rest-verb", "",
		when(asked("delete"), requestLine(`^DELETE`,
			"POST"))).with("push-list-complete rest-body-object req-push-config").faithfully(),
	broken("route that is none", rests, "rest-route-known", "",
		when(called("send"), both(requestLine(`message:send`, "message:sent"), status("404 Not Found"),
			body(`{"detail":"Not Found"}`)))).
		with("rest-error-envelope rest-error-body").faithfully(),
	broken("action on a task that is none", rests, "rest-route-known rest-verb", "",
		when(called("cancel"), requestLine(`:cancel`, ":abort"))),
	broken("path of 0.3 at 1.0", rest10, "rest-v1-prefix", "",
		when(called("get"), requestLine(`/tasks/`, "/v1/tasks/"))).faithfully(),
	broken("query in snake case", rest10, "rest-query-camelcase", "",
		when(called("list"), requestLine(`pageSize`, "page_size"))).
		with("list-page-size-echo list-page-limit"),
	broken("another query in snake case", rest10, "rest-query-camelcase", "",
		when(called("get"), requestLine(`historyLength`, "history_length"))),
	broken("boolean as a word", rest10, "rest-query-bool", "",
		when(called("list"), requestLine(`includeArtifacts=true`, "includeArtifacts=yes"))).
		with("list-artifacts-omitted"),
	broken("boolean in upper case", rest10, "rest-query-bool", "",
		when(called("list"), requestLine(`includeArtifacts=true`, "includeArtifacts=True"))).
		with("list-artifacts-omitted"),
	broken("number as a word", rest10, "rest-query-number", "",
		when(called("list"), requestLine(`pageSize=\w+`, "pageSize=ten"))),
	broken("number with a fraction", rest10, "rest-query-number", "",
		when(called("get"), requestLine(`historyLength=\w+`, "historyLength=2.5"))),
	broken("state that is none in the query", rest10, "rest-query-enum", "",
		when(called("list"), requestLine(`status=\w+`, "status=DONE"))),
	broken("state as a number in the query", rest10, "rest-query-enum", "",
		when(called("list"), requestLine(`status=\w+`, "status=3"))),
	broken("date without a time in the query", rest10, "rest-query-timestamp", "",
		when(called("list"), requestLine(`statusTimestampAfter=[^& ]+`, "statusTimestampAfter=2026-03-05"))),
	broken("seconds since 1970 in the query", rest10, "rest-query-timestamp", "",
		when(called("list"), requestLine(`statusTimestampAfter=[^& ]+`, "statusTimestampAfter=1772704800"))),
	broken("offset in the query", rest10, "rest-query-timestamp timestamp-no-offset", "",
		when(called("list"), requestLine(`statusTimestampAfter=[^& ]+`,
			"statusTimestampAfter=2026-03-05T10:00:00%2B01:00"))),
	broken("nested field in the query", rest10, "rest-query-nested", "",
		when(called("list get"), requestLine(`\?`, "?metadata.who=me&"))),
	broken("JSON in the query", rest10, "rest-query-nested", "",
		when(called("list get"), requestLine(`\?`, "?metadata=%7B%22a%22:1%7D&"))),
	broken("broken escape in the query", rest10, "rest-query-encoding", "",
		when(called("list"), requestLine(`contextId=\w+`, "contextId=%zz"))).with("list-filter-context"),
	broken("raw characters in the query", rest10, "rest-query-encoding", "",
		when(called("list"), requestLine(`contextId=([^& ]+)`, `contextId=$1&x="y"`))),
	broken("REST body is a list", rest10, "rest-body-object", "",
		when(called("send"), requestBody(func(_ *spot, old string) string { return "[" + old + "]" }))),
	broken("REST body is null", rest10, "rest-body-object", "",
		when(called("send"), requestBody(func(*spot, string) string { return "null" }))),
	broken("result under 201", rest10, "rest-success-status", "", when(called("get list"), status("201 Created"))),
	broken("result under 202", rest10, "rest-success-status", "", when(called("get list"), status("202 Accepted"))),
	broken("error under 200", rests, "rest-error-not-2xx get-result-task push-list-shape-v1", "",
		when(refused, when(saying(`"message":`), status("200 OK")))).with(alsoRefused +
		" rest-error-code-equals-status rest-error-status-map").faithfully(),
	broken("plain http to a public host", every, "transport-https", "", func(s *spot) bool {
		s.x().Agent.URL = "http://agents.booker.com"
		return called("send")(s) && header("Host", "agents.booker.com")(s)
	}).with("dialect-mismatch auth-credentials-sent").elsewhere().faithfully(),
	broken("unauthorized without a challenge", every, "auth-www-authenticate", "",
		when(called("get send"), both(status("401 Unauthorized"), body(`{"detail":"who are you?"}`)))),
}

func latin1(_ *spot, old string) string {
	return strings.Replace(old, `"text":"`, "\"text\":\"\xfc", 1)
}

func addAgain(name string) func(*spot) bool {
	return func(s *spot) bool {
		if !s.o.has(name) {
			return false
		}
		s.o.members = append(s.o.members, member{`"` + name + `"`, s.o.get(name)})
		return true
	}
}

// asOne makes one JSON answer of a stream: the last event in it that holds a task or an update.
func asOne(s *spot) bool {
	r := s.x().Response
	for _, e := range r.Events {
		if data := string(e.Fields().Data); len(data) > 0 && e.Dropped == 0 {
			r.Stream, r.Events = false, nil
			r.Body.Data, r.Body.Size, r.Body.Complete = []byte(data), int64(len(data)), true
			return setHeader(&r.Head, "Content-Type", "application/json")
		}
	}
	return false
}

// asStream makes a stream of one event of an answer.
func asStream(s *spot) bool {
	r := s.x().Response
	text := strings.TrimSpace(string(r.Body.Data))
	if text == "" || r.Stream || strings.Contains(text, "\n") {
		return false
	}
	r.Stream = true
	r.Events = append(r.Events, newEvent(1, text, r.Body.At))
	r.Body.Data, r.Body.Size = nil, int64(len(r.Events[0].Raw))
	return setHeader(&r.Head, "Content-Type", "text/event-stream")
}

// relabelled gives a stream a label that does not say that it is one: its bytes are recorded as a body then.
func relabelled(label string) func(*spot) bool {
	return func(s *spot) bool {
		r := s.x().Response
		raw := r.StreamBytes()
		if !r.Stream || len(raw) == 0 {
			return false
		}
		r.Body.Data, r.Body.Size, r.Stream, r.Events = raw, int64(len(raw)), false, nil
		return setHeader(&r.Head, "Content-Type", label)
	}
}

// spoken accepts places after the agent was first seen to speak A2A.
func spoken(s *spot) bool { return s.i > 1 }

// answered changes the body of an answer that is labelled as JSON: another one is not judged as such.
func answered(change func(s *spot, old string) string) func(*spot) bool {
	return func(s *spot) bool {
		return s.x().Response != nil && strings.Contains(string(s.x().Response.Head), "json") && bodies(change)(s)
	}
}
