package client

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// wirePushConfig is 1.0's flat config; 0.3 puts the same members inside pushNotificationConfig.
type wirePushConfig struct {
	Name           string           `json:"name,omitzero"` // the proto JSON of 0.3
	ID             string           `json:"id,omitzero"`
	TaskID         string           `json:"taskId,omitzero"`
	URL            string           `json:"url,omitzero"`
	Token          string           `json:"token,omitzero"`
	Authentication *wirePushAuth    `json:"authentication,omitzero"`
	Inner          *wireInnerConfig `json:"pushNotificationConfig,omitzero"`
}

type wireInnerConfig struct {
	ID             string        `json:"id,omitzero"`
	URL            string        `json:"url"`
	Token          string        `json:"token,omitzero"`
	Authentication *wirePushAuth `json:"authentication,omitzero"`
	Events         []string      `json:"events,omitzero"` // before 0.1
}

type wirePushAuth struct {
	Scheme      string   `json:"scheme,omitzero"`  // 1.0
	Schemes     []string `json:"schemes,omitzero"` // 0.3
	Credentials string   `json:"credentials,omitzero"`
}

// encode10 writes the config as A2A 1.0 §4.3.1.
func (c PushConfig) encode10() wirePushConfig {
	w := wirePushConfig{ID: c.ID, TaskID: c.TaskID, URL: c.URL, Token: c.Token}
	if c.Scheme != "" {
		w.Authentication = &wirePushAuth{Scheme: c.Scheme, Credentials: c.Credentials}
	}
	return w
}

// encode03 writes the inner config as A2A 0.3 §6.8.
func (c PushConfig) encode03() *wireInnerConfig {
	w := &wireInnerConfig{ID: c.ID, URL: c.URL, Token: c.Token}
	if c.Scheme != "" {
		w.Authentication = &wirePushAuth{Schemes: []string{c.Scheme}, Credentials: c.Credentials}
	}
	return w
}

func decodePushConfig(body []byte) (*PushConfig, error) {
	var w wirePushConfig
	if err := unmarshal(body, &w); err != nil {
		return nil, err
	}
	if in := w.Inner; in != nil {
		w.ID, w.URL, w.Token, w.Authentication = in.ID, in.URL, in.Token, in.Authentication
	}
	if task, _, ok := strings.Cut(strings.TrimPrefix(w.Name, "tasks/"), "/"); ok && w.TaskID == "" {
		w.TaskID = task
	}
	c := &PushConfig{ID: w.ID, TaskID: w.TaskID, URL: w.URL, Token: w.Token, Raw: body}
	if w.Inner != nil {
		c.Events = w.Inner.Events
	}
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
