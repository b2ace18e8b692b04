package dialect

import (
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// The messages of A2A 0.3 over gRPC, as JSON, from its proto definition, where requests name tasks and configs by
// paths.
type V03grpc struct{ V03proto }

// Operation implements [model.Dialect].
func (V03grpc) Operation(method string) (model.Operation, bool) {
	switch op := model.Operation(method); op {
	case "TaskSubscription":
		return model.SubscribeTask, true
	case "ListTaskPushNotificationConfig":
		return model.ListPushConfigs, true
	case "GetAgentCard":
		return model.GetExtendedCard, true
	case model.SendMessage, model.StreamMessage, model.GetTask, model.CancelTask, model.CreatePushConfig,
		model.GetPushConfig, model.DeletePushConfig:
		return op, true
	}
	return "", false
}

// Details implements dialect: 0.3 does not mention them, but only they distinguish errors with the same status.
func (V03grpc) Details(f *model.Failure) []any { return V10{}.Details(f) }

// Decode implements dialect (A2A 0.3 §3.5.6, and its proto definition).
func (d V03grpc) Decode(op model.Operation, params jsonvalue.Object) (*model.Request, *model.Failure) {
	f := model.ReadFields(params)
	name := f.Text("name") + f.Text("parent")
	path, _ := strings.CutPrefix(name, "tasks/")
	task, config, _ := strings.Cut(path, "/pushNotificationConfigs/")
	if path == name { // the prefix is missing
		task = ""
	}
	switch op {
	case model.SendMessage, model.StreamMessage:
		return d.V03proto.Decode(op, params)
	case model.GetPushConfig, model.DeletePushConfig:
		return d.V03.Decode(op, jsonvalue.Object{{"id", task}, {"pushNotificationConfigId", config}})
	case model.CreatePushConfig:
		outer, _ := f.Nested("config")
		inner, _ := outer.Nested("pushNotificationConfig")
		if id := f.Text("configId"); id != "" && inner.Text("id") == "" {
			inner.Object = inner.Object.With("id", id)
		}
		return d.V03.Decode(op, jsonvalue.Object{{"taskId", task}, {"pushNotificationConfig", inner.Object}})
	}
	return d.V03.Decode(op, params.With("id", task))
}
