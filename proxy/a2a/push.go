package a2a

import (
	"iter"
	"strings"
)

// A PushConfig is a push notification config with its surrounding object: the container of 0.x with the task id and the
// member "pushNotificationConfig", the flat object of 1.0, or the bare config inside a send.
type PushConfig struct{ Value }

// Config returns the object that holds the URL.
func (c PushConfig) Config() Value {
	if inner := first(c.Value, "pushNotificationConfig", "pushNotification"); inner.Kind() == Object {
		return inner
	}
	if wrapped := c.Get("config"); wrapped.Kind() == Object { // a REST body of 0.3, or of the release candidate of 1.0
		return PushConfig{wrapped}.Config()
	}
	return c.Value
}

// URL returns where notifications are to go.
func (c PushConfig) URL() string { return c.Config().Get("url").Text() }

// Token returns the token that notifications carry.
func (c PushConfig) Token() string { return c.Config().Get("token").Text() }

// Credentials returns the credentials that notifications carry.
func (c PushConfig) Credentials() string {
	return c.Config().At("/authentication/credentials").Text()
}

// Schemes returns the authentication schemes that notifications may use; 1.0 has exactly one.
func (c PushConfig) Schemes() []string {
	auth := c.Config().Get("authentication")
	if scheme, ok := auth.Get("scheme").Str(); ok {
		return []string{scheme}
	}
	var schemes []string
	for _, v := range auth.Get("schemes").Elems() {
		schemes = append(schemes, v.Text())
	}
	return schemes
}

// ID returns the id of the config. The container of 0.x has the task's id under that name, unless it is a resource
// name.
func (c PushConfig) ID() string {
	if id := c.Config().Get("id").Text(); id != "" {
		return id
	}
	_, config := resourceName(c.name())
	return config
}

// TaskID returns the id of the task.
func (c PushConfig) TaskID() string {
	if id := c.Get("taskId").Text(); id != "" {
		return id
	}
	if task, _ := resourceName(c.name()); task != "" {
		return task
	}
	config := c.Config()
	if config.Exists() && config != c.Value && c.Get("id").Exists() { // 0.1
		return c.Get("id").Text()
	}
	return config.Get("taskId").Text()
}

func (c PushConfig) name() string {
	return firstText(c.Get("name"), c.Get("config").Get("name"))
}

// resourceName reads "tasks/t1/pushNotificationConfigs/p1" or "tasks/t1", the names of the proto files of 0.x.
func resourceName(name string) (task, config string) {
	rest, ok := strings.CutPrefix(name, "tasks/")
	if !ok {
		return "", ""
	}
	task, config, _ = strings.Cut(rest, "/pushNotificationConfigs/")
	task, _, _ = strings.Cut(task, "/")
	return task, config
}

// PushConfigs yields the configs of a list: the array of 0.x, or the member "configs".
func (p Payload) PushConfigs() iter.Seq[PushConfig] {
	return func(yield func(PushConfig) bool) {
		list := p.Value
		if list.Kind() == Object {
			list = list.Get("configs")
		}
		for _, v := range list.Elems() {
			if !yield(PushConfig{v}) {
				return
			}
		}
	}
}

// Tasks yields the tasks of a list: the array that 0.3 has over HTTP+JSON, or the member "tasks".
func (p Payload) Tasks() iter.Seq[Task] {
	return func(yield func(Task) bool) {
		list := p.Value
		if list.Kind() == Object {
			list = list.Get("tasks")
		}
		for _, v := range list.Elems() {
			if !yield(Task{v}) {
				return
			}
		}
	}
}
