package translate

import (
	"maps"
	"strings"

	"a2atap/proxy/a2a"
)

// readGRPC03 returns the parameters of a call over gRPC of 0.3 as JSON-RPC has them: its messages name tasks and push
// configs by paths (A2A 0.3 §3.2.2, and its proto file).
func readGRPC03(call *a2a.Call) (a2a.Value, error) {
	body, err := parameters(call.Params)
	if err != nil {
		return body, err
	}
	var out object
	if call.Operation.Sends() {
		err := sendProto(call.Streams)(&out, body)
		return a2a.Parse(out.json()).Root, err
	}
	addIDs(&out, call, a2a.V0_3)
	task, config := "tasks/"+call.TaskID, ""
	if call.ConfigID != "" {
		config = configName(task, call.ConfigID)
	}
	t := table{"name": only(task), "parent": only(task)}
	switch call.Operation {
	case a2a.GetTask:
		t["historyLength"] = keep
	case a2a.GetPushConfig, a2a.DeletePushConfig:
		t["name"] = only(config)
	case a2a.CreatePushConfig:
		t["configId"] = only(call.ConfigID)
		t["config"] = spread(table{"name": only(config), "pushNotificationConfig": namedConfig(call.ConfigID)}.write)
	}
	err = t.write(&out, body)
	return a2a.Parse(out.json()).Root, err
}

// namedConfig is a push config whose id may be only next to it.
func namedConfig(id string) member {
	return within("pushNotificationConfig", func(out *object, v a2a.Value) error {
		t := maps.Clone(configProto)
		t["id"] = only(id)
		if id != "" {
			out.addText("id", id)
		}
		return t.write(out, v)
	})
}

// named writes parameters whose task is in a path.
func named(member string, t table) writer {
	return func(out *object, v a2a.Value) error {
		task, err := out.taskName(v.Get("id"))
		if err != nil {
			return err
		}
		out.addText(member, task)
		return t.write(out, v)
	}
}

// taskName returns the path of a task.
func (o *object) taskName(id a2a.Value) (string, error) {
	var err error
	switch text := id.Text(); {
	case id.Kind() != a2a.String || text == "":
		err = o.lacks("the message needs the id of the task")
	case strings.Contains(text, "/"):
		err = o.lacks("the message names the task by a path, which cannot contain its id %q", text)
	}
	return "tasks/" + id.Text(), err
}

// configName returns the path of a push config below that of its task.
func configName(task, id string) string { return task + "/pushNotificationConfigs/" + id }

// namedPush writes parameters whose push config is in a path.
func namedPush(out *object, v a2a.Value) error {
	task, err := out.taskName(v.Get("id"))
	config := v.Get("pushNotificationConfigId")
	if err == nil && config.Text() == "" {
		err = out.lacks("the message needs the id of the config")
	}
	if err != nil {
		return err
	}
	out.addText("name", configName(task, config.Text()))
	return table{"id": drop, "pushNotificationConfigId": drop, "metadata": unset}.write(out, v)
}

// createMessage03 writes a push config, which must have an id in this form.
func createMessage03(out *object, v a2a.Value) error {
	task, err := out.taskName(v.Get("taskId"))
	id := v.Get("pushNotificationConfig").Get("id").Text()
	if err == nil && id == "" {
		err = out.lacks("the message needs the id of the config")
	}
	if err != nil {
		return err
	}
	out.addText("parent", task)
	out.addText("configId", id)
	return table{
		"taskId": drop, "metadata": unset,
		"pushNotificationConfig": within("config", func(config *object, v a2a.Value) error {
			config.addText("name", configName(task, id))
			return within("pushNotificationConfig", configProto.write)(config, "", v)
		}),
	}.write(out, v)
}

// sendMessage03 writes the parameters of a send.
func sendMessage03(out *object, v a2a.Value) error {
	return table{
		"message": within("message", messageOut.write),
		"configuration": within("configuration", table{
			"acceptedOutputModes": keep, "historyLength": notZero, "blocking": unlessFalse,
			"pushNotificationConfig": within("pushNotification", configProto.write),
		}.write),
		"metadata": keep,
	}.write(out, v)
}

// messageOut maps the members of a 0.3 message to the gRPC form.
var messageOut = keeping("messageId contextId taskId extensions metadata", table{
	"kind":             only("message"),
	"role":             role(a2a.V0_3, a2a.V1_0),
	"parts":            each("content", partOut),
	"referenceTaskIds": later,
})

// later is a member that not all proto files of 0.3 have. Clients leave it out, since some agents reject what their file
// does not have.
func later(out *object, name string, v a2a.Value) error {
	if out.lenient {
		return nil
	}
	return keep(out, name, v)
}

// partOut writes a part of 0.3 in its gRPC form.
func partOut(out *object, v a2a.Value) error {
	t := table{"kind": drop, "metadata": later}
	switch (a2a.Part{Value: v}).PartKind() {
	case a2a.TextPart:
		t["text"] = keep
	case a2a.DataPart:
		if err := out.dataObject(v); err != nil {
			return err
		}
		t["data"] = within("data", func(data *object, v a2a.Value) error { return keep(data, "data", v) })
	case a2a.RawPart, a2a.URLPart:
		t["file"] = within("file", table{
			"bytes": as("fileWithBytes"), "uri": as("fileWithUri"), "name": later, "mimeType": keep,
		}.write)
	default:
		return unknownPart(v)
	}
	return t.write(out, v)
}

// listMessage has the parameters of lists of tasks, which only SDKs have, under other names.
var listMessage = keeping("contextId status pageSize pageToken historyLength includeArtifacts", table{
	"statusTimestampAfter": as("lastUpdatedTime"),
})

// notZero is a number that a message omits if it is 0, since 0 means the same as a missing number.
func notZero(out *object, name string, v a2a.Value) error {
	if strings.Trim(string(v.Raw()), "-0.") == "" {
		return out.lacks("the message cannot express that %s is 0", at(v))
	}
	return keep(out, name, v)
}

// unlessFalse is a boolean that a message omits if it is false.
func unlessFalse(out *object, name string, v a2a.Value) error {
	if b, ok := v.Bool(); ok && !b {
		return nil
	}
	return keep(out, name, v)
}
