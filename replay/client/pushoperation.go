package client

import (
	"context"

	"a2atap/proxy/a2a"
)

type outConfigID struct {
	TaskID string `json:"taskId"`
	ID     string `json:"id,omitzero"`
}

// CreatePush asks the agent to report on the task that the config names. The result carries the config's id.
func (c *Client) CreatePush(ctx context.Context, config PushConfig) (*PushConfig, error) {
	body, err := c.invoke(ctx, call{
		op: a2a.CreatePushConfig, params: c.endpoint.Protocol.pushConfig(config), webhook: config.URL,
	})
	return read(a2a.CreatePushConfig, body, err, c.decodePush)
}

// GetPush reads a config.
func (c *Client) GetPush(ctx context.Context, taskID, id string) (*PushConfig, error) {
	body, err := c.invoke(ctx, call{op: a2a.GetPushConfig, params: outConfigID{taskID, id}})
	return read(a2a.GetPushConfig, body, err, c.decodePush)
}

// ListPush reads the configs of a task.
func (c *Client) ListPush(ctx context.Context, taskID string) ([]PushConfig, error) {
	body, err := c.invoke(ctx, call{op: a2a.ListPushConfigs, params: outConfigID{TaskID: taskID}})
	return read(a2a.ListPushConfigs, body, err, decodePushConfigs)
}

// DeletePush removes a config. Removing a missing config succeeds.
func (c *Client) DeletePush(ctx context.Context, taskID, id string) error {
	body, err := c.invoke(ctx, call{op: a2a.DeletePushConfig, params: outConfigID{taskID, id}})
	_, err = read(a2a.DeletePushConfig, body, err, func([]byte) (struct{}, error) { return struct{}{}, nil })
	return err
}
