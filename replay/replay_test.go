package replay_test

import (
	"testing"
	"time"

	"a2atap/replay"
	"a2atap/replay/client"
)

// everything goes through all operations that a reference agent has.
func everything(t testing.TB, p client.Protocol) func(tapURL string) {
	return func(tapURL string) {
		c := connect(t, tapURL, p, client.Options{Timeout: 10 * time.Second})
		ctx := t.Context()
		send := must[*client.Result](t)
		task := must[*client.Task](t)
		send(c.Send(ctx, client.Text("message-only hello"), client.SendOptions{}))
		done := send(c.Send(ctx, client.Text("task-lifecycle please"), client.SendOptions{})).Task
		task(c.Get(ctx, done.ID, nil))
		if _, err := c.Get(ctx, "no-such-task", nil); err == nil {
			t.Error("an unknown task was found")
		}
		if _, err := c.Cancel(ctx, done.ID, nil); err == nil {
			t.Error("an ended task was canceled")
		}
		for _, err := range c.Stream(ctx, client.Text("streaming please"), client.SendOptions{}) {
			if err != nil {
				t.Error(err)
			}
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
			must[*client.Page](t)(c.List(ctx, client.ListOptions{ContextID: failed.ContextID}))
			page := must[*client.Page](t)(c.List(ctx, client.ListOptions{PageSize: 2}))
			must[*client.Page](t)(c.List(ctx, client.ListOptions{PageSize: 2, PageToken: page.NextPageToken}))
		}
	}
}

// cancelWhileStreaming cancels a task when the stream has shown that it works.
func cancelWhileStreaming(t testing.TB, c *client.Client) {
	canceled := false
	for e, err := range c.Stream(t.Context(), client.Text("task-cancel please"), client.SendOptions{}) {
		if err != nil {
			t.Error(err)
			return
		}
		if e.State() == client.Working && !canceled {
			canceled = true
			must[*client.Task](t)(c.Cancel(t.Context(), taskOf(e), nil))
		}
	}
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

// Ten times in a row, against a fresh agent and against one that has seen it all before, nothing differs.
func TestReplayFindsNoDifference(t *testing.T) {
	for _, w := range refWays {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			src := record(t, w.start(t), everything(t, w.protocol))
			to := w.start(t)
			for range 10 {
				r := play(t, src, to, replay.Options{})
				t.Log(r.Verdict())
				wantSame(t, r)
				if t.Failed() {
					return
				}
			}
		})
	}
}
