package mutation_test

// errorMutations break errors, and lists and histories.
var errorMutations = []mutation{
	broken("error data is an object", v10, "rpc-error-data-array", "error", func(s *spot) bool {
		return first(s.o, "data") != nil && set("data", first(s.o, "data").text(""))(s)
	}).with("rpc-a2a-errorinfo"),
	broken("error data is a text", v10, "rpc-error-data-array", "error",
		when(taskError, set("data", `"no task t9"`))).with("rpc-a2a-errorinfo"),
	broken("detail without a type", v10, "rpc-error-data-type-key", "detail",
		dropped("@type")).with("rpc-a2a-errorinfo rpc-validation-detail"),
	broken("detail with a type that is a number", v10, "rpc-error-data-type-key", "detail",
		set("@type", `5`)).with("rpc-a2a-errorinfo rpc-validation-detail"),
	broken("error without ErrorInfo", v10, "rpc-a2a-errorinfo", "error", when(taskError, dropped("data"))),
	broken("ErrorInfo of another domain", modern, "rpc-errorinfo-domain", "error",
		when(taskError, info("domain", "agent.example"))).with("rpc-a2a-errorinfo rest-errorinfo-present"),
	broken("reason that is none", v10, "rpc-errorinfo-reason", "error",
		when(taskError, info("reason", "NO_SUCH_TASK"))).with("rpc-a2a-errorinfo"),
	broken("reason with a suffix", modern, "rpc-errorinfo-reason", "error",
		when(taskError, info("reason", "TASK_NOT_FOUND_ERROR"))).with("rest-errorinfo-present"),
	broken("reason in lower case", modern, "rpc-errorinfo-reason", "error",
		when(taskError, info("reason", "task_not_found"))).with("rest-errorinfo-present"),
	broken("reason of another error", v10, "rpc-errorinfo-code-match", "error",
		when(taskError, info("reason", "TASK_NOT_CANCELABLE"))),
	broken("code of another error", v10, "rpc-errorinfo-code-match", "error",
		when(taskError, set("code", `-32002`))).with(alsoRefused),

	broken("REST error without its object", rest10, "rest-error-envelope", "error",
		when(taskError, func(s *spot) bool { *s.root = *s.o; return true })).with("rest-errorinfo-present"),
	broken("REST error is a text", rest10, "rest-error-envelope rest-error-body", "error",
		when(taskError, become(`"Task not found"`))).with("rest-errorinfo-present"),
	broken("REST error with the code of JSON-RPC", rest10, "rest-error-code-equals-status", "error",
		set("code", `-32001`)).with("rpc-errorinfo-reason"),
	broken("REST error with another code", rest10, "rest-error-code-equals-status", "error", set("code", `500`)),
	broken("REST error with a code that is a text", rest10, "rest-error-code-equals-status rest-error-body", "error",
		set("code", `"404"`)).with("rest-error-envelope"),
	broken("REST error without a message", rest10, "rest-error-message", "error", dropped("message")),
	broken("REST error with a message that is an object", rest10, "rest-error-message", "error", set("message", `{}`)),
	broken("REST error with a status that is none", rest10, "rest-error-status-name", "error",
		set("status", `"MISSING"`)),
	broken("REST error with details that are one object", rest10, "rest-error-details-array", "error",
		func(s *spot) bool {
			return first(s.o, "details") != nil && set("details", first(s.o, "details").text(""))(s)
		}).with("rest-errorinfo-present"),
	broken("REST detail without a type", rest10, "rest-error-details-type", "error", func(s *spot) bool {
		return first(s.o, "details") != nil && first(s.o, "details").remove("@type")
	}).with("rest-errorinfo-present rpc-validation-detail"),
	broken("REST error without ErrorInfo", rest10, "rest-errorinfo-present", "error",
		when(taskError, dropped("details"))),
	broken("REST error under another status", rest10, "rest-error-status-map", "",
		when(refused, when(saying("TASK_NOT_FOUND"),
			both(status("400 Bad Request"), bodies(swap(`"code":404`, `"code":400`)))))),
	broken("REST refusal to cancel under another status", rest10, "rest-error-status-map", "",
		when(refused, when(saying("TASK_NOT_CANCELABLE"),
			both(status("404 Not Found"), bodies(swap(`"code":409`,
				`"code":404`)))))).with("state-cancel-terminal-code"),
	broken("REST error without a body that says what", rest10, "rest-error-body rest-error-envelope", "",
		when(refused, when(saying("TASK_NOT_FOUND"), body(`{"detail":"nope"}`)))).
		with("rest-errorinfo-present"),
}

// listMutations break pages of tasks and histories.
var listMutations = []mutation{
	broken("page without a token", modern, "list-next-token-present", "page", dropped("nextPageToken")),
	broken("page with a null token", modern, "list-next-token-present", "page", set("nextPageToken", `null`)),
	broken("page with a token that is a number", modern, "field-type list-next-token-present", "page",
		set("nextPageToken", `5`)),
	broken("last page with a token", modern, "list-last-page-token", "page",
		when(wholeList, set("nextPageToken", `"more"`))),
	broken("page without tasks", modern, "list-required-fields", "page", dropped("tasks")).with("list-last-page-token"),
	broken("page without its size", modern, "list-required-fields", "page", dropped("pageSize")),
	broken("page without a total", modern, "list-required-fields", "page", dropped("totalSize")),
	broken("page with more tasks than asked for", modern, "list-page-limit", "page",
		when(paged, repeatTask(false))).with("list-page-size-echo list-sorted " +
		"list-total-size").with("id-task-history-consistent"),
	broken("page size that was not asked for", modern, "list-page-size-echo", "page",
		when(paged, set("pageSize", `99`))),
	broken("page size less than the page", modern, "list-page-size-echo", "page", when(full, set("pageSize", `1`))),
	broken("total less than the page", modern, "list-total-size", "page",
		when(full, set("totalSize", `1`))).with("list-last-page-token"),
	broken("total is a text that is no number", modern, "field-type", "page", set("totalSize", `"many"`)),
	broken("tasks are one object", modern, "field-type list-required-fields", "page", set("tasks", `{}`)),
	broken("list backwards", modern, "list-sorted", "page", when(full, func(s *spot) bool {
		e := s.o.get("tasks").elements
		e[0], e[len(e)-1] = e[len(e)-1], e[0]
		return e[0].str("status", "timestamp") != e[len(e)-1].str("status", "timestamp")
	})),
	broken("artifacts that nobody asked for", modern, "list-artifacts-omitted", "task",
		when(asked("list"), when(notAsked("includeArtifacts"),
			give("artifacts", `[{"artifactId":"z1","parts":[{"text":"x"}]}]`)))).with(otherContent),
	broken("no artifacts, but a list of them", modern, "list-artifacts-omitted", "task",
		when(asked("list"), when(notAsked("includeArtifacts"), give("artifacts", `[]`)))),
	broken("task twice on a page", modern, "list-duplicate-task", "page",
		when(notPaged, repeatTask(true))).with("list-total-size list-page-limit list-page-size-echo"),

	broken("more history than asked for", modern, "history-max", "task", when(has("history"), moreHistory)),
	broken("more history than asked for before 1.0", older, "history-max-0x", "task",
		when(asked("get"), when(has("history"), moreHistory))),
	broken("history though none was asked for", modern, "history-max", "task",
		when(asked("list"), when(filtered("historyLength"),
			give("history", `[{"messageId":"m98","role":"ROLE_USER","parts":[{"text":"x"}]}]`)))),
	broken("empty history though none was asked for", modern, "history-zero-omitted", "task",
		when(asked("send"), when(filtered(`"historyLength":0`), give("history", `[]`)))),
}

func taskError(s *spot) bool { return s.o.str("message") == "Task not found" }

// info changes the ErrorInfo of an error.
func info(name, to string) func(*spot) bool {
	return func(s *spot) bool {
		for _, list := range []string{"data", "details"} {
			for _, d := range s.o.get(list).list() {
				if d.has("reason") {
					return set(name, `"`+to+`"`)(&spot{o: d})
				}
			}
		}
		return false
	}
}

// wholeList holds for pages that have all tasks.
func wholeList(s *spot) bool {
	return s.o.str("nextPageToken") == "" && notAsked("pageToken")(s) && len(s.o.get("tasks").list()) > 0
}

func full(s *spot) bool { return len(s.o.get("tasks").list()) > 1 }

// paged holds for lists of which the client said how many tasks it wants.
func paged(s *spot) bool    { return filtered("pageSize")(s) && full(s) }
func notPaged(s *spot) bool { return !filtered("pageSize")(s) && full(s) }

func notAsked(name string) func(*spot) bool { return func(s *spot) bool { return !filtered(name)(s) } }

// repeatTask adds the last task of a page again, under another id if same is false.
func repeatTask(same bool) func(*spot) bool {
	return func(s *spot) bool {
		list := s.o.get("tasks")
		more := makeValue(list.elements[len(list.elements)-1].text(""))
		if !same {
			more.put("id", `"t98"`)
		}
		list.elements = append(list.elements, more)
		return true
	}
}

// moreHistory repeats the history until it is too long.
func moreHistory(s *spot) bool {
	h := s.o.get("history")
	if len(h.list()) == 0 || !filtered("historyLength")(s) {
		return false
	}
	for len(h.elements) < 100 {
		h.elements = append(h.elements, makeValue(h.elements[0].text("")))
	}
	return true
}
