package replay_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/internal/earlyagent"
	"a2atap/replay/playback"
)

// suite runs the requests of the conformance suite against a server of the dialect before 0.1, and returns its
// observations. Without client faults, such as unknown methods, it omits requests that no correct client sends.
func suite(t *testing.T, agent string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := client.Connect(ctx, agent, client.Options{Prefer: []client.Protocol{client.Early}})
	must.Do(t, err)
	defer c.Close()
	var seen []string
	must := func(step string, task *client.Task, err error) *client.Task {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		return task
	}
	until := func(id string, state client.State) {
		t.Helper()
		task := must("get", &client.Task{}, nil)
		for task.Status.State != state {
			<-time.After(10 * time.Millisecond) // each poll is an exchange, which is replayed and played back
			got, err := c.Get(ctx, id, nil)
			task = must("get", got, err)
		}
		seen = append(seen, string(task.Status.State))
	}
	made := 0
	// Clients make the ids, and playback knows those of the recorded client.
	named := func(m client.Message) client.Message {
		if m.TaskID == "" {
			made++
			m.TaskID, m.ContextID = fmt.Sprintf("test-%d", made), fmt.Sprintf("session-%d", made)
		}
		return m
	}
	send := func(m client.Message) *client.Task {
		t.Helper()
		m = named(m)
		r, err := c.Send(ctx, m, client.SendOptions{})
		if err != nil {
			t.Fatalf("send: %v", err)
		}
		return r.Task
	}

	done := send(client.Text("repeat after me"))
	until(done.ID, client.Completed)
	whole, err := c.Get(ctx, done.ID, new(100))
	must("history", whole, err)
	left := send(client.Text("wait"))
	canceled, err := c.Cancel(ctx, left.ID, nil)
	seen = append(seen, string(must("cancel", canceled, err).Status.State))
	asked := send(client.Text("book a table"))
	until(asked.ID, client.InputRequired)
	more := client.Text("tomorrow")
	more.TaskID, more.ContextID = asked.ID, asked.ContextID
	send(more)
	until(asked.ID, client.Completed)
	for e, err := range c.Stream(ctx, named(client.Text("repeat after me")), client.SendOptions{}) {
		if err != nil {
			t.Fatalf("stream: %v", err)
		}
		seen = append(seen, "event "+e.Name+" "+string(e.State()))
	}
	_, unknown := c.Get(ctx, "nonexistent-task-id", nil)
	_, ended := c.Cancel(ctx, done.ID, nil)
	for _, err := range []error{unknown, ended} {
		if err == nil {
			t.Fatal("what must be refused was not")
		}
		seen = append(seen, err.Error())
	}
	return seen
}

// The traffic of a faultless third-party server is clean. A replay shows no difference, and playback shows a client
// the same.
func TestEarlyAgentThroughATap(t *testing.T) {
	t.Parallel()
	var seen []string
	src := record(t, earlyagent.New("").Start(t), func(tapURL string) { seen = suite(t, tapURL) })
	result, err := engine.Run(t.Context(), rules.All, src, nil)
	must.Do(t, err)
	for i := range result.Findings {
		t.Errorf("found %s", &result.Findings[i])
	}
	const atLeast = 1 + 12 // the card, and calls if each task has reached its state when it is first read
	if v := result.Verdict(analysis.Note); v.Status != judgment.StatusClean || v.Judged < atLeast {
		t.Errorf("judged %s", v)
	}

	wantSame(t, play(t, src, earlyagent.New("").Start(t), replay.Options{}))

	player, err := playback.New(t.Context(), src, playback.Options{})
	must.Do(t, err)
	defer player.Close()
	server := httptest.NewServer(player)
	defer server.Close()
	expect.Same(t, "played back the client saw something else", seen, suite(t, server.URL))
}
