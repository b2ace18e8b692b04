package replay_test

import (
	"context"

	"a2atap/replay/client"
)

// Proved by transcripts alone: push-private-url-accepted, since agents of ours are at a loopback address, where it
// rests, and rules about webhooks, but for those of TestFaultsOfNotifications.

// configure sets a webhook for a task, looks it up, deletes it, and looks again.
var configure = over(func(ctx context.Context, c *client.Client) {
	task := sent(c.Send(ctx, client.Text("multi-turn start"), client.SendOptions{}))
	if task == nil {
		return
	}
	const id = "our-hook"
	c.CreatePush(ctx,
		client.PushConfig{TaskID: task.ID, ID: id, URL: "http://127.0.0.1:9/hook"}) //nolint:errcheck // see tour
	look := func() {
		c.GetPush(ctx, task.ID, id)    //nolint:errcheck // see tour
		c.ListPush(ctx, task.ID)       //nolint:errcheck // see tour
		c.Get(ctx, task.ID, nil)       //nolint:errcheck // see tour
		c.DeletePush(ctx, task.ID, id) //nolint:errcheck // see tour
	}
	look()
	look()
	c.Cancel(ctx, task.ID, nil) //nolint:errcheck // see tour
})
