package translate

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"a2atap/proxy/a2a"
)

// readREST returns the parameters of a call over HTTP+JSON in the JSON-RPC form of its dialect: ids from the path,
// values from the query, and the members of the body (A2A 0.3 §3.5.6, 1.0 §11.3 and §11.5). It returns the rest of
// the query unchanged.
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
	if query, err = readQuery(&out, call, queryOf(call.Operation, d), carry); err != nil {
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

// idNames returns the names of the parameters that hold the ids in the route of an operation.
func idNames(op a2a.Operation, d a2a.Dialect) (task, config string) {
	switch {
	case op == a2a.CreatePushConfig:
		return "taskId", ""
	case modern(d) && op.Push():
		return "taskId", "id"
	}
	return "id", "pushNotificationConfigId"
}

// addIDs writes the ids of a path.
func addIDs(out *object, call *a2a.Call, d a2a.Dialect) {
	task, config := idNames(call.Operation, d)
	_, route := call.Operation.Route(d)
	if strings.Contains(route, "{task}") {
		out.addText(task, call.TaskID)
	}
	if strings.Contains(route, "{config}") {
		out.addText(config, call.ConfigID)
	}
}

// bodyOf returns the table for bodies other than messages and configs: few have members, and ids in them repeat the
// path.
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
		return keeping("id url token authentication", table{
			"taskId": repeated, "tenant": only(call.Tenant),
		}).write(out, body)
	}
	container := body
	if config := body.Get("config"); config.Exists() {
		if body.Len() > 1 {
			return errors.New("its body has other members than config")
		}
		container = config
	}
	name := "tasks/" + call.TaskID
	if id := call.ConfigID; id != "" {
		name = configName(name, id)
	}
	return table{"taskId": repeated, "name": only(name), "pushNotificationConfig": keep, "metadata": keep}.write(out, container)
}

// A parameter converts a query value to JSON.
type parameter func(text string) (json []byte, ok bool)

func isText(text string) ([]byte, bool) { return quote(text), utf8.ValidString(text) }

func isNumber(text string) ([]byte, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	return []byte(text), err == nil && strconv.FormatInt(n, 10) == text
}

func isBool(text string) ([]byte, bool) { return []byte(text), text == "true" || text == "false" }

// readQuery writes the parameters in a query as members. It returns those that are passed on unchanged.
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
			return "", fmt.Errorf("it has no equivalent of the query parameter %s", name)
		case seen[name]:
			return "", fmt.Errorf("the query parameter %s is repeated", name)
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
