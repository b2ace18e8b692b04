package otlp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

var begin = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func answered(seq uint64, agent, task string, state a2a.State) *summary.Summary {
	return &summary.Summary{
		Seq: seq, Link: analysis.Link{Client: "c", Agent: agent}, Call: true, Asked: "SendMessage",
		Started: begin.Add(time.Duration(seq) * time.Second), Took: time.Second, Task: task, State: state,
		Events: capture.NotKnown,
	}
}

func streamed(seq uint64, agent, task string, state a2a.State) *summary.Event {
	return &summary.Event{
		Seq: seq, Link: analysis.Link{Client: "c", Agent: agent}, At: begin.Add(time.Duration(seq) * time.Second),
		Task: task, State: state,
	}
}

func TestTasks(t *testing.T) {
	tasks := newTasks()
	var over []string
	note := func(task *Task) {
		if task == nil {
			return
		}
		var states []string
		for _, s := range task.States {
			states = append(states, s.State.String())
		}
		over = append(over, fmt.Sprintf("%s of %s by %d, %v: %s", task.ID, task.Agent, task.Exchange,
			task.Last.Sub(begin), strings.Join(states, " ")))
	}
	stream := answered(1, "a", "t1", a2a.Completed)
	stream.Events = 3
	notified := answered(6, "receiver", "t2", a2a.Completed)
	notified.Link = analysis.Link{Client: "a", Agent: "receiver"}
	notified.Call, notified.Operation = false, a2a.Webhook
	unknown := answered(8, "a", "t4", a2a.NoState)

	note(tasks.Event(streamed(1, "a", "t1", a2a.Submitted)))
	note(tasks.Ended(answered(2, "b", "t1", a2a.Failed))) // another task of that id
	note(tasks.Event(streamed(1, "a", "t1", a2a.NoState)))
	note(tasks.Event(streamed(3, "a", "t1", a2a.Completed)))
	note(tasks.Event(streamed(3, "a", "t1", a2a.Working))) // after its end
	note(tasks.Ended(stream))
	note(tasks.Ended(answered(5, "a", "t2", a2a.Working)))
	note(tasks.Ended(notified))
	note(tasks.Ended(answered(7, "a", "t3", a2a.InputRequired)))
	note(tasks.Ended(unknown))
	for task := range tasks.Rest() {
		note(task)
	}
	want := `t1 of b by 2, 3s: failed
t1 of a by 1, 3s: submitted completed
t2 of a by 5, 7s: working completed
t3 of a by 7, 8s: input-required`
	if got := strings.Join(over, "\n"); got != want {
		t.Errorf("tasks are\n%s\nwant\n%s", got, want)
	}
}

// The number of remembered tasks is bounded, and each task is reported once.
func TestManyTasks(t *testing.T) {
	tasks := newTasks()
	told := make(map[string]bool)
	tell := func(task *Task) {
		if task == nil {
			return
		}
		if told[task.ID] {
			t.Fatalf("%s is told again", task.ID)
		}
		told[task.ID] = true
	}
	const all = maxTasks + 500
	for i := range all {
		tell(tasks.Ended(answered(uint64(i+1), "a", fmt.Sprint(i), a2a.Working)))
	}
	expect.Equal(t, "tasks are forgotten", all-maxTasks, len(told))
	for i := range 100 {
		tell(tasks.Ended(answered(uint64(all+i), "a", fmt.Sprint(all-1-i), a2a.Completed)))
	}
	for task := range tasks.Rest() {
		tell(task)
	}
	if len(told) != all {
		t.Errorf("%d of %d tasks are told", len(told), all)
	}
}
