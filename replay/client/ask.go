package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"a2atap/proxy/a2a"
)

// Ask performs an operation on a task for its side effects: parameters other than the task are made up, and the result
// is dropped. A message continues the task; a stream is read to its end. The push config's webhook is a URL on which no
// server listens.
func (c *Client) Ask(ctx context.Context, op a2a.Operation, task *Task) error {
	switch op {
	case a2a.SendMessage:
		_, err := c.Send(ctx, more(task), SendOptions{})
		return err
	case a2a.SendStreamingMessage:
		return toTheEnd(c.Stream(ctx, more(task), SendOptions{}))
	case a2a.SubscribeToTask:
		return toTheEnd(c.Subscribe(ctx, task.ID))
	case a2a.GetTask:
		_, err := c.Get(ctx, task.ID, new(1))
		return err
	case a2a.ListTasks:
		page, err := c.List(ctx, ListOptions{
			ContextID: task.ContextID, State: task.Status.State, PageSize: 1, HistoryLength: new(1), IncludeArtifacts: true,
		})
		if err == nil && page.NextPageToken != "" {
			_, err = c.List(ctx, ListOptions{PageSize: 1, PageToken: page.NextPageToken})
		}
		return err
	case a2a.CancelTask:
		_, err := c.Cancel(ctx, task.ID, json.RawMessage(`{"reason":"asked for"}`))
		return err
	case a2a.GetExtendedCard:
		_, err := c.ExtendedCard(ctx)
		return err
	case a2a.CreatePushConfig, a2a.GetPushConfig, a2a.ListPushConfigs, a2a.DeletePushConfig:
		return c.askPush(ctx, op, task)
	}
	return fmt.Errorf("%s is not an operation on a task", op)
}

// askPush performs an operation on a push config, which it creates first.
func (c *Client) askPush(ctx context.Context, op a2a.Operation, task *Task) error {
	config, err := c.CreatePush(ctx, PushConfig{
		TaskID: task.ID, ID: "hook-of-" + task.ID, URL: "http://127.0.0.1:9/hook", Token: "known-to-both", Scheme: "Bearer",
		Credentials: "secret",
	})
	if err != nil {
		return err
	}
	switch op {
	case a2a.GetPushConfig:
		_, err = c.GetPush(ctx, task.ID, config.ID)
	case a2a.ListPushConfigs:
		_, err = c.ListPush(ctx, task.ID)
	case a2a.DeletePushConfig:
		err = c.DeletePush(ctx, task.ID, config.ID)
	}
	return err
}

func more(task *Task) Message {
	m := Text("more")
	m.TaskID, m.ContextID = task.ID, task.ContextID
	return m
}

func toTheEnd(events iter.Seq2[Event, error]) error {
	for _, err := range events {
		if err != nil {
			return err
		}
	}
	return nil
}
