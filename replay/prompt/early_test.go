package prompt_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/prompt"
	"a2atap/replay/refagent"
)

// Before A2A 0.1 a send is answered at once, and the client polls. A stream stays open while the task waits, and the
// client leaves it then. The conversation continues in the same task and session.
func TestAskBefore01(t *testing.T) {
	agent := must.Get(refagent.New("legacy", refagent.Options{StepTime: time.Millisecond}))(t)
	s := httptest.NewServer(agent)
	defer func() {
		agent.Close()
		s.Close()
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second) // less than one waits for a stream of others
	defer cancel()
	c := must.Get(client.Connect(ctx, s.URL, client.Options{}))(t)
	defer c.Close()
	if got := c.Endpoint().Protocol; got != client.Early {
		t.Fatalf("the card is taken for one of %s", got)
	}
	for _, mode := range []prompt.Mode{prompt.Send, prompt.Stream, prompt.Auto} {
		o := prompt.Options{Mode: mode, Interval: time.Millisecond, PollTimeout: 20 * time.Second}
		first, err := prompt.Ask(ctx, c, client.Text("multi-turn hello"), o)
		if err != nil || first.State() != client.InputRequired || first.ContextID() == "" {
			t.Fatalf("%s: got %s in %q, %v; want a task that waits, in a session", mode, first.Raw, first.ContextID(), err)
		}
		m := client.Text("done")
		m.TaskID, m.ContextID = first.TaskID(), first.ContextID()
		second, err := prompt.Ask(ctx, c, m, o)
		if err != nil || second.State() != client.Completed || second.TaskID() != first.TaskID() ||
			second.ContextID() != first.ContextID() {
			t.Errorf("%s: got %s, %v; want the same task completed", mode, second.Raw, err)
		}
		whole, err := prompt.Ask(ctx, c, client.Text("task-lifecycle hello"), o)
		if err != nil || whole.Text() != "[task-lifecycle] Processed: task-lifecycle hello" {
			t.Errorf("%s: got %q, %v", mode, whole.Text(), err)
		}
	}
}
