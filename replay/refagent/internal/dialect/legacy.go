package dialect

import (
	"net/url"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// The dialect before A2A 0.1: tasks in sessions as there, but a history of statuses, streams on a path of their own
// with named events, other meanings of the codes from −32000 to −32004, and push notifications that choose events.
type Legacy struct{ V01 }

// Codes of the dialect; the same numbers mean other things from A2A 0.2 on.
const (
	legacyUnauthorized  = -32000
	legacyTaskNotFound  = -32001
	legacyIllegalMove   = -32002
	legacyStoreFull     = -32003
	legacyWebhookScheme = -32004
)

var legacyMethods = map[string]model.Operation{
	"tasks/send":                 model.SendMessage,
	"tasks/get":                  model.GetTask,
	"tasks/cancel":               model.CancelTask,
	"tasks/pushNotification/set": model.CreatePushConfig,
	"tasks/pushNotification/get": model.GetPushConfig,
}

// LegacyStream is the one method of the path /subscribe, and no method of the endpoint.
const LegacyStream = "tasks/sendSubscribe"

// Operation implements [model.Dialect].
func (Legacy) Operation(method string) (model.Operation, bool) {
	op, ok := legacyMethods[method]
	return op, ok
}

// Decode implements dialect. Sends do not wait for the task: the response is immediate.
func (d Legacy) Decode(op model.Operation, params jsonvalue.Object) (*model.Request, *model.Failure) {
	r, f := d.V01.Decode(op, params)
	if f != nil {
		return nil, f
	}
	r.Immediate = true
	if r.Push == nil {
		return r, nil
	}
	return r, d.readEvents(params, r.Push)
}

// readEvents reads the events that a webhook subscribes to, and its authentication.
func (d Legacy) readEvents(params jsonvalue.Object, c *model.PushConfig) *model.Failure {
	f := model.ReadFields(params)
	config, ok := f.Nested("pushNotificationConfig")
	if !ok {
		config, _ = f.Nested("pushNotification")
	}
	c.Dialect, c.Events, c.Retries, c.EndsByFailure = d, config.Texts("events"), legacyRetries, true
	for _, e := range c.Events {
		if e != model.LegacyStatus && e != model.LegacyArtifact {
			config.Complain("events", `must be "status" or "artifact"`)
		}
	}
	if u, err := url.Parse(c.URL); err == nil && u.Scheme == "http" && f.Failure() == nil {
		return model.Fail(model.CodeWebhookScheme, "The webhook URL must use https")
	}
	if c.Token != "" {
		c.Schemes, c.Credentials, c.Token = []string{"Bearer"}, c.Token, ""
	}
	return f.Failure()
}

const legacyRetries = 3

// Result implements [model.Dialect].
func (d Legacy) Result(_ model.Operation, r model.Reply) any {
	switch {
	case r.Config != nil:
		return d.pushConfig(*r.Config)
	case r.Task != nil:
		return d.task(*r.Task)
	}
	return nil
}

// Event writes the latest status or artifact; only the last event of a stream has a member final.
func (d Legacy) Event(e model.Event) any {
	switch {
	case e.Task != nil:
		return jsonvalue.Object{{"id", e.Task.ID}, {"status", d.status(e.Task.Status)}}.Flag("final",
			e.Task.Status.State.Terminal())
	case e.Status != nil:
		return jsonvalue.Object{{"id", e.Status.TaskID}, {"status", d.status(e.Status.Status)}}.Flag("final", e.Terminal())
	}
	a := d.artifact(e.Artifact.Artifact).(jsonvalue.Object).With("index", e.Artifact.Index).Flag("append",
		e.Artifact.Append)
	return jsonvalue.Object{{"id", e.Artifact.TaskID}, {"artifact", a}}
}

// task writes the history as the statuses that there were.
func (d Legacy) task(t model.Task) any {
	return d.V01.task(t).(jsonvalue.Object).Without("history").List("history", jsonvalue.Values(t.Statuses, d.status))
}

func (d Legacy) pushConfig(c model.PushConfig) any {
	o := jsonvalue.Object{{"url", c.URL}}.List("events", jsonvalue.Texts(c.Events...))
	return jsonvalue.Object{{"id", c.TaskID}, {"pushNotificationConfig", o}}
}

// Notification implements dialect.
func (d Legacy) Notification(e model.Event, t model.Task) (any, string, bool) {
	return jsonvalue.Object{
		{"taskId", t.ID},
		{"eventType", model.LegacyName(e)},
		{"status", d.status(t.Status)},
		{"timestamp", model.Timestamp(t.Status.At)},
	}, "application/json", true
}

// LegacyMoves are the states that may follow each, for those that do not end a task.
var LegacyMoves = map[model.State][]model.State{
	model.Submitted:     {model.Working, model.Failed, model.Canceled},
	model.Working:       {model.Completed, model.Failed, model.Canceled, model.InputRequired},
	model.InputRequired: {model.Working, model.Failed, model.Canceled},
}

// Code implements dialect.
func (Legacy) Code(f *model.Failure) int {
	switch f.Code {
	case model.CodeUnauthenticated:
		return legacyUnauthorized
	case model.CodeTaskNotFound:
		return legacyTaskNotFound
	case model.CodeTaskNotCancelable, model.CodeUnsupported:
		return legacyIllegalMove
	case model.PushNotSupported().Code: // with a message; −32003 means a full store here
		return model.CodeInvalidParams
	case model.CodeStoreFull:
		return legacyStoreFull
	case model.CodeWebhookScheme:
		return legacyWebhookScheme
	}
	return f.Code
}
