package translate

import (
	"fmt"

	"a2atap/proxy/a2a"
)

// A form has the conversions of an operation's parameters, in the JSON of JSON-RPC (A2A 0.1 §7, 0.3 §7, 1.0 §3.1). A nil
// writer means that the protocol lacks the operation.
type form struct {
	newer   writer               // from 0.2 and 0.3 to 1.0
	older   writer               // from 1.0 to 0.2 and 0.3
	oldest  writer               // from 1.0 to 0.1, which is only written, and leniently
	message writer               // from 0.3 to the message of its proto file
	query   map[string]parameter // in the query of HTTP+JSON in 1.0 (A2A 1.0 §11.5)
}

var forms = map[a2a.Operation]form{
	a2a.SendMessage:          {newer: send10(false), older: send03(false), oldest: send01.write, message: sendMessage03},
	a2a.SendStreamingMessage: {newer: send10(true), older: send03(true), oldest: send01.write, message: sendMessage03},
	a2a.GetTask: {
		newer:   keeping("id historyLength", table{"metadata": unset}).write,
		older:   keeping("id historyLength", table{}).write,
		oldest:  keeping("id historyLength", table{}).write,
		message: named("name", table{"id": drop, "historyLength": notZero, "metadata": unset}),
		query:   map[string]parameter{"historyLength": isNumber},
	},
	a2a.ListTasks: {
		newer: table{}.write, older: table{"pageToken": unset, "contextId": unset}.write, message: listMessage.write,
		query: map[string]parameter{
			"contextId": isText, "status": isText, "pageSize": isNumber, "pageToken": isText, "historyLength": isNumber,
			"statusTimestampAfter": isText, "includeArtifacts": isBool,
		},
	},
	a2a.CancelTask: {
		newer: idAndMetadata.write, older: idAndMetadata.write, oldest: idAndMetadata.write,
		message: named("name", table{"id": drop, "metadata": unset}),
	},
	a2a.SubscribeToTask: {
		newer: table{"id": keep, "metadata": unset}.write, older: table{"id": keep}.write, oldest: table{"id": keep}.write,
		message: named("name", table{"id": drop, "metadata": unset}),
	},
	a2a.CreatePushConfig: {
		newer: table{"taskId": keep, "pushNotificationConfig": spread(config10.write), "metadata": unset}.write,
		older: createPush(keep, config03), oldest: createPush(as("id"), config01), message: createMessage03,
	},
	a2a.GetPushConfig: {
		newer: configID10.write, older: configID03.write, oldest: table{"taskId": as("id")}.write, message: namedPush,
	},
	a2a.DeletePushConfig: {newer: configID10.write, older: configID03.write, message: namedPush},
	a2a.ListPushConfigs: {
		newer:   table{"id": as("taskId"), "metadata": unset}.write,
		older:   table{"taskId": as("id"), "pageToken": unset}.write,
		message: named("parent", table{"id": drop, "metadata": unset}),
		query:   map[string]parameter{"pageSize": isNumber, "pageToken": isText},
	},
	a2a.GetExtendedCard: {newer: table{}.write, older: table{}.write, message: table{}.write},
}

var (
	idAndMetadata = keeping("id metadata", table{})
	configID10    = table{"id": as("taskId"), "pushNotificationConfigId": as("id"), "metadata": unset}
	configID03    = table{"taskId": as("id"), "id": as("pushNotificationConfigId")}
)

// queryOf returns the parameters that an operation has in the query. Before 1.0 only GetTask has any (A2A 0.3 §3.5.6).
func queryOf(op a2a.Operation, d a2a.Dialect) map[string]parameter {
	if !modern(d) && op != a2a.GetTask {
		return nil
	}
	return forms[op].query
}

// createPush writes the flat config of 1.0 with the task next to it.
func createPush(task member, config table) writer {
	return func(out *object, v a2a.Value) error {
		inner := out.inner()
		t := table{}
		for name, say := range config {
			t[name] = func(_ *object, name string, v a2a.Value) error { return say(&inner, name, v) }
		}
		t["taskId"] = task
		if err := t.write(out, v); err != nil {
			return err
		}
		out.add("pushNotificationConfig", inner.json())
		return nil
	}
}

// inDialect converts parameters from one dialect to another.
func inDialect(op a2a.Operation, params a2a.Value, from, to a2a.Dialect, lenient bool) (a2a.Value, error) {
	write := forms[op].newer
	switch {
	case modern(from) == modern(to):
		return params, nil
	case to == a2a.V0_1:
		write = forms[op].oldest
	case modern(from):
		write = forms[op].older
	}
	return convert(op, params, write, lenient)
}

// convert converts the parameters of an operation.
func convert(op a2a.Operation, params a2a.Value, write writer, lenient bool) (a2a.Value, error) {
	if write == nil {
		return params, fmt.Errorf("it has no %s", op)
	}
	out := object{lenient: lenient}
	if err := write(&out, params); err != nil {
		return params, err
	}
	return a2a.Parse(out.json()).Root, nil
}

func modern(d a2a.Dialect) bool { return d == a2a.V1_0 }

// withoutTenant returns the parameters of 1.0 without the tenant, whose place depends on the binding.
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
