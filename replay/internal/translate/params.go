package translate

import (
	"fmt"

	"a2atap/proxy/a2a"
)

// newer says for each operation what 1.0 has for the parameters of 0.2 and 0.3 (A2A 0.3 §7, 1.0 §3.1).
var newer = map[a2a.Operation]writer{
	a2a.SendMessage:          send10(false),
	a2a.SendStreamingMessage: send10(true),
	a2a.GetTask:              table{"id": keep, "historyLength": keep, "metadata": unset}.write,
	a2a.ListTasks:            table{}.write,
	a2a.CancelTask:           table{"id": keep, "metadata": keep}.write,
	a2a.SubscribeToTask:      table{"id": keep, "metadata": unset}.write,
	a2a.CreatePushConfig: table{
		"taskId": keep, "pushNotificationConfig": spread(config10.write), "metadata": unset,
	}.write,
	a2a.GetPushConfig: table{
		"id": as("taskId"), "pushNotificationConfigId": as("id"), "metadata": unset,
	}.write,
	a2a.DeletePushConfig: table{
		"id": as("taskId"), "pushNotificationConfigId": as("id"), "metadata": unset,
	}.write,
	a2a.ListPushConfigs: table{"id": as("taskId"), "metadata": unset}.write,
	a2a.GetExtendedCard: table{}.write,
}

// older says for each operation what 0.2 and 0.3 have for the parameters of 1.0.
var older = map[a2a.Operation]writer{
	a2a.SendMessage:          send03(false),
	a2a.SendStreamingMessage: send03(true),
	a2a.GetTask:              table{"id": keep, "historyLength": keep}.write,
	a2a.ListTasks:            table{"pageToken": unset, "contextId": unset}.write,
	a2a.CancelTask:           table{"id": keep, "metadata": keep}.write,
	a2a.SubscribeToTask:      table{"id": keep}.write,
	a2a.CreatePushConfig:     createPush03,
	a2a.GetPushConfig:        table{"taskId": as("id"), "id": as("pushNotificationConfigId")}.write,
	a2a.DeletePushConfig:     table{"taskId": as("id"), "id": as("pushNotificationConfigId")}.write,
	a2a.ListPushConfigs:      table{"taskId": as("id"), "pageToken": unset}.write,
	a2a.GetExtendedCard:      table{}.write,
}

// createPush03 writes the flat config of 1.0 with the task beside it.
func createPush03(out *object, v a2a.Value) error {
	var config object
	t := table{"taskId": keep}
	for name := range config03 {
		if name != "taskId" {
			t[name] = func(_ *object, name string, v a2a.Value) error { return config03[name](&config, name, v) }
		}
	}
	if err := t.write(out, v); err != nil {
		return err
	}
	out.add("pushNotificationConfig", config.json())
	return nil
}

// inDialect writes parameters of one dialect as another has them.
func inDialect(op a2a.Operation, params a2a.Value, from, to a2a.Dialect) (a2a.Value, error) {
	table := newer
	switch {
	case modern(from) == modern(to):
		return params, nil
	case modern(from):
		table = older
	}
	write, ok := table[op]
	if !ok {
		return params, fmt.Errorf("nothing there stands for %s", op)
	}
	var out object
	if err := write(&out, params); err != nil {
		return params, err
	}
	return a2a.Parse(out.json()).Root, nil
}

func modern(d a2a.Dialect) bool { return d == a2a.V1_0 }

// withoutTenant returns the parameters of 1.0 without the tenant, which each binding has in a place of its own.
func withoutTenant(params a2a.Value) a2a.Value {
	if !params.Has("tenant") {
		return params
	}
	var out object
	for name, v := range params.Members() {
		if name != "tenant" {
			out.add(name, v.Raw())
		}
	}
	return a2a.Parse(out.json()).Root
}
