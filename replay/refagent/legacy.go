package refagent

import (
	"net/url"
)

// The dialect before A2A 0.1: tasks in sessions as there, but a history of statuses, streams on a path of their own
// with named events, other meanings of the codes from −32000 to −32004, and push notifications that choose events.
type legacy struct{ v01 }

// Codes of the dialect; the same numbers mean other things from A2A 0.2 on.
const (
	legacyUnauthorized  = -32000
	legacyTaskNotFound  = -32001
	legacyIllegalMove   = -32002
	legacyStoreFull     = -32003
	legacyWebhookScheme = -32004
)

var legacyMethods = map[string]operation{
	"tasks/send":                 sendMessage,
	"tasks/get":                  getTask,
	"tasks/cancel":               cancelTask,
	"tasks/pushNotification/set": createPushConfig,
	"tasks/pushNotification/get": getPushConfig,
}

// legacyStream is the one method of the path /subscribe, and no method of the endpoint.
const legacyStream = "tasks/sendSubscribe"

func (legacy) operation(method string) (operation, bool) {
	op, ok := legacyMethods[method]
	return op, ok
}

// decode implements dialect. Nobody waits for a task: the answer comes at once.
func (d legacy) decode(op operation, params object) (*request, *failure) {
	r, f := d.v01.decode(op, params)
	if f != nil {
		return nil, f
	}
	r.immediate = true
	if r.push == nil {
		return r, nil
	}
	return r, d.readEvents(params, r.push)
}

// readEvents reads which events a webhook wants to hear of, and what it authenticates them by.
func (d legacy) readEvents(params object, c *pushConfig) *failure {
	f := readFields(params)
	config, ok := f.nested("pushNotificationConfig")
	if !ok {
		config, _ = f.nested("pushNotification")
	}
	c.dialect, c.events, c.retries, c.endsByFailure = d, config.texts("events"), legacyRetries, true
	for _, e := range c.events {
		if e != legacyStatus && e != legacyArtifact {
			config.complain("events", `must be "status" or "artifact"`)
		}
	}
	if u, err := url.Parse(c.url); err == nil && u.Scheme == "http" && f.failure() == nil {
		return fail(codeWebhookScheme, "The webhook URL must use https")
	}
	if c.token != "" {
		c.schemes, c.credentials, c.token = []string{"Bearer"}, c.token, ""
	}
	return f.failure()
}

const legacyRetries = 3

func (d legacy) result(_ operation, r reply) any {
	switch {
	case r.config != nil:
		return d.pushConfig(*r.config)
	case r.task != nil:
		return d.task(*r.task)
	}
	return nil
}

// event writes the latest status or artifact; only the last event of a stream has a member final.
func (d legacy) event(e event) any {
	switch {
	case e.task != nil:
		return object{{"id", e.task.id}, {"status", d.status(e.task.status)}}.flag("final", e.task.status.state.terminal())
	case e.status != nil:
		return object{{"id", e.status.taskID}, {"status", d.status(e.status.status)}}.flag("final", e.terminal())
	}
	a := d.artifact(e.artifact.artifact).(object).with("index", e.artifact.index).flag("append", e.artifact.append)
	return object{{"id", e.artifact.taskID}, {"artifact", a}}
}

// task writes the history as the statuses that there were.
func (d legacy) task(t task) any {
	return d.v01.task(t).(object).without("history").list("history", values(t.statuses, d.status))
}

func (d legacy) pushConfig(c pushConfig) any {
	o := object{{"url", c.url}}.list("events", texts(c.events...))
	return object{{"id", c.taskID}, {"pushNotificationConfig", o}}
}

// notification implements dialect.
func (d legacy) notification(e event, t task) (any, string, bool) {
	return object{
		{"taskId", t.id},
		{"eventType", legacyName(e)},
		{"status", d.status(t.status)},
		{"timestamp", timestamp(t.status.at)},
	}, "application/json", true
}

// legacyMoves are the states that may follow each, for those that do not end a task.
var legacyMoves = map[state][]state{
	submitted:     {working, failed, canceled},
	working:       {completed, failed, canceled, inputRequired},
	inputRequired: {working, failed, canceled},
}

// code implements dialect.
func (legacy) code(f *failure) int {
	switch f.code {
	case codeUnauthenticated:
		return legacyUnauthorized
	case codeTaskNotFound:
		return legacyTaskNotFound
	case codeTaskNotCancelable, codeUnsupported:
		return legacyIllegalMove
	case codeStoreFull:
		return legacyStoreFull
	case codeWebhookScheme:
		return legacyWebhookScheme
	}
	return f.code
}
