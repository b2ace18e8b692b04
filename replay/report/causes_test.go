package report_test

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

// said formats causes for the tests below: a line for each, and indented ones for its consequences.
func said(r *report.Report) string {
	var b strings.Builder
	group := func(g *report.Group) {
		fmt.Fprintf(&b, "%s %s", g.Differences[0].Kind, g.Operation)
		for _, d := range g.Differences {
			fmt.Fprintf(&b, " %d/%d", d.Exchange, d.Live)
		}
		b.WriteByte('\n')
	}
	for _, c := range r.Causes() {
		group(&c.Group)
		for i := range c.Consequences {
			b.WriteString("  ")
			group(&c.Consequences[i])
		}
		for _, l := range c.NotSent {
			fmt.Fprintf(&b, "  not sent %d\n", l.Exchange)
		}
	}
	return b.String()
}

func sent(n uint64, operation, task string, uses ...uint64) report.Line {
	return report.Line{
		Exchange: n, Live: n, Agent: "booker", Operation: operation, Task: task, Status: report.Differing, Uses: uses,
	}
}

// spoken is a message sent in a dialect.
func spoken(n uint64, in a2a.Dialect) report.Line {
	l := sent(n, "SendMessage", "")
	l.Spoken = compare.SpokenIn(a2a.JSONRPC, a2a.Of(in))
	return l
}

func differing(n uint64, kind compare.Kind, was, now string, e compare.Effect) compare.Difference {
	return compare.Difference{Kind: kind, Exchange: n, Live: n, Want: was, Got: now, Effect: e}
}

func TestCauses(t *testing.T) {
	t.Parallel()
	failed := compare.Effect{Task: "t-1", Lasting: true}
	tests := []struct {
		name        string
		lines       []report.Line
		differences []compare.Difference
		want        string
	}{
		{
			"a task that failed explains what is said of it later, and nothing of another",
			[]report.Line{sent(1, "SendMessage", ""), sent(2, "GetTask", "t-1"), sent(3, "GetTask", "t-2")},
			[]compare.Difference{
				differing(1, compare.DifferentState, "completed", "failed", failed),
				differing(2, compare.DifferentState, "completed", "failed", compare.Effect{Lasting: true}),
				differing(3, compare.DifferentState, "completed", "canceled", compare.Effect{Lasting: true}),
			},
			"state SendMessage 1/1\n  state GetTask 2/2\nstate GetTask 3/3\n",
		},
		{
			"a task that failed explains no type, no part and no id",
			[]report.Line{sent(1, "SendMessage", ""), sent(2, "GetTask", "t-1")},
			[]compare.Difference{
				differing(1, compare.DifferentState, "completed", "failed", failed),
				differing(2, compare.DifferentType, `"1"`, "1", compare.Effect{}),
				differing(2, compare.DifferentID, "a", "b", compare.Effect{}),
			},
			"state SendMessage 1/1\ntype GetTask 2/2\nid GetTask 2/2\n",
		},
		{
			"a task of another agent may have the same id",
			[]report.Line{
				sent(1, "SendMessage", ""), {Exchange: 2, Live: 2, Agent: "planner", Operation: "GetTask", Task: "t-1"},
			},
			[]compare.Difference{
				differing(1, compare.DifferentState, "completed", "failed", failed),
				differing(2, compare.DifferentState, "completed", "canceled", compare.Effect{}),
			},
			"state SendMessage 1/1\nstate GetTask 2/2\n",
		},
		{
			"what was seen before is no consequence",
			[]report.Line{sent(1, "GetTask", "t-1"), sent(2, "CancelTask", "t-1")},
			[]compare.Difference{
				differing(1, compare.DifferentEvent, "", "x", compare.Effect{}),
				differing(2, compare.DifferentOutcome, "Task canceled", "error X", compare.Effect{Lasting: true}),
			},
			"event GetTask 1/1\noutcome CancelTask 2/2\n",
		},
		{
			"an answer that names nothing explains what was not sent for want of it, and so on",
			[]report.Line{
				sent(1, "SendMessage", ""),
				{Exchange: 2, Status: report.LeftOut, Lacks: 1},
				{Exchange: 3, Status: report.LeftOut, Lacks: 2},
				{Exchange: 4, Status: report.LeftOut, Why: "no answer"},
				sent(5, "ListTasks", "", 1),
			},
			[]compare.Difference{
				differing(1, compare.DifferentOutcome, "Task completed", "error X", compare.Effect{NoAnswer: true}),
				differing(5, compare.DifferentError, "error Y", "error Z", compare.Effect{}),
			},
			"outcome SendMessage 1/1\n  error ListTasks 5/5\n  not sent 2\n  not sent 3\n",
		},
		{
			"after an answer came as an error, its events are missing",
			[]report.Line{sent(1, "SendStreamingMessage", "")},
			[]compare.Difference{
				differing(1, compare.DifferentOutcome, "Task submitted", "error X", compare.Effect{NoAnswer: true}),
				differing(1, compare.DifferentEvent, "TaskStatusUpdateEvent completed", "", compare.Effect{Lasting: true}),
				differing(1, compare.DifferentEnd, "complete", "cut off", compare.Effect{}),
			},
			"outcome SendStreamingMessage 1/1\n  event SendStreamingMessage 1/1\nend SendStreamingMessage 1/1\n",
		},
		{
			"a card that no longer offers streams explains their refusal, and no other",
			[]report.Line{
				sent(1, "GetAgentCard", ""), sent(2, "SendStreamingMessage", ""), sent(3, "SendMessage", ""),
				sent(4, "GetAgentCard", ""),
			},
			[]compare.Difference{
				differing(1, compare.DifferentContent, "", "", compare.Effect{Withdrawn: compare.Streaming}),
				differing(2, compare.DifferentOutcome, "Task", "error UnsupportedOperationError",
					compare.Effect{NoAnswer: true}),
				differing(3, compare.DifferentOutcome, "Task", "error UnsupportedOperationError",
					compare.Effect{NoAnswer: true}),
				differing(4, compare.DifferentContent, "", "", compare.Effect{Withdrawn: compare.Streaming}),
			},
			"content GetAgentCard 1/1 4/4\n  outcome SendStreamingMessage 2/2\noutcome SendMessage 3/3\n",
		},
		{
			"a card that no longer offers a version explains that it is not understood, and no failure of another kind",
			[]report.Line{
				sent(1, "GetAgentCard", ""), spoken(2, a2a.V0_3), spoken(3, a2a.V0_3), spoken(4, a2a.V1_0), spoken(5, a2a.V0_3),
			},
			[]compare.Difference{
				differing(1, compare.DifferentContent, "", "", compare.Effect{Gone: compare.SpokenIn(a2a.JSONRPC, a2a.Of(a2a.V0_3))}),
				differing(2, compare.DifferentOutcome, "Task", "error MethodNotFoundError", compare.Effect{NoAnswer: true}),
				differing(3, compare.DifferentError, "error TaskNotFoundError", "error HTTP 404", compare.Effect{}),
				differing(4, compare.DifferentOutcome, "Task", "error VersionNotSupportedError", compare.Effect{NoAnswer: true}),
				differing(5, compare.DifferentOutcome, "Task", "error InternalError", compare.Effect{NoAnswer: true}),
			},
			"content GetAgentCard 1/1\n  outcome SendMessage 2/2\n  error SendMessage 3/3\noutcome SendMessage 4/4\n" +
				"outcome SendMessage 5/5\n",
		},
		{
			"push configs that were not made explain notifications, and no state",
			[]report.Line{sent(1, "CreateTaskPushNotificationConfig", "t-1"), sent(2, "GetTask", "t-1")},
			[]compare.Difference{
				differing(1, compare.DifferentOutcome, "TaskPushNotificationConfig", "error X", compare.Effect{Configs: true}),
				differing(2, compare.DifferentState, "completed", "failed", compare.Effect{}),
				{Kind: compare.DifferentDelivery, Want: "2", Got: "0", Effect: compare.Effect{Task: "t-1", Agent: "booker"}},
			},
			"outcome CreateTaskPushNotificationConfig 1/1\n  delivery  0/0\nstate GetTask 2/2\n",
		},
		{
			"a broken rule goes with what differs in the same value, and is a cause of its own elsewhere",
			[]report.Line{sent(1, "SendMessage", "")},
			[]compare.Difference{
				{
					Kind: compare.DifferentType, Exchange: 1, Live: 1, LivePlace: "1.response.body#/result/task/status",
					Changes: []compare.Change{{Pointer: "/result/task/status/state", Was: `"a"`, Now: "1"}},
				},
				{Kind: compare.DifferentFinding, Rule: "r", Live: 1, Place: "1.response.body#/result/task/status/state"},
				{Kind: compare.DifferentFinding, Rule: "s", Live: 1, Place: "1.response.body#/result/task/status/timestamp"},
			},
			"type SendMessage 1/1\n  finding SendMessage 0/1\nfinding SendMessage 0/1\n",
		},
		{
			"the same in many exchanges is one, whatever the ids, indices and times; other values are another",
			[]report.Line{sent(1, "GetTask", "t-1"), sent(2, "GetTask", "t-2"), sent(3, "GetTask", "t-3")},
			[]compare.Difference{
				valueOf(1, "/tasks/0/x", `"t-1 at 2026-01-01T00:00:00Z"`, `"t-1"`),
				valueOf(2, "/tasks/7/x", `"t-2 at 2026-01-02T00:00:00Z"`, `"t-2"`),
				valueOf(3, "/tasks/7/x", `"t-3 at 2026-01-02T00:00:00Z"`, `"other"`),
			},
			"value GetTask 1/1 2/2\nvalue GetTask 3/3\n",
		},
		{
			"of two captures, what the client no longer asks about a task that was not made",
			[]report.Line{
				sent(1, "SendMessage", ""),
				{Exchange: 2, Agent: "booker", Operation: "CancelTask", Task: "t-1", Status: report.Missing},
				{Exchange: 3, Agent: "booker", Operation: "CancelTask", Task: "t-2", Status: report.Missing},
			},
			[]compare.Difference{
				differing(1, compare.DifferentOutcome, "Task", "Message", failed),
				{Kind: compare.MissingExchange, Side: compare.Client, Exchange: 2},
				{Kind: compare.MissingExchange, Side: compare.Client, Exchange: 3},
			},
			"outcome SendMessage 1/1\n  missing CancelTask 2/0\nmissing CancelTask 3/0\n",
		},
		{
			"an agent that answers nothing is one cause, whatever was asked",
			[]report.Line{sent(1, "GetAgentCard", ""), sent(2, "SendMessage", ""), sent(3, "ListTasks", "")},
			[]compare.Difference{
				differing(1, compare.DifferentOutcome, "AgentCard", "error HTTP 503", compare.Effect{NoAnswer: true}),
				differing(2, compare.DifferentOutcome, "Task completed", "error HTTP 503", compare.Effect{NoAnswer: true}),
				differing(3, compare.DifferentOutcome, "TaskList", "error InternalError", compare.Effect{NoAnswer: true}),
			},
			"outcome requests 1/1 2/2\noutcome ListTasks 3/3\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &report.Report{Sent: len(test.lines), Lines: test.lines, Differences: test.differences}
			expect.Same(t, "causes", test.want, said(r))
		})
	}
}

func valueOf(n uint64, pointer, was, now string) compare.Difference {
	return compare.Difference{
		Kind: compare.DifferentValue, Exchange: n, Live: n, Place: fmt.Sprintf("%d.response.body#%s", n, pointer),
		Want: was, Got: now, Changes: []compare.Change{{Pointer: pointer, Was: was, Now: now}},
	}
}

// Long values are shown around their difference. Both omit the same number of characters, and show it.
func TestLongValues(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("the same words ", 100)
	text := func(was, now string) string {
		r := &report.Report{Sent: 1, Lines: []report.Line{sent(1, "GetTask", "")}, Differences: []compare.Difference{{
			Kind: compare.DifferentValue, Exchange: 1, Live: 1,
			Changes: []compare.Change{compare.NewChange("/x", []byte(was), []byte(now))},
		}}}
		var b strings.Builder
		must.Do(t, report.Text(&b, r))
		_, values, _ := strings.Cut(b.String(), "/x\n")
		return values
	}
	for _, test := range []struct{ name, was, now, want string }{
		{"whole", `"a b"`, `"a c"`, "     - \"a b\"\n     + \"a c\"\n"},
		{"spaces between tokens", `{ "a": [1, 2] }`, "", "     - {\"a\":[1,2]}\n"},
		{
			"aligned", `"` + many + `Berlin ` + many + `"`, `"` + many + `Bern ` + many + `"`,
			"     - (1471 characters) …the same words the same words Berlin the same words the same words… (1472 characters)\n" +
				"     + (1471 characters) …the same words the same words Bern the same words the same words… (1472 characters)\n",
		},
		{
			"a long one alone", `"` + strings.Repeat("x", 1000) + `"`, "",
			"     - \"" + strings.Repeat("x", 399) + "… (602 characters more)\n",
		},
		{
			"a very long one alone", `"` + strings.Repeat("x", 10000) + `"`, "",
			"     - \"" + strings.Repeat("x", 399) + "… (at least 3729 characters more)\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			expect.Same(t, "", test.want, text(test.was, test.now))
		})
	}
}

// A member missing from an object is one cause in all answers with the object. For another object, or the client's
// requests, it is a different cause.
func TestCausesInObjects(t *testing.T) {
	t.Parallel()
	lacks := func(n uint64, side, pointer string) compare.Difference {
		return compare.Difference{
			Kind: compare.DifferentMember, Side: side, Exchange: n, Live: n, Message: `member "metadata" is missing`,
			Place: fmt.Sprintf("%d.response.body#%s", n, pointer),
		}
	}
	r := &report.Report{
		Lines: []report.Line{
			sent(1, "SendMessage", ""), sent(2, "GetTask", "t-1"), sent(3, "SendMessage", ""), sent(4, "GetAgentCard", ""),
			sent(5, "GetTask", "t-1"), sent(6, "ListTasks", ""),
		},
		Differences: []compare.Difference{
			lacks(1, "", "/result/task/metadata"), lacks(2, "", "/result/metadata"), lacks(3, "", "/result/message/metadata"),
			lacks(4, "", "/metadata"), lacks(5, compare.Client, "/result/metadata"), lacks(6, "", "/result/tasks/3/metadata"),
		},
	}
	want := "member requests 1/1 2/2 6/6\nmember SendMessage 3/3\nmember GetAgentCard 4/4\nmember GetTask 5/5\n"
	expect.Same(t, "causes", want, said(r))
}
