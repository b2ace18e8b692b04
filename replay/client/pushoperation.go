package client

import (
	"context"
	"net/http"
)

type outConfigID struct {
	TaskID string `json:"taskId,omitzero"` // 1.0
	ID     string `json:"id"`              // 1.0: the config; 0.3: the task
	// ConfigID is 0.3's name for the config.
	ConfigID string `json:"pushNotificationConfigId,omitzero"`
}

// configID names a config in the client's dialect; an empty id names only the task.
func (c *Client) configID(taskID, id string) any {
	switch {
	case c.endpoint.Protocol.clientNamesTasks():
		return outConfigID{ID: taskID}
	case c.endpoint.Protocol.Version != "1.0":
		return outConfigID{ID: taskID, ConfigID: id}
	case id == "":
		return struct {
			TaskID string `json:"taskId"`
		}{taskID}
	}
	return outConfigID{TaskID: taskID, ID: id}
}

func configsPath(taskID string) string { return taskPath(taskID) + "/pushNotificationConfigs" }

// CreatePush asks the agent to report on the task that the config names. The result carries the config's id.
func (c *Client) CreatePush(ctx context.Context, config PushConfig) (*PushConfig, error) {
	p, w := c.endpoint.Protocol, config.encode10()
	var params any = w
	switch {
	case p.clientNamesTasks():
		params = wirePushConfig{ID: config.TaskID, Inner: p.push01(config)}
	case p.Version != "1.0":
		params = wirePushConfig{TaskID: config.TaskID, Inner: config.encode03()}
	}
	w.TaskID = "" // HTTP+JSON has it in the path
	body, err := c.invoke(ctx, call{
		op: CreatePushConfig, params: params, verb: http.MethodPost, path: configsPath(config.TaskID), body: w,
		webhook: config.URL,
	})
	return read(CreatePushConfig, body, err, c.decodePush)
}

// GetPush reads a config.
func (c *Client) GetPush(ctx context.Context, taskID, id string) (*PushConfig, error) {
	body, err := c.invoke(ctx, call{
		op: GetPushConfig, params: c.configID(taskID, id),
		verb: http.MethodGet, path: configsPath(taskID) + "/" + segment(id),
	})
	return read(GetPushConfig, body, err, c.decodePush)
}

// ListPush reads the configs of a task.
func (c *Client) ListPush(ctx context.Context, taskID string) ([]PushConfig, error) {
	body, err := c.invoke(ctx, call{
		op: ListPushConfigs, params: c.configID(taskID, ""), verb: http.MethodGet, path: configsPath(taskID),
	})
	return read(ListPushConfigs, body, err, decodePushConfigs)
}

// DeletePush removes a config. Removing one that is not there succeeds.
func (c *Client) DeletePush(ctx context.Context, taskID, id string) error {
	body, err := c.invoke(ctx, call{
		op: DeletePushConfig, params: c.configID(taskID, id),
		verb: http.MethodDelete, path: configsPath(taskID) + "/" + segment(id),
	})
	_, err = read(DeletePushConfig, body, err, func([]byte) (struct{}, error) { return struct{}{}, nil })
	return err
}
