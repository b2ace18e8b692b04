package replay_test

import (
	"context"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
)

// dialog continues with its objects: a task by its id, a conversation by its context, lists by each filter.
var dialog = over(func(ctx context.Context, c *client.Client) {
	task := sent(c.Send(ctx, client.Text("multi-turn start"), client.SendOptions{}))
	if task == nil {
		return
	}
	further := client.Text("more")
	further.TaskID = task.ID
	c.Send(ctx, further, client.SendOptions{}) //nolint:errcheck // see tour
	c.Ask(ctx, a2a.GetTask, task)              //nolint:errcheck // see tour
	beside := client.Text("task-lifecycle please")
	beside.ContextID = task.ContextID
	c.Send(ctx, beside, client.SendOptions{}) //nolint:errcheck // see tour
	if c.Endpoint().Protocol.Version == "1.0" {
		for _, l := range []client.ListOptions{
			{State: client.Completed},
			{ContextID: task.ContextID},
			{StatusTimestampAfter: time.Now().Add(-time.Hour)},
			{PageSize: 2},
			{},
		} {
			c.List(ctx, l) //nolint:errcheck // see tour
		}
	}
	c.Ask(ctx, a2a.CancelTask, task) //nolint:errcheck // see tour
})
