package replay_test

import (
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/client/auth"
	"a2atap/replay/internal/agenttest"
)

// cardToken is the bearer token that the spec agent requires for its extended card.
const cardToken = "agentbin-test-token"

// everything uses all operations of a reference agent.
func everything(t testing.TB, p client.Protocol) func(tapURL string) {
	return func(tapURL string) {
		oneByOne(t, p)(tapURL)
		c := agenttest.Connect(t, tapURL, p, client.Options{Timeout: 10 * time.Second, Token: cardToken})
		followAndCancel(t, c)
		if p != client.JSONRPC03 {
			must.Get(c.ExtendedCard(t.Context()))(t)
		}
	}
}

// oneByOne uses the operations that need no second stream.
func oneByOne(t testing.TB, p client.Protocol) func(tapURL string) {
	return func(tapURL string) {
		c := agenttest.Connect(t, tapURL, p, client.Options{Timeout: 10 * time.Second})
		ctx := t.Context()
		send := func(v *client.Result, err error) *client.Result { return must.Get(v, err)(t) }
		task := func(v *client.Task, err error) *client.Task { return must.Get(v, err)(t) }
		send(c.Send(ctx, client.Text("message-only hello"), client.SendOptions{}))
		done := send(c.Send(ctx, client.Text("task-lifecycle please"), client.SendOptions{})).Task
		task(c.Get(ctx, done.ID, nil))
		expect.Error(t, "an unknown task was found", expect.Err(c.Get(ctx, "no-such-task", nil)))
		expect.Error(t, "an ended task was canceled", expect.Err(c.Cancel(ctx, done.ID, nil)))
		for _, err := range c.Stream(ctx, client.Text("streaming please"), client.SendOptions{}) {
			expect.OK(t, err)
		}
		asked := send(c.Send(ctx, client.Text("multi-turn start"), client.SendOptions{})).Task
		m := client.Text("more")
		m.TaskID, m.ContextID = asked.ID, asked.ContextID
		send(c.Send(ctx, m, client.SendOptions{}))
		m = client.Text("done")
		m.TaskID, m.ContextID = asked.ID, asked.ContextID
		send(c.Send(ctx, m, client.SendOptions{}))
		cancelWhileStreaming(t, c)
		failed := send(c.Send(ctx, client.Text("task-failure please"), client.SendOptions{})).Task
		if p != client.JSONRPC03 {
			must.Get(c.List(ctx, client.ListOptions{ContextID: failed.ContextID}))(t)
			page := must.Get(c.List(ctx, client.ListOptions{PageSize: 2}))(t)
			must.Get(c.List(ctx, client.ListOptions{PageSize: 2, PageToken: page.NextPageToken}))(t)
		}
	}
}

// cancelWhileStreaming cancels a task once the stream has shown it working.
func cancelWhileStreaming(t testing.TB, c *client.Client) {
	canceled := false
	for e, err := range c.Stream(t.Context(), client.Text("task-cancel please"), client.SendOptions{}) {
		if err != nil {
			t.Error(err)
			return
		}
		if e.State() == client.Working && !canceled {
			canceled = true
			must.Get(c.Cancel(t.Context(), taskOf(e), nil))(t)
		}
	}
}

// followAndCancel cancels a task while two streams follow it.
func followAndCancel(t testing.TB, c *client.Client) {
	begun := false
	followed := make(chan struct{})
	for e, err := range c.Stream(t.Context(), client.Text("task-cancel please"), client.SendOptions{}) {
		if err != nil {
			t.Error(err)
			return
		}
		if begun || e.State() != client.Working {
			continue
		}
		begun = true
		id := taskOf(e)
		go func() {
			defer close(followed)
			canceled := false
			for _, err := range c.Subscribe(t.Context(), id) {
				if err != nil {
					t.Error(err)
					return
				}
				if !canceled {
					canceled = true
					expect.OK(t, expect.Err(c.Cancel(t.Context(), id, nil)))
				}
			}
		}()
	}
	<-followed
}

func taskOf(e client.Event) string {
	switch {
	case e.Task != nil:
		return e.Task.ID
	case e.Status != nil:
		return e.Status.TaskID
	case e.Artifact != nil:
		return e.Artifact.TaskID
	}
	return ""
}

// Ten replays in a row, against a fresh agent and against a used one, show no difference.
func TestReplayFindsNoDifference(t *testing.T) {
	t.Parallel()
	for _, w := range refWays {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			src := record(t, w.start(t), everything(t, w.protocol))
			to := w.start(t)
			for range 10 {
				r := play(t, src, to, replay.Options{Authorize: auth.Bearer(cardToken)})
				t.Log(r.Verdict())
				wantSame(t, r)
				if t.Failed() {
					return
				}
			}
		})
	}
}
