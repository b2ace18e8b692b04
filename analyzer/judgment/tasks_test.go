package judgment_test

import (
	"fmt"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// shows returns a call that shows a task in a state, as its last one.
func shows(op a2a.Operation, task string, state a2a.State, why string) summary.Summary {
	s := call(op, task)
	s.State, s.States = state, []a2a.State{state}
	if state != a2a.Completed && state.Terminal() {
		s.Ended = []summary.TaskEnd{{ID: task, State: state, Text: why}}
	}
	return s
}

// A task that ends badly counts once, wherever its end is shown, and only if it was worked on while it was recorded.
func TestTasksThatEndBadly(t *testing.T) {
	send, get, list := a2a.SendMessage, a2a.GetTask, a2a.ListTasks
	notified := shows(a2a.Webhook, "t1", a2a.Failed, "boom")
	notified.Call, notified.Link, notified.Status = false, analysis.Link{Client: "booker", Agent: "receiver"}, 200
	listed := shows(list, "t1", a2a.Failed, "boom")
	listed.Task, listed.State = "", a2a.NoState
	for _, test := range []struct {
		name  string
		calls []summary.Summary
		want  string
	}{
		{
			"it failed",
			[]summary.Summary{shows(send, "t1", a2a.Failed, "boom")},
			"1 of 1 task failed: failed 1; 1 of 1 call succeeded",
		},
		{
			"its end is shown twice",
			[]summary.Summary{shows(send, "t1", a2a.Failed, ""), shows(get, "t1", a2a.Failed, "")},
			"1 of 1 task failed: failed 1; 2 of 2 calls succeeded",
		},
		{
			"a poll shows it",
			[]summary.Summary{shows(get, "t1", a2a.Working, ""), shows(get, "t1", a2a.Rejected, "")},
			"1 of 1 task failed: rejected 1; 2 of 2 calls succeeded",
		},
		{"it had ended before", []summary.Summary{shows(get, "t1", a2a.Failed, "")}, "1 of 1 call succeeded"},
		{"history", []summary.Summary{listed}, "1 of 1 call succeeded"},
		{
			"a list shows it",
			[]summary.Summary{shows(send, "t1", a2a.Working, ""), listed},
			"1 of 1 task failed: failed 1; 2 of 2 calls succeeded",
		},
		{
			"a notification tells",
			[]summary.Summary{shows(send, "t1", a2a.Working, ""), notified},
			"1 of 1 task failed: failed 1; 1 of 1 call succeeded",
		},
		{
			"a notification tells before the answer does",
			[]summary.Summary{notified, shows(send, "t1", a2a.Working, "")},
			"1 of 1 task failed: failed 1; 1 of 1 call succeeded",
		},
		{
			"both tell",
			[]summary.Summary{notified, shows(send, "t1", a2a.Failed, ""), notified},
			"1 of 1 task failed: failed 1; 1 of 1 call succeeded",
		},
		{
			"a notification that was asked for",
			[]summary.Summary{call(a2a.CreatePushConfig, "t1"), notified},
			"1 of 1 task failed: failed 1; 1 of 1 call succeeded",
		},
		{
			"another one is done",
			[]summary.Summary{shows(send, "t1", a2a.Canceled, ""), shows(send, "t2", a2a.Completed, "")},
			"1 of 2 tasks failed: canceled 1; 2 of 2 calls succeeded",
		},
		{
			"it waits",
			[]summary.Summary{shows(send, "t1", a2a.InputRequired, ""), shows(send, "t2", a2a.AuthRequired, "")},
			"2 of 2 calls succeeded",
		},
	} {
		if sum, _ := take(test.calls...); sum.String() != test.want {
			t.Errorf("%s: %s, want %s", test.name, &sum, test.want)
		}
	}
}

// What is worked on is tasks, and messages that are answered with one: where at least half of that fails, the link does.
func TestTasksFailing(t *testing.T) {
	send := func(n int, state a2a.State) summary.Summary {
		if state == a2a.NoState {
			return call(a2a.SendMessage, "")
		}
		return shows(a2a.SendMessage, fmt.Sprint("t", n), state, fmt.Sprint("no seats on train ", n))
	}
	failed, done, message := a2a.Failed, a2a.Completed, a2a.NoState
	for _, test := range []struct {
		states []a2a.State
		want   judgment.Status
	}{
		{[]a2a.State{done, done}, judgment.StatusClean},
		{[]a2a.State{failed}, judgment.StatusFailing},
		{[]a2a.State{failed, done}, judgment.StatusFailing},
		{[]a2a.State{failed, done, done}, judgment.StatusNoViolation},
		{[]a2a.State{failed, message}, judgment.StatusFailing},
		{[]a2a.State{failed, message, message}, judgment.StatusNoViolation},
		{[]a2a.State{failed, a2a.Working, a2a.InputRequired}, judgment.StatusNoViolation},
		{[]a2a.State{done, a2a.Working}, judgment.StatusNoViolation},
		{[]a2a.State{done, a2a.InputRequired}, judgment.StatusNoViolation},
		{[]a2a.State{done, a2a.AuthRequired}, judgment.StatusNoViolation},
	} {
		r := &judgment.Result{}
		for i, state := range test.states {
			s := send(i, state)
			s.Seq = uint64(i + 1)
			r.Count(s)
		}
		if v := r.Verdict(analysis.Error); v.Status != test.want {
			t.Errorf("%v: %s, want %s", test.states, v, test.want)
		}
	}
	r := &judgment.Result{}
	r.Count(send(1, failed), send(2, failed), send(3, done))
	want := []string{"0 SendMessage task failed: no seats on train 1 (and 1 more)"}
	var got []string
	for _, f := range r.Verdict(analysis.Error).Tasks {
		got = append(got, f.String())
	}
	expect.Same(t, "failed tasks", want, got)
}

// If a task was at work when it was last shown, its outcome is unknown. Tasks from a list are not distinguished; a task
// that ended before a slower answer shows it at work has a known outcome.
func TestTasksLeftAtWork(t *testing.T) {
	send, get := a2a.SendMessage, a2a.GetTask
	working := shows(send, "t1", a2a.Working, "")
	listed := call(a2a.ListTasks, "")
	listed.Tasks, listed.States = []string{"t1", "t2"}, []a2a.State{a2a.Working, a2a.Completed}
	notified := shows(a2a.Webhook, "t1", a2a.Completed, "")
	notified.Call, notified.Link, notified.Status = false, analysis.Link{Client: "booker", Agent: "receiver"}, 200
	for _, test := range []struct {
		name  string
		calls []summary.Summary
		want  string
	}{
		{
			"left",
			[]summary.Summary{working, shows(send, "t2", a2a.Submitted, "")},
			"not seen: the end of 2 tasks: active when last shown",
		},
		{
			"polled",
			[]summary.Summary{working, shows(get, "t1", a2a.Working, "")},
			"not seen: the end of 1 task: active when last shown",
		},
		{"done", []summary.Summary{working, shows(get, "t1", a2a.Completed, "")}, ""},
		{
			"done before",
			[]summary.Summary{working, shows(get, "t1", a2a.Completed, ""), shows(get, "t1", a2a.Working, "")},
			"",
		},
		{
			"waits for input",
			[]summary.Summary{working, shows(get, "t1", a2a.InputRequired, "")},
			"not seen: the end of 1 task: waiting for input when last shown, which never came",
		},
		{
			"waits for logins and input",
			[]summary.Summary{
				shows(send, "t1", a2a.AuthRequired, ""), shows(send, "t2", a2a.AuthRequired, ""),
				shows(a2a.SendStreamingMessage, "t3", a2a.InputRequired, ""),
			},
			"not seen: the end of 1 task: waiting for input when last shown, which never came, " +
				"the end of 2 tasks: waiting for a login when last shown, which never came",
		},
		{
			"polled in vain",
			[]summary.Summary{shows(send, "t1", a2a.InputRequired, ""), failing(call(get, "t1"), a2a.InternalError, "boom")},
			"not seen: the end of 1 task: waiting for input when last shown, which never came",
		},
		{
			"given, and refused",
			[]summary.Summary{shows(send, "t1", a2a.InputRequired, ""), shows(send, "t1", a2a.NoState, "")},
			"",
		},
		{
			"given",
			[]summary.Summary{shows(send, "t1", a2a.AuthRequired, ""), shows(get, "t1", a2a.Completed, "")},
			"",
		},
		{
			"given, and at work",
			[]summary.Summary{shows(send, "t1", a2a.InputRequired, ""), shows(send, "t1", a2a.Working, "")},
			"not seen: the end of 1 task: active when last shown",
		},
		{
			"canceled",
			[]summary.Summary{shows(send, "t1", a2a.InputRequired, ""), shows(a2a.CancelTask, "t1", a2a.Canceled, "")},
			"",
		},
		{"listed", []summary.Summary{working, listed}, ""},
		{"notified", []summary.Summary{working, notified}, ""},
		{"notified before", []summary.Summary{notified, working}, ""},
	} {
		r := &judgment.Result{}
		for i := range test.calls {
			test.calls[i].Seq = uint64(i + 1)
		}
		r.Count(test.calls...)
		expect.Equal(t, test.name, test.want, r.Verdict(analysis.Error).Seen())
	}
}

// Tasks of which a baseline accepts how they ended make nothing failing by themselves, and are counted.
func TestAcceptedTasks(t *testing.T) {
	r := &judgment.Result{}
	r.Count(shows(a2a.SendMessage, "t1", a2a.Failed, "boom"), shows(a2a.SendMessage, "t2", a2a.Rejected, "no"))
	expect.Equal(t, "accepted", 1, r.Accept(func(f *judgment.FailedCalls) bool { return f.Text == "boom" }))
	v := r.Verdict(analysis.Error)
	if v.Status != judgment.StatusFailing || len(v.Tasks) != 1 || len(v.Known) != 1 || v.Calls.New() != 1 {
		t.Errorf("%s, %d new: %v, known %v", v, v.Calls.New(), v.Tasks, v.Known)
	}
	r.Accept(func(*judgment.FailedCalls) bool { return true })
	want := "no violation: 2 of 2 tasks failed: failed 1, rejected 1, as is accepted; 2 of 2 calls succeeded; 2 exchanges"
	if v := r.Verdict(analysis.Error); v.String() != want {
		t.Errorf("got  %s\nwant %s", v, want)
	}
}

// A client that repeats a request about a task and always gets the same refusal has not been refused but failed, unless
// the request succeeds in the end.
func TestRefusedInVain(t *testing.T) {
	get := func(task string) summary.Summary {
		return failing(call(a2a.GetTask, task), a2a.TaskNotFound, "no "+task)
	}
	counted := func(n int) summary.Summary {
		return failing(call(a2a.GetTask, "t9"), a2a.TaskNotFound, fmt.Sprint("no such task, request ", n))
	}
	cancel := func() summary.Summary {
		return failing(call(a2a.CancelTask, "t1"), a2a.TaskNotCancelable, "it has ended")
	}
	other := failing(call(a2a.GetTask, "t9"), a2a.TaskNotFound, "gone")
	send := shows(a2a.SendMessage, "t1", a2a.Completed, "")
	there := shows(a2a.SendMessage, "t9", a2a.Completed, "")
	batch := call(a2a.NoOperation, "")
	for range 3 {
		batch.Batch = append(batch.Batch, summary.Member{
			Asked: "GetTask", Operation: a2a.GetTask, Task: "t9", Error: a2a.TaskNotFound,
			Outcome: analysis.Outcome{Failure: "TaskNotFound"},
		})
	}
	for _, test := range []struct {
		name            string
		calls           []summary.Summary
		failed, refused int
	}{
		{"twice", []summary.Summary{send, get("t9"), get("t9")}, 0, 2},
		{"three times", []summary.Summary{send, get("t9"), get("t9"), get("t9")}, 3, 0},
		{"counted by the agent", []summary.Summary{send, counted(1), counted(2), counted(3)}, 3, 0},
		{"of three tasks", []summary.Summary{send, get("t7"), get("t8"), get("t9")}, 0, 3},
		{"with another answer", []summary.Summary{send, get("t9"), get("t9"), other}, 0, 3},
		{"until it is there", []summary.Summary{send, get("t9"), get("t9"), get("t9"), there, call(a2a.GetTask, "t9")}, 0, 3},
		{"and it is there after all", []summary.Summary{send, get("t9"), get("t9"), get("t9"), there}, 0, 3},
		{"canceled in vain", []summary.Summary{send, cancel(), cancel(), cancel(), cancel()}, 4, 0},
		{"canceled at last", []summary.Summary{send, cancel(), cancel(), cancel(), call(a2a.CancelTask, "t1")}, 0, 3},
		{"in a batch", []summary.Summary{send, batch}, 3, 0},
		{"and something else", []summary.Summary{send, get("t9"), get("t9"), get("t9"), cancel()}, 3, 1},
	} {
		sum, words := take(test.calls...)
		if sum.Failed != test.failed || sum.Refused != test.refused {
			t.Errorf("%s: %d failed and %d refused, want %d and %d: %q", test.name, sum.Failed, sum.Refused, test.failed,
				test.refused, words)
		}
	}
}

// Refusals are reported during a recording.
func TestRefusalsOfALiveAccount(t *testing.T) {
	var a judgment.Account
	for range 2 {
		s := failing(call(a2a.GetTask, "t9"), a2a.TaskNotFound, "")
		s.Life = capture.StateClosed
		a.Take(&s)
		if list := a.Failed(); len(list) != 1 || !list[0].Refused {
			t.Errorf("failed are %v", list)
		}
	}
	a.Close()
	if list := a.Failed(); len(list) != 1 || list[0].Count != 2 {
		t.Errorf("failed are %v", list)
	}
}

// A call that is refused for its credentials, and succeeds when the same client sends others, is no failure: that is how
// clients learn what an agent wants, and that a token has expired.
func TestChallenges(t *testing.T) {
	refused := func(op a2a.Operation, status int, failure string) summary.Summary {
		s := call(op, "")
		s.Tasks, s.Text, s.Status = nil, "hi", status
		s.Outcome = analysis.Outcome{Failure: failure}
		return s
	}
	sent := func(op a2a.Operation) summary.Summary {
		s := call(op, "t1")
		s.Text = "hi"
		return s
	}
	send, stream := a2a.SendMessage, a2a.SendStreamingMessage
	no := refused(send, 401, "HTTP 401")
	another := sent(send)
	another.Text = "another message"
	stranger := sent(send)
	stranger.Link.Client = "stranger"
	ofTask := func(s summary.Summary) summary.Summary {
		s.Task, s.Text = "t1", ""
		return s
	}
	words := refused(send, 200, "code -32000")
	words.Credentials = summary.CredentialsMissing
	named := refused(send, 200, "AuthenticationRequired")
	named.Errors = []summary.ErrorSeen{{Name: a2a.AuthenticationRequired}}
	for _, test := range []struct {
		name            string
		calls           []summary.Summary
		failed, refused int
	}{
		{"401, then success", []summary.Summary{no, sent(send)}, 0, 1},
		{"401 after success", []summary.Summary{sent(send), no}, 1, 0},
		{"a token expires", []summary.Summary{sent(send), no, sent(send)}, 0, 1},
		{"twice, then success", []summary.Summary{no, no, sent(send)}, 0, 2},
		{"three times, then success", []summary.Summary{no, no, no, sent(send)}, 3, 0},
		{"the retry fails, too", []summary.Summary{no, no}, 2, 0},
		{"the retry fails otherwise", []summary.Summary{no, refused(send, 500, "HTTP 500")}, 2, 0},
		{"another operation succeeds", []summary.Summary{no, sent(stream)}, 1, 0},
		{"another message succeeds", []summary.Summary{no, another}, 1, 0},
		{"another client succeeds", []summary.Summary{no, stranger}, 1, 0},
		{"403, then success", []summary.Summary{refused(send, 403, "HTTP 403"), sent(send)}, 0, 1},
		{"407, then success", []summary.Summary{refused(send, 407, "HTTP 407"), sent(send)}, 0, 1},
		{"500, then success", []summary.Summary{refused(send, 500, "HTTP 500"), sent(send)}, 1, 0},
		{"a stream", []summary.Summary{refused(stream, 401, "HTTP 401"), sent(stream)}, 0, 1},
		{"of a task", []summary.Summary{ofTask(refused(a2a.GetTask, 401, "HTTP 401")), call(a2a.GetTask, "t1")}, 0, 1},
		{"of another task", []summary.Summary{ofTask(refused(a2a.GetTask, 401, "HTTP 401")), call(a2a.GetTask, "t2")}, 1, 0},
		{"gRPC", []summary.Summary{refused(send, 200, "UNAUTHENTICATED"), sent(send)}, 0, 1},
		{"gRPC, not permitted", []summary.Summary{refused(send, 200, "PERMISSION_DENIED"), sent(send)}, 0, 1},
		{"JSON-RPC, by name", []summary.Summary{named, sent(send)}, 0, 1},
		{"JSON-RPC, by what it says", []summary.Summary{words, sent(send)}, 0, 1},
	} {
		sum, list := take(test.calls...)
		if sum.Failed != test.failed || sum.Refused != test.refused {
			t.Errorf("%s: %d failed and %d refused, want %d and %d: %q", test.name, sum.Failed, sum.Refused, test.failed,
				test.refused, list)
		}
		failed, refused := 0, 0
		for _, n := range sum.Failures {
			failed += n
		}
		for _, n := range sum.Refusals {
			refused += n
		}
		if failed != test.failed || refused != test.refused {
			t.Errorf("%s: by error %d failed and %d refused", test.name, failed, refused)
		}
	}
}
