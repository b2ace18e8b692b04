package translate

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"a2atap/proxy/a2a"
)

// readREST returns the parameters of a call over HTTP+JSON as JSON-RPC has them in its dialect: ids from the path,
// values from the query, and the members of the body (A2A 0.3 §3.5.6, 1.0 §11.3 and §11.5). The query that is no
// parameter is returned as it is.
func readREST(
	call *a2a.Call, d a2a.Dialect, carry func(name, value string) bool,
) (params a2a.Value, query string, err error) {
	var out object
	if call.Operation.Sends() {
		body, err := parameters(call.Params)
		if err != nil {
			return body, "", err
		}
		query, err := readQuery(nil, call, nil, carry)
		if err != nil || modern(d) || !inProtoJSON(body) {
			return body, query, err
		}
		err = sendProto(call.Streams)(&out, body)
		return a2a.Parse(out.json()).Root, query, err
	}
	addIDs(&out, call, d)
	if query, err = readQuery(&out, call, queries[d][call.Operation], carry); err != nil {
		return params, "", err
	}
	body, err := parameters(call.Params)
	if err != nil {
		return params, "", err
	}
	if call.Operation == a2a.CreatePushConfig {
		err = readConfig(&out, call, d, body)
	} else {
		err = bodyOf(call, d).write(&out, body)
	}
	return a2a.Parse(out.json()).Root, query, err
}

// addIDs writes the ids of a path.
func addIDs(out *object, call *a2a.Call, d a2a.Dialect) {
	task, config := "id", "pushNotificationConfigId"
	if modern(d) && call.Operation.Push() {
		task, config = "taskId", "id"
	}
	switch call.Operation {
	case a2a.CreatePushConfig:
		out.addText("taskId", call.TaskID)
	case a2a.GetTask, a2a.CancelTask, a2a.SubscribeToTask, a2a.ListPushConfigs:
		out.addText(task, call.TaskID)
	case a2a.GetPushConfig, a2a.DeletePushConfig:
		out.addText(task, call.TaskID)
		out.addText(config, call.ConfigID)
	}
}

// bodyOf says what the members of a body are that is not of a message or a config: few have any, and ids in it repeat
// the path.
func bodyOf(call *a2a.Call, d a2a.Dialect) table {
	t := table{}
	if modern(d) {
		t["id"], t["tenant"] = only(call.TaskID), only(call.Tenant)
	} else {
		t["name"] = only("tasks/" + call.TaskID)
	}
	if call.Operation == a2a.CancelTask {
		t["metadata"] = keep
	}
	return t
}

// readConfig reads the body of a push config that is created: in 1.0 the config itself, in 0.3 one in the member
// "config", or the container itself (its text and its proto file differ).
func readConfig(out *object, call *a2a.Call, d a2a.Dialect, body a2a.Value) error {
	repeated := only(call.TaskID)
	if modern(d) {
		t := table{"taskId": repeated, "tenant": only(call.Tenant)}
		for _, name := range []string{"id", "url", "token", "authentication"} {
			t[name] = keep
		}
		return t.write(out, body)
	}
	container := body
	if config := body.Get("config"); config.Exists() {
		if body.Len() > 1 {
			return errors.New("its body has more than the member config")
		}
		container = config
	}
	name := only("tasks/" + call.TaskID)
	if id := call.ConfigID; id != "" {
		name = only("tasks/" + call.TaskID + "/pushNotificationConfigs/" + id)
	}
	return table{"taskId": repeated, "name": name, "pushNotificationConfig": keep, "metadata": keep}.write(out, container)
}

// A parameter says how a value of a query is written in JSON.
type parameter func(text string) (json []byte, ok bool)

func isText(text string) ([]byte, bool) { return quote(text), utf8.ValidString(text) }

func isNumber(text string) ([]byte, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return []byte(text), err == nil && strconv.FormatInt(n, 10) == text
}

func isBool(text string) ([]byte, bool) { return []byte(text), text == "true" || text == "false" }

// queries has the parameters that stand in the query (A2A 0.3 §3.5.6, 1.0 §11.5).
var queries = map[a2a.Dialect]map[a2a.Operation]map[string]parameter{
	a2a.V0_2: {a2a.GetTask: {"historyLength": isNumber}},
	a2a.V0_3: {a2a.GetTask: {"historyLength": isNumber}},
	a2a.V1_0: {
		a2a.GetTask: {"historyLength": isNumber},
		a2a.ListTasks: {
			"contextId": isText, "status": isText, "pageSize": isNumber, "pageToken": isText, "historyLength": isNumber,
			"statusTimestampAfter": isText, "includeArtifacts": isBool,
		},
		a2a.ListPushConfigs: {"pageSize": isNumber, "pageToken": isText},
	},
}

// readQuery writes the parameters in a query as members. It returns those that go along as they are.
func readQuery(
	out *object, call *a2a.Call, known map[string]parameter, carry func(name, value string) bool,
) (rest string, err error) {
	seen := map[string]bool{}
	for name, value := range call.QueryValues() {
		read := known[name]
		switch {
		case name == "A2A-Version", name == "tenant" && value == call.Tenant:
			continue
		case read == nil && carry != nil && carry(name, value):
			rest = addQuery(rest, name, value)
			continue
		case read == nil:
			return "", fmt.Errorf("nothing there stands for the query parameter %s", name)
		case seen[name]:
			return "", fmt.Errorf("the query parameter %s is there twice", name)
		}
		seen[name] = true
		json, ok := read(value)
		if !ok {
			return "", fmt.Errorf("the query parameter %s is %q", name, value)
		}
		out.add(name, json)
	}
	return rest, nil
}
