package client

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

type (
	// pushConfig is 1.0's flat config.
	pushConfig struct {
		ID             string    `json:"id,omitzero"`
		TaskID         string    `json:"taskId,omitzero"`
		URL            string    `json:"url,omitzero"`
		Token          string    `json:"token,omitzero"`
		Authentication *pushAuth `json:"authentication,omitzero"`
		Events         []string  `json:"events,omitzero"` // before 0.1
	}
	pushAuth struct {
		Scheme      string   `json:"scheme,omitzero"`
		Schemes     []string `json:"schemes,omitzero"` // up to 0.3
		Credentials string   `json:"credentials,omitzero"`
	}
)

// pushConfig returns the config as A2A 1.0 §4.3.1. Before A2A 0.1 configs have events, and no credentials.
func (p Protocol) pushConfig(c PushConfig) pushConfig {
	w := pushConfig{ID: c.ID, TaskID: c.TaskID, URL: c.URL, Token: c.Token}
	switch {
	case p == Early:
		w.Events = c.Events
	case c.Scheme != "":
		w.Authentication = &pushAuth{Scheme: c.Scheme, Credentials: c.Credentials}
	}
	return w
}

func decodePushConfig(body []byte) (*PushConfig, error) {
	var w struct {
		pushConfig
		Name  string      `json:"name"`                   // the proto JSON of 0.3
		Inner *pushConfig `json:"pushNotificationConfig"` // up to 0.3
	}
	if err := unmarshal(body, &w); err != nil {
		return nil, err
	}
	if in := w.Inner; in != nil {
		w.ID, w.URL, w.Token, w.Authentication, w.Events = in.ID, in.URL, in.Token, in.Authentication, in.Events
	}
	if task, _, ok := strings.Cut(strings.TrimPrefix(w.Name, "tasks/"), "/"); ok && w.TaskID == "" {
		w.TaskID = task
	}
	c := &PushConfig{ID: w.ID, TaskID: w.TaskID, URL: w.URL, Token: w.Token, Events: w.Events, Raw: body}
	if a := w.Authentication; a != nil {
		c.Scheme, c.Credentials = a.Scheme, a.Credentials
		if c.Scheme == "" && len(a.Schemes) > 0 {
			c.Scheme = a.Schemes[0]
		}
	}
	if c.URL == "" {
		return nil, errors.New("is not a push notification config: it has no url")
	}
	return c, nil
}

// decodePushConfigs reads 1.0's object or 0.3's array.
func decodePushConfigs(body []byte) ([]PushConfig, error) {
	var list []jsontext.Value
	if jsontext.Value(body).Kind() == '[' {
		if err := unmarshal(body, &list); err != nil {
			return nil, err
		}
	} else {
		var w struct {
			Configs []jsontext.Value `json:"configs"`
		}
		if err := unmarshal(body, &w); err != nil {
			return nil, err
		}
		list = w.Configs
	}
	var out []PushConfig
	for _, v := range list {
		c, err := decodePushConfig(v)
		if err != nil {
			return nil, err
		}
		out = append(out, *c)
	}
	return out, nil
}
