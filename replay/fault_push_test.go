package replay_test

import (
	"context"

	"a2atap/replay/client"
)

// Shown only by transcripts: push-private-url-accepted, since a2atap's agents are at a loopback address, where the
// rule does not apply; and rules about webhooks, except those of TestFaultsOfNotifications.

// configure sets a webhook for a task, reads it, deletes it, and reads it again.
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
