package lifecycle

import (
	"fmt"
	"slices"

	"a2atap/replay/client"
	"a2atap/replay/probe"
)

// expects reports whether an agent has to follow a message: its behavior is known, or the message is an example of
// its card, and its dialect says that examples work.
func expects(s *probe.Session) bool {
	_, told := s.Example()
	return s.Scripted() || told && s.Protocol() == client.Early
}

// knownStates are the states of tasks.
var knownStates = []client.State{
	client.Submitted, client.Working, client.InputRequired, client.AuthRequired, client.Completed, client.Failed,
	client.Canceled, client.Rejected,
}

// likely asserts that a task is in one of some states. An agent with unknown behavior may also have failed the task.
func likely(s *probe.Session, task *client.Task, words string, states ...client.State) error {
	state := task.Status.State
	switch {
	case slices.Contains(states, state):
		return nil
	case !slices.Contains(knownStates, state):
		return probe.Fail("a task that is "+words, "task %s is %q, which is not a state", task.ID, state)
	case expects(s):
		return probe.Fail("a task that is "+words, "task %s is %s", task.ID, said(task))
	}
	return probe.Unclear("task %s is %s, which may be intended", task.ID, said(task))
}

// said describes the state of a task, and the agent's message about it.
func said(task *client.Task) string {
	text := string(task.Status.State)
	if m := task.Status.Message; m != nil && m.Text() != "" {
		text += fmt.Sprintf(" (%s)", probe.Excerpt([]byte(m.Text())))
	}
	return text
}
