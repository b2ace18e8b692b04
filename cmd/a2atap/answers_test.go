package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A said is an exchange of a transcript: what was asked and answered, and what HTTP cannot say.
type said struct{ request, answer, meta string }

func transcriptOf(list ...said) string {
	var b strings.Builder
	for i, x := range list {
		meta := x.meta
		if !strings.Contains(meta, "client: ") {
			meta = "client: planner\n" + meta
		}
		fmt.Fprintf(&b, "-- %d.request --\n%s", i+1, numbered(x.request, i+1))
		fmt.Fprintf(&b, "-- %d.response --\n%s", i+1, numbered(x.answer, i+1))
		fmt.Fprintf(&b, "-- %d.meta --\n%s", i+1, meta)
	}
	return b.String()
}

// check reports the outcome of valid sessions, and of some invalid ones.
func TestWhatCameOfIt(t *testing.T) {
	task := func(state, more string) string {
		return worldResult(`{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_` + state + `"` + more + `}}}`)
	}
	why := func(text string) string {
		return `,"message":{"messageId":"a1","role":"ROLE_AGENT","parts":[{"text":"` + text + `"}]}`
	}
	got := func(state, more string) string {
		return worldResult(`{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_` + state + `"` + more + `}}`)
	}
	rpc := func(method, params string) string {
		return "POST /rpc HTTP/1.1\nHost: booker.example:9001\nContent-Type: application/json\nA2A-Version: 1.0\n\n" +
			`{"jsonrpc":"2.0","id":"r%[1]d","method":"` + method + `","params":` + params + "}\n"
	}
	get, cancel := rpc("GetTask", `{"id":"t1"}`), rpc("CancelTask", `{"id":"t1"}`)
	send := rpc("SendMessage", `{"message":{"messageId":"m%[1]d","role":"ROLE_USER","parts":[{"text":"Two tickets"}]},`+
		`"configuration":{"returnImmediately":true}}`)
	more := rpc("SendMessage", `{"message":{"messageId":"m%[1]d","taskId":"t1","contextId":"c1","role":"ROLE_USER",`+
		`"parts":[{"text":"Forget it"}]}}`)
	push := rpc("SendMessage", `{"message":{"messageId":"m%[1]d","role":"ROLE_USER","parts":[{"text":"Two tickets"}]},`+
		`"configuration":{"returnImmediately":true,"taskPushNotificationConfig":{"url":"http://planner.example:9002/hook"}}}`)
	notice := "POST /hook HTTP/1.1\nHost: planner.example:9002\nContent-Type: application/a2a+json\n\n" +
		`{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_FAILED"` + why("boom") + "}}}\n"
	toHook := "client: booker how webhook\nagent: planner.example:9002 url http://planner.example:9002\n"
	atBooker := "client: planner how user-agent\nagent: booker url http://booker.example:9001\n"
	gone := "HTTP/1.1 200 OK\nContent-Type: application/json\n\n" +
		`{"jsonrpc":"2.0","id":"r%[1]d","error":{"code":-32001,"message":"no task t1"}}` + "\n"
	s := newShell(t)
	for _, test := range []struct {
		name    string
		list    []said
		flags   string
		exit    int
		verdict string
		report  []string // lines, or parts of them
	}{
		{
			"canceled as was asked",
			[]said{{send, task("WORKING", ""), ""}, {cancel, got("CANCELED", ""), ""}, {get, got("CANCELED", ""), ""}},
			"", 0, "clean", nil,
		},
		{
			"canceled upon another message, whose words nobody here understands",
			[]said{{send, task("INPUT_REQUIRED", ""), ""}, {more, task("CANCELED", ""), ""}},
			"", 0, "clean", nil,
		},
		{
			"canceled by the agent",
			[]said{{send, task("WORKING", ""), ""}, {get, got("CANCELED", why("out of time")), ""}},
			"", 1, "failing: 1 of 1 task failed: canceled 1; 2 of 2 calls succeeded",
			[]string{"failed tasks\n  2 GetTask task canceled: out of time (planner → agent)"},
		},
		{
			"failed, and then it worked, which is half",
			[]said{{send, task("FAILED", why("no seats")), ""}, {send, worldDone, ""}},
			"", 1, "failing: 1 of 2 tasks failed: failed 1",
			[]string{"  1 SendMessage task failed: no seats"},
		},
		{
			"a third of the tasks",
			[]said{{send, task("FAILED", why("no seats")), ""}, {send, worldDone, ""}, {send, worldDone, ""}},
			"", 0, "no violation: 1 of 3 tasks failed: failed 1",
			[]string{"  1 SendMessage task failed: no seats"},
		},
		{
			"a third of the tasks, for a gate that wants none",
			[]said{{send, task("REJECTED", ""), ""}, {send, worldDone, ""}, {send, worldDone, ""}},
			" --fail-on error,calls", 1, "no violation: 1 of 3 tasks failed: rejected 1",
			[]string{"  1 SendMessage task rejected ("},
		},
		{
			"failed, for a gate that lets all through",
			[]said{{send, task("FAILED", ""), ""}},
			" --fail-on never", 0, "failing", nil,
		},
		{
			"a notification tells that it failed",
			[]said{{push, task("WORKING", ""), atBooker}, {notice, "HTTP/1.1 200 OK\nContent-Length: 0\n\n", toHook}},
			"", 1, "failing: 1 of 1 task failed: failed 1; 1 of 1 call succeeded",
			[]string{"  2 PushNotification task failed: boom (planner → booker)"},
		},
		{
			"a webhook that takes no notification says why",
			[]said{
				{push, task("WORKING", ""), atBooker},
				{notice, "HTTP/1.1 403 Forbidden\nContent-Type: text/plain\n\nno token\n", toHook},
				{get, got("FAILED", ""), atBooker},
			},
			"", 1, "failing: ",
			[]string{"HTTP 403: no token (booker → planner.example:9002)"},
		},
		{
			"a webhook that takes no notification, and says nothing",
			[]said{
				{push, task("WORKING", ""), atBooker},
				{notice, "HTTP/1.1 503 Service Unavailable\nContent-Length: 0\n\n", toHook},
				{get, got("FAILED", ""), atBooker},
			},
			"", 1, "failing: ",
			[]string{"HTTP 503: Service Unavailable (booker → planner.example:9002)"},
		},
		{
			"a client that asks until the task is there",
			[]said{{get, gone, ""}, {get, gone, ""}, {get, gone, ""}, {get, gone, ""}, {get, got("INPUT_REQUIRED", ""), ""}},
			"", 0, "warnings: 0 errors, 4 warnings",
			[]string{"refused calls\n  1 GetTask TaskNotFound: no task t1 (and 3 more)"},
		},
		{
			"a client that asks for ever for what is not there",
			[]said{
				{send, worldDone, ""},
				{send, worldDone, ""},
				{send, worldDone, ""},
				{send, worldDone, ""},
				{get, gone, ""},
				{get, gone, ""},
				{get, gone, ""},
			},
			"", 0, "warnings: 0 errors, 3 warnings, 1 note in 7 exchanges, 7 checked; 3 of 7 calls failed: TaskNotFound 3",
			[]string{"failed calls\n  5 GetTask TaskNotFound: no task t1 (and 2 more)"},
		},
		{
			"an answer with the id of another call",
			[]said{{send, strings.Replace(worldDone, `"r%[1]d"`, "7", 1), ""}, {send, worldDone, ""}, {send, worldDone, ""}},
			"", 1, "findings: 1 error",
			[]string{`  1 SendMessage answer to another call: answered with id 7 instead of "r1"`},
		},
	} {
		if err := os.WriteFile("s.txtar", []byte(transcriptOf(test.list...)), 0o644); err != nil {
			t.Fatal(err)
		}
		out, errs, code := s.execute("a2atap check s.txtar" + test.flags)
		if code != test.exit || !strings.HasPrefix(errs, "check: "+test.verdict) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s%s", test.name, code, test.exit, test.verdict, errs, out)
		}
		for _, line := range test.report {
			if !strings.Contains(out, line) {
				t.Errorf("%s: no %q in\n%s", test.name, line, out)
			}
		}
	}
}
