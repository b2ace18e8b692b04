package peers

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Push configurations have another form in the versions before 2.2: see testdata/go2old.

func (d *go2Driver) setPush(ctx context.Context, task, url, token string) (Observation, error) {
	return go2Config(d.client.CreateTaskPushConfig(ctx, &a2a.PushConfig{
		TaskID: a2a.TaskID(task), URL: url, Token: token,
	}))
}

func (d *go2Driver) getPush(ctx context.Context, task, config string) (Observation, error) {
	return go2Config(d.client.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{
		TaskID: a2a.TaskID(task), ID: config,
	}))
}

func (d *go2Driver) listPush(ctx context.Context, task string) (seen []Observation, err error) {
	configs, err := d.client.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: a2a.TaskID(task)})
	for _, c := range configs {
		config, _ := go2Config(c, nil)
		seen = append(seen, config)
	}
	return seen, err
}

func go2Config(c *a2a.PushConfig, err error) (Observation, error) {
	if err != nil {
		return Observation{}, err
	}
	return Observation{Kind: "config", Task: string(c.TaskID), Config: c.ID, URL: c.URL, Note: c.Token}, nil
}
