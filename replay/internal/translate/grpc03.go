package translate

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
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
		config = task + configsRoute + "/" + call.ConfigID
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

// namedConfig is a push config whose id may stand beside it alone.
func namedConfig(id string) member {
	return within("pushNotificationConfig", func(out *object, v a2a.Value) error {
		t := table{"id": only(id)}
		for name, say := range configProto {
			if name != "id" {
				t[name] = say
			}
		}
		if id != "" {
			out.addText("id", id)
		}
		return t.write(out, v)
	})
}

// methods03 are the methods of 0.3 that have another name than the operation.
var methods03 = map[a2a.Operation]string{
	a2a.SubscribeToTask: "TaskSubscription",
	a2a.ListPushConfigs: "ListTaskPushNotificationConfig",
	a2a.GetExtendedCard: "GetAgentCard",
}

// writeGRPC03 writes a call over gRPC of 0.3 from the parameters that JSON-RPC has.
func writeGRPC03(op a2a.Operation, params a2a.Value) (Request, error) {
	var message object
	w, ok := inMessage[op]
	if !ok {
		return Request{}, fmt.Errorf("there is no %s", op)
	}
	if err := w(&message, params); err != nil {
		return Request{}, err
	}
	name := cmp.Or(methods03[op], op.MethodName(a2a.V1_0))
	return Request{Method: "POST", Path: "/" + grpc.Service0_3 + "/" + name, Body: message.json()}, nil
}

// inMessage says for each operation what the messages of gRPC have for the parameters of 0.3.
var inMessage = map[a2a.Operation]writer{
	a2a.SendMessage:          sendMessage03,
	a2a.SendStreamingMessage: sendMessage03,
	a2a.GetTask:              named("name", table{"id": drop, "historyLength": notZero, "metadata": unset}),
	a2a.CancelTask:           named("name", table{"id": drop, "metadata": unset}),
	a2a.SubscribeToTask:      named("name", table{"id": drop, "metadata": unset}),
	a2a.CreatePushConfig:     createMessage03,
	a2a.GetPushConfig:        namedPush,
	a2a.DeletePushConfig:     namedPush,
	a2a.ListPushConfigs:      named("parent", table{"id": drop, "metadata": unset}),
	a2a.ListTasks:            table{}.write,
	a2a.GetExtendedCard:      table{}.write,
}

// named writes parameters whose task stands in a path.
func named(member string, t table) writer {
	return func(out *object, v a2a.Value) error {
		task, err := taskName(v.Get("id"))
		if err != nil {
			return err
		}
		out.addText(member, task)
		return t.write(out, v)
	}
}

// taskName returns the path of a task.
func taskName(id a2a.Value) (string, error) {
	switch text := id.Text(); {
	case id.Kind() != a2a.String || text == "":
		return "", errors.New("the message needs the id of the task")
	case strings.Contains(text, "/"):
		return "", fmt.Errorf("the message names the task by a path, in which its id %q cannot stand", text)
	default:
		return "tasks/" + text, nil
	}
}

// namedPush writes parameters whose push config stands in a path.
func namedPush(out *object, v a2a.Value) error {
	task, err := taskName(v.Get("id"))
	if err != nil {
		return err
	}
	config := v.Get("pushNotificationConfigId")
	if config.Text() == "" {
		return errors.New("the message needs the id of the config")
	}
	out.addText("name", task+configsRoute+"/"+config.Text())
	return table{"id": drop, "pushNotificationConfigId": drop, "metadata": unset}.write(out, v)
}

// createMessage03 writes a push config, which there has to have an id.
func createMessage03(out *object, v a2a.Value) error {
	task, err := taskName(v.Get("taskId"))
	if err != nil {
		return err
	}
	id := v.Get("pushNotificationConfig").Get("id").Text()
	if id == "" {
		return errors.New("the message needs the id of the config")
	}
	out.addText("parent", task)
	out.addText("configId", id)
	return table{
		"taskId": drop, "metadata": unset,
		"pushNotificationConfig": within("config", func(config *object, v a2a.Value) error {
			config.addText("name", task+configsRoute+"/"+id)
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

// messageOut is what the messages of gRPC have for the members of a message of 0.3.
var messageOut = table{
	"kind":             only("message"),
	"messageId":        keep,
	"contextId":        keep,
	"taskId":           keep,
	"role":             role(a2a.V0_3, a2a.V1_0),
	"parts":            each("content", partOut),
	"referenceTaskIds": keep,
	"extensions":       keep,
	"metadata":         keep,
}

// partOut writes a part of 0.3 as the messages of gRPC have it.
func partOut(out *object, v a2a.Value) error {
	t := table{"kind": drop, "metadata": keep}
	switch (a2a.Part{Value: v}).PartKind() {
	case a2a.TextPart:
		t["text"] = keep
	case a2a.DataPart:
		if data := v.Get("data"); data.Kind() != a2a.Object {
			return fmt.Errorf("%s is %s, and data are an object there", at(data), data.Kind())
		}
		t["data"] = within("data", func(data *object, v a2a.Value) error { return keep(data, "data", v) })
	case a2a.RawPart, a2a.URLPart:
		t["file"] = within("file", table{
			"bytes": as("fileWithBytes"), "uri": as("fileWithUri"), "name": keep, "mimeType": keep,
		}.write)
	default:
		return unknownPart(v)
	}
	return t.write(out, v)
}

// notZero is a number that a message does not have if it is 0, which means nothing else than that it is not there.
func notZero(out *object, name string, v a2a.Value) error {
	if strings.Trim(string(v.Raw()), "-0.") == "" {
		return fmt.Errorf("the message cannot say that %s is 0", at(v))
	}
	return keep(out, name, v)
}

// unlessFalse is a truth value that a message does not have if it is false.
func unlessFalse(out *object, name string, v a2a.Value) error {
	if b, ok := v.Bool(); ok && !b {
		return nil
	}
	return keep(out, name, v)
}
