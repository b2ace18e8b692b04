package dialect

import (
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// The JSON of A2A 0.3 over HTTP+JSON: the JSON-RPC binding's, with a wrapper around the results of sends and streams.
type V03rest struct{ V03 }

// Decode implements dialect. The config to create is in a separate member, or is the body.
func (d V03rest) Decode(op model.Operation, params jsonvalue.Object) (*model.Request, *model.Failure) {
	if op == model.ListTasks {
		return &model.Request{Op: op, List: model.Listing{PageSize: 100, Artifacts: true}}, nil
	}
	if op == model.CreatePushConfig {
		params = unwrapConfig(params)
	}
	return d.V03.Decode(op, params)
}

// unwrapConfig unwraps the container of a push config from the member "config". The task is the path's.
func unwrapConfig(params jsonvalue.Object) jsonvalue.Object {
	config, ok := params.Get("config")
	if inner, is := config.(jsonvalue.Object); ok && is {
		task, _ := params.Get("taskId")
		return inner.With("taskId", task)
	}
	return params
}

// Result implements dialect (A2A 0.3 §3.2.3).
func (d V03rest) Result(op model.Operation, r model.Reply) any {
	switch {
	case r.Message != nil:
		return jsonvalue.Object{{"message", d.message(*r.Message)}}
	case r.Page != nil:
		return jsonvalue.Values(r.Page.Tasks, d.task)
	case r.Task != nil && op == model.SendMessage:
		return jsonvalue.Object{{"task", d.task(*r.Task)}}
	case op == model.DeletePushConfig:
		return jsonvalue.Object{}
	}
	return d.V03.Result(op, r)
}

// Event implements [model.Dialect].
func (d V03rest) Event(e model.Event) any { return wrapped(e, d.V03.Event(e)) }
