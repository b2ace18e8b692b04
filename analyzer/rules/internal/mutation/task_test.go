package mutation_test

import (
	"strconv"
	"strings"
)

// taskMutations break tasks, their states and times, and the parameters of requests.
var taskMutations = []mutation{
	broken("task without an id", every, "task-id-present auth-required-uses-task", "task",
		dropped("id")).with(otherTask + " auth-required-uses-task"),
	broken("task with an empty id", every, "task-id-present auth-required-uses-task", "task",
		set("id", `""`)).with(otherTask),
	broken("task with a number as its id", every, "task-id-present auth-required-uses-task", "task",
		set("id", `5`)).with(otherTask),
	broken("task without a context", kinds, "task-context-id", "task", dropped("contextId")),
	broken("task without its kind", kinds, "task-kind event-kind", "task", dropped("kind")).with("event-kind"),
	broken("task of another kind", kinds, "task-kind send-result-type get-result-task event-kind", "task",
		set("kind", `"Task"`)),
	broken("task without a status", every, "task-status-present", "task",
		when(notBecomes, dropped("status"))).with(otherState + " send-result-type"),
	broken("status is a text", every, "field-type task-status-present", "task",
		set("status", `"completed"`)).with(otherState),
	broken("status without a state", every&^rest03, "task-status-present event-status", "status",
		dropped("state")).with(otherState),
	broken("state is null", every&^rest03, "task-status-present event-status field-null-required", "status",
		set("state", `null`)).with(otherState),
	broken("state that is none", every, "task-state-enum", "status", set("state", `"done"`)).with(otherState),
	broken("state is a number", every, "task-state-enum enum-name-string field-type", "status",
		set("state", `3`)).with(otherState),
	broken("state with two L", kinds|v01, "task-state-enum", "status",
		when(is("state", "canceled"), set("state", `"cancelled"`))).with(otherState),
	broken("state of 1.0 with two L", modern, "task-state-enum enum-name-string", "status",
		when(is("state", "TASK_STATE_CANCELED"), set("state", `"TASK_STATE_CANCELLED"`))).
		with(otherState),
	broken("state in lower case", v10, "enum-name-string dialect-mismatch", "status",
		when(is("state", "TASK_STATE_COMPLETED"), set("state", `"completed"`))).
		with(otherState + " version-semantics-mixed"),
	broken("state of 1.0 in 0.3", kinds, "task-state-enum dialect-mismatch", "status",
		when(is("state", "completed"), set("state", `"TASK_STATE_COMPLETED"`))).
		with(otherState + " version-semantics-mixed"),
	broken("state without a prefix", modern, "enum-name-string task-state-enum", "status",
		when(is("state", "TASK_STATE_COMPLETED"), set("state", `"COMPLETED"`))).
		with(otherState),
	broken("state with an underscore", kinds|v01, "task-state-enum", "status",
		when(is("state", "input-required"), set("state", `"input_required"`))).
		with(otherState + " dialect-mismatch"),
	broken("state is unspecified", modern, "task-state-unspecified", "status",
		set("state", `"TASK_STATE_UNSPECIFIED"`)).with(otherState),
	broken("metadata of a cancellation is lost", every&^rest03, "cancel-metadata-lost", "task",
		when(asked("cancel"), dropped("metadata"))).faithfully(),
	broken("time that is none", older, "task-timestamp-format", "status", set("timestamp", `"yesterday"`)),
	broken("time in seconds", older, "task-timestamp-format field-type", "status", set("timestamp", `1772704800`)),
	broken("date only", older, "task-timestamp-format", "status", set("timestamp", `"05.03.2026 10:00"`)),
	broken("time without Z", modern, "timestamp-utc-z", "status",
		set("timestamp", `"2026-03-05T10:00:00.000"`)).with(otherTime),
	broken("time with a space", modern, "timestamp-utc-z", "status",
		set("timestamp", `"2026-03-05 10:00:00.000Z"`)).with(otherTime),
	broken("time without seconds", modern, "timestamp-utc-z", "status",
		set("timestamp", `"2026-03-05T10:00Z"`)).with(otherTime),
	broken("time on a day that is none", modern, "timestamp-utc-z", "status",
		set("timestamp", `"2026-02-30T10:00:00.000Z"`)).with(otherTime),
	broken("time is a number", modern, "timestamp-utc-z field-type", "status",
		set("timestamp", `1772704800`)).with(otherTime),
	broken("time with an offset", modern, "timestamp-no-offset", "status",
		set("timestamp", `"2026-03-05T11:00:00.000+01:00"`)).with(otherTime),
	broken("time with an offset of zero", modern, "timestamp-no-offset", "status",
		set("timestamp", `"2026-03-05T10:00:00.000+00:00"`)).with(otherTime),
	broken("message of a status is a text", every, "field-type", "status",
		put("message", `"working on it"`)).with("auth-required-has-message auth-required-has-message-0x"),
	broken("waits for an authorization without a word", later,
		"auth-required-has-message auth-required-has-message-0x", "status",
		when(is("state", "auth-required", "TASK_STATE_AUTH_REQUIRED"), dropped("message"))),
	broken("legacy members in a task", modern, "legacy-field-emitted ver-semantics", "task",
		give("kind", `"task"`)).with("version-semantics-mixed dialect-mismatch"),
	broken("legacy members in a message", modern, "legacy-field-emitted ver-semantics", messages,
		give("kind", `"message"`)).with("version-semantics-mixed dialect-mismatch"),
	broken("legacy members in a part", modern, "legacy-field-emitted ver-semantics", "part",
		when(has("text"), give("kind", `"text"`))).with("version-semantics-mixed dialect-mismatch"),
	broken("legacy member in the configuration", modern, "legacy-field-emitted", "configuration",
		give("blocking", `true`)).with("version-semantics-mixed"),
	broken("task wrapped where it should not be", modern|older, "get-result-task", "task",
		when(asked("get cancel"), wrapped("task"))),
	broken("task not wrapped", modern, "send-response-oneof stream-response-oneof", "wrapper",
		when(has("task"), unwrapped("task"))).
		with("dialect-mismatch stream-first-event stream-subscribe-first-task state-terminal-immutable"),
	broken("wrapper with two objects", modern, "send-response-oneof stream-response-oneof", "wrapper",
		when(has("task"), give("message",
			`{"messageId":"m99","role":"ROLE_AGENT","contextId":"c1",`+
				`"parts":[{"text":"x"}]}`))).with("stream-first-event"),
	broken("wrapper with nothing", modern, "send-response-oneof", "wrapper",
		when(asked("send"), both(either(rename("task", "note"), rename("message", "note"))))),
	broken("wrapper in 0.3", kinds, "send-result-type dialect-mismatch event-kind ver-empty-means-03 ver-semantics",
		"task", when(asked("send stream"), wrapped("task"))).
		with("version-semantics-mixed enum-name-string legacy-field-emitted " +
			"rpc-response-content-type-v1").with("timestamp-no-offset"),

	broken("task id in another answer", every, "id-get-echo id-task-echo-v01", "task",
		when(asked("get cancel"), set("id", `"t99"`))).with(otherTask),
	broken("context of a task changes", later,
		"id-context-stable id-stream-context-consistent id-context-preserved id-context-inferred", "task",
		when(asked("get cancel"), set("contextId", `"c99"`))).with(otherContext).elsewhere(),
	broken("context of the request is not kept", modern, "id-context-preserved", "answered",
		when(asked("send"), when(filtered("contextId"), set("contextId", `"c99"`)))).with(otherContext),
	broken("history of another task", later, "id-task-history-consistent", "past",
		when(is("role", "agent", "ROLE_AGENT"), set("taskId", `"t99"`))),
	broken("the task of 0.1 has another id", v01, "id-task-echo-v01", "task",
		when(asked("send"), set("id", `"t99"`))).with(otherTask),
	broken("the task of 0.1 is in another session", v01, "id-session-echo-v01", "task",
		when(asked("send"), set("sessionId", `"s99"`))),

	broken("no task is asked for", rpc, "req-task-id", "params",
		when(asked("get cancel subscribe"), dropped("id"))).with("id-get-echo id-subscribe-match"),
	broken("the empty task is asked for", rpc, "req-task-id", "params",
		when(asked("get cancel subscribe"), set("id", `""`))).with("id-get-echo id-subscribe-match"),
	broken("the task asked for is a number", rpc, "req-task-id", "params",
		when(asked("get cancel"), set("id", `5`))).with("id-get-echo"),
	broken("message of 0.1 without a task", v01, "req-send-id-v01 req-task-id", "params",
		when(asked("send stream"), dropped("id"))).
		with("id-task-echo-v01 id-event-echo-v01"),
	broken("history length is negative", every, "req-history-length", "params configuration",
		when(asked("send get"), set("historyLength", `-1`))).
		with("history-max history-max-0x"),
	broken("history length with a fraction", every, "req-history-length", "params configuration",
		when(asked("send get"), set("historyLength", `2.5`))).
		with("history-max history-max-0x"),
	broken("history length is a word", every, "req-history-length", "params configuration",
		when(asked("send get"), set("historyLength", `"all"`))).
		with("history-max history-max-0x"),
	broken("history length beyond int32", modern, "req-history-length", "params configuration",
		when(asked("send get"), set("historyLength", `4294967296`))),
	broken("accepted modes are a text", later, "field-type", "configuration",
		set("acceptedOutputModes", `"text/plain"`)).with("output-mode-accepted"),
	broken("configuration is a text", later, "field-type", "params", set("configuration", `"fast"`)),
	broken("returns at once is a text", modern, "field-type", "configuration", set("returnImmediately", `"false"`)),
	broken("blocking is a text", kinds|rest03, "field-type", "configuration", set("blocking", `"true"`)),
	broken("page size of zero", v10, "req-page-size", "params",
		when(asked("list"), put("pageSize", `0`))).with("list-page-size-echo list-page-limit"),
	broken("page size of a thousand", v10, "req-page-size", "params", when(asked("list"), put("pageSize", `1000`))),
	broken("page size is a word", v10, "field-type req-page-size", "params",
		when(asked("list"), put("pageSize", `"ten"`))),
	broken("state that is none is listed", v10, "req-list-status enum-name-string", "params",
		when(asked("list"), put("status", `"DONE"`))).with("list-filter-status"),
	broken("state is listed by its number", v10, "req-list-status enum-name-string", "params",
		when(asked("list"), put("status", `3`))).with("list-filter-status"),
	broken("tasks since a time without Z", v10, "timestamp-utc-z", "params",
		when(asked("list"), put("statusTimestampAfter", `"2026-03-05T10:00:00"`))).with("list-filter-time"),
	broken("tasks since a time with an offset", v10, "timestamp-no-offset", "params",
		when(asked("list"), put("statusTimestampAfter", `"2026-03-05T10:00:00+00:00"`))),
	broken("artifacts are asked for by a text", v10, "field-type", "params",
		when(asked("list"), put("includeArtifacts", `"true"`))).with("list-artifacts-omitted"),
	broken("a returned task that still works", modern, "state-blocking", "task",
		when(asked("send"), when(waits, set("status.state", `"TASK_STATE_WORKING"`)))).
		with(otherState),
}

// What comes along with another state, another time, or another task.
const (
	otherState = "state-terminal-immutable state-final-state-agrees state-blocking stream-terminal-without-final " +
		"stream-truncated state-cancel-changes-terminal " +
		"state-send-terminal-rejected list-filter-status stream-closed-on-terminal hook-state-agrees " +
		"stream-same-events equiv-result-same hook-attempted req-to-terminal"
	otherTime = "list-sorted list-filter-time"
	otherTask = "id-get-echo id-task-unique id-task-continued id-stream-task-consistent id-subscribe-match " +
		"id-task-echo-v01 hook-task-known list-duplicate-task " +
		"id-task-history-consistent stream-same-events stream-truncated state-terminal-immutable " +
		"push-list-complete id-event-echo-v01 hook-payload-0x hook-payload"
)

// notBecomes holds for tasks that would not be taken for something else without a status.
func notBecomes(s *spot) bool { return s.kind.operation != "hook" }

// waits holds for sends of which the client waits for the end.
func waits(s *spot) bool {
	body := string(s.x().Request.Body.Data)
	return !strings.Contains(body, `"returnImmediately":true`) && !strings.Contains(body, `"blocking"`)
}

func wrapped(name string) func(*spot) bool {
	return func(s *spot) bool {
		*s.o = *makeValue("{" + strconv.Quote(name) + ":" + s.o.text("") + "}")
		return true
	}
}

func unwrapped(name string) func(*spot) bool {
	return func(s *spot) bool {
		*s.o = *s.o.get(name)
		return true
	}
}
