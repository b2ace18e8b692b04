package replay_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/replay"
	"a2atap/replay/compare"
)

// taking is an agent whose answers contain their duration, and whose tasks have the given progress.
func taking(t testing.TB, states ...string) string {
	t.Helper()
	var asked atomic.Int64
	metadata := func(state, wrapper string) string {
		n := asked.Add(1)
		return fmt.Sprintf(wrapper, fmt.Sprintf(`{"id":"task-00000001","contextId":"ctx-00000001",`+
			`"status":{"state":"TASK_STATE_%s"},"metadata":{"took":"%dms","run":%d}}`, state, 100+n, n))
	}
	return startScript(t, script{
		"SendMessage": func(s *said) { s.result(metadata("SUBMITTED", `{"task":%s}`)) },
		"GetTask": func(s *said) {
			n := min(int(asked.Load()), len(states))
			s.result(metadata(states[n-1], "%s"))
		},
	})
}

// An expression replaces the recorded value.
func TestExpressions(t *testing.T) {
	t.Parallel()
	agent := taking(t, "COMPLETED")
	src := record(t, agent, func(tapURL string) {
		ask(t, tapURL, "SendMessage", `{"message":{"role":"ROLE_USER","messageId":"m1","parts":[{"text":"hello"}]},`+
			`"configuration":{"returnImmediately":true}}`)
		ask(t, tapURL, "GetTask", theID)
	})
	for _, test := range []struct {
		rules []string
		want  string
	}{
		{nil, "2 value "},
		{[]string{"/metadata/took=[0-9]+ms", "/metadata/run"}, ""},
		{[]string{"/metadata/took=[0-9]+ms", "SendMessage:/metadata/run"}, "2 value "},
		{[]string{"GetTask:/metadata/took=[0-9]ms", "/metadata/*"}, "2 match "},
		{[]string{"1.response.body#/result/task/metadata/took=[0-9]ms", "/metadata"}, "1 match "},
		{[]string{"/metadata/run=.*", "/metadata/took"}, ""},
		{[]string{"GetTask:status=404", "GetTask:header[Content-Type]=text/.*", "/metadata/*"}, "2 match 2 match "},
		{[]string{"/metadata/*", "/status/state=TASK_STATE_(SUBMITTED|COMPLETED)"}, ""},
		{[]string{"/metadata/*", "/status/state=TASK_STATE_(SUBMITTED|FAILED)"}, "2 match "},
		{[]string{"/metadata/*", "GetTask:/result/*=TASK_STATE_FAILED"}, "2 match "},
	} {
		r := within(t, src, agent, replay.Options{Profile: compare.Exact, Noise: mayDiffer(t, test.rules...)})
		if got := kinds(r); got != test.want || len(r.Notes) > 0 {
			t.Errorf("%q: found %q, want %q: %v %q", test.rules, got, test.want, r.Differences, r.Notes)
		}
	}
	r := within(t, src, agent, replay.Options{Noise: mayDiffer(t, "GetTask:/metadata/took=[0-9]", "/none")})
	if len(r.Differences) != 1 {
		t.Fatalf("%d differences, want 1: %v", len(r.Differences), r.Differences)
	}
	d, place := r.Differences[0], "2.response.body#/result/metadata/took"
	if d.Kind != compare.DifferentMatch || d.Place != place || d.Want != "[0-9] (rules:1)" ||
		!strings.HasSuffix(d.Message, "which does not match [0-9] (rules:1)") {
		t.Errorf("%+v, want one at %s that names the expression", d, place)
	}
	stale := "rules:2: the rule /none never applied: no compared answer has this place"
	if len(r.Notes) != 1 || r.Notes[0] != stale {
		t.Errorf("notes %q, want %q", r.Notes, stale)
	}
	if v := r.Verdict(); !strings.HasSuffix(v, "; compared with an expression: 1 place") {
		t.Errorf("the verdict is %q", v)
	}
}

// The replay polls until the state matches.
func TestExpressionOfStateIsPolledFor(t *testing.T) {
	t.Parallel()
	src := record(t, taking(t, "COMPLETED"), func(tapURL string) {
		ask(t, tapURL, "SendMessage", hello)
		ask(t, tapURL, "GetTask", theID)
	})
	agent := taking(t, "SUBMITTED", "WORKING", "WORKING", "FAILED")
	r := within(t, src, agent, replay.Options{Noise: mayDiffer(t, "GetTask:/status/state=.*(COMPLETED|FAILED)")})
	wantSame(t, r)
	expect.Equal(t, "the task was asked for", 4, r.Lines[1].Requests)
}

// Ids that may differ are still carried.
func TestIgnoredIdsAreCarried(t *testing.T) {
	t.Parallel()
	agent := func(id, other string) string {
		return startScript(t, script{
			"SendMessage": func(s *said) {
				s.result(`{"task":{"id":"` + id + `","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`)
			},
			"GetTask": func(s *said) {
				expect.Contains(t, "asked for", id, s.body)
				s.result(`{"id":"` + other + `","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}`)
			},
		})
	}
	src := record(t, agent("t-1", "t-1"), func(tapURL string) {
		ask(t, tapURL, "SendMessage", hello)
		ask(t, tapURL, "GetTask", `{"id":"t-1"}`)
	})
	to := agent("t-2", "t-3")
	expect.Equal(t, "", "2 id ", kinds(within(t, src, to, replay.Options{})))
	wantSame(t, within(t, src, to, replay.Options{Profile: compare.Exact, Noise: mayDiffer(t, "GetTask:/id",
		"SendMessage:/task")}))
}

// An agent may take its recorded time plus the tolerance.
func TestTimeTolerance(t *testing.T) {
	t.Parallel()
	agent := func(answer, event time.Duration) string {
		pause := func(d time.Duration) {
			select {
			case <-time.After(d):
			case <-t.Context().Done():
			}
		}
		return startScript(t, script{
			"SendMessage": func(s *said) { pause(answer); s.result(snapshot("COMPLETED")) },
			"SendStreamingMessage": func(s *said) {
				s.event(snapshot("SUBMITTED"), status("WORKING"))
				pause(event)
				s.event(status("COMPLETED"))
			},
		})
	}
	src := record(t, agent(0, 0), func(tapURL string) {
		ask(t, tapURL, "SendMessage", hello)
		ask(t, tapURL, "SendStreamingMessage", hello)
	})
	const late, tolerance = time.Second, 700 * time.Millisecond
	for _, test := range []struct {
		answer, event, tolerance time.Duration
		want                     string
	}{
		{late, late, 0, ""},
		{late, late, time.Hour, ""},
		{late, 0, tolerance, "1 time "},
		{0, late, tolerance, "2 time "},
		{late, late, tolerance, "1 time 2 time "},
	} {
		t.Run(test.want, func(t *testing.T) {
			t.Parallel()
			r := within(t, src, agent(test.answer, test.event), replay.Options{Late: test.tolerance})
			if got := kinds(r); got != test.want {
				t.Errorf("%+v: found %q: %v", test, got, r.Differences)
			}
			for _, d := range r.Differences {
				expect.Equal(t, "the place",
					map[uint64]string{1: "1.response", 2: "2.response.event[3]"}[d.Exchange], d.Place)
			}
		})
	}
}
