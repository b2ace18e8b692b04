package translate

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
)

// writeREST writes a call over HTTP+JSON from the parameters of its dialect.
func writeREST(op a2a.Operation, d a2a.Dialect, params a2a.Value, tenant string) (Request, error) {
	w := restWriter{op: op, dialect: d, params: params, rest: map[string]a2a.Value{}}
	for name, v := range params.Members() {
		if !v.IsNull() {
			w.rest[name] = v
		}
	}
	r := w.write()
	if w.err == nil {
		w.err = w.leftover()
	}
	if w.err != nil {
		return Request{}, w.err
	}
	switch {
	case !modern(d):
		r.Path = "/v1" + r.Path
	case tenant != "":
		r.Path = "/" + segment(tenant) + r.Path
	}
	return r, nil
}

// A restWriter writes one call. What it has not written yet is in rest.
type restWriter struct {
	op      a2a.Operation
	dialect a2a.Dialect
	params  a2a.Value
	rest    map[string]a2a.Value
	err     error
}

func (w *restWriter) write() Request {
	switch w.op {
	case a2a.SendMessage:
		return w.send("/message:send")
	case a2a.SendStreamingMessage:
		return w.send("/message:stream")
	case a2a.GetTask:
		return Request{Method: "GET", Path: w.task("id"), Query: w.query()}
	case a2a.ListTasks:
		return Request{Method: "GET", Path: "/tasks", Query: w.query()}
	case a2a.CancelTask:
		return Request{Method: "POST", Path: w.task("id") + ":cancel", Body: w.body()}
	case a2a.SubscribeToTask:
		return Request{Method: "POST", Path: w.task("id") + ":subscribe", Body: w.body()}
	case a2a.GetExtendedCard:
		if modern(w.dialect) {
			return Request{Method: "GET", Path: "/extendedAgentCard"}
		}
		return Request{Method: "GET", Path: "/card"}
	case a2a.CreatePushConfig:
		return Request{Method: "POST", Path: w.task("taskId") + configsRoute, Body: w.config()}
	case a2a.ListPushConfigs:
		task, _ := w.pushIDs()
		return Request{Method: "GET", Path: w.task(task) + configsRoute, Query: w.query()}
	case a2a.GetPushConfig, a2a.DeletePushConfig:
		task, config := w.pushIDs()
		method := "GET"
		if w.op == a2a.DeletePushConfig {
			method = "DELETE"
		}
		return Request{Method: method, Path: w.task(task) + configsRoute + "/" + w.id(config)}
	}
	w.fail("there is no %s", w.op)
	return Request{}
}

const configsRoute = "/pushNotificationConfigs"

func (w *restWriter) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// pushIDs names the members that hold the ids of the task and of the config.
func (w *restWriter) pushIDs() (task, config string) {
	if modern(w.dialect) {
		return "taskId", "id"
	}
	return "id", "pushNotificationConfigId"
}

// id takes a parameter that is a segment of the path.
func (w *restWriter) id(name string) string {
	text := w.rest[name].Text()
	if text == "" {
		w.fail("the path needs the parameter %s", name)
	}
	delete(w.rest, name)
	return segment(text)
}

func (w *restWriter) task(name string) string { return "/tasks/" + w.id(name) }

// segment escapes an id for a path. A colon of its own must not be taken for the one before a verb.
func segment(id string) string { return strings.ReplaceAll(url.PathEscape(id), ":", "%3A") }

// send takes all parameters for the body.
func (w *restWriter) send(path string) Request {
	w.rest = nil
	return Request{Method: "POST", Path: path, Body: w.params.Raw()}
}

// query takes the parameters that stand in the query.
func (w *restWriter) query() string {
	var q string
	known := queries[w.dialect][w.op]
	for name, v := range w.params.Members() {
		is := known[name]
		if _, left := w.rest[name]; !left || is == nil {
			continue
		}
		delete(w.rest, name)
		text := string(v.Raw())
		if v.Kind() == a2a.String {
			text = v.Text()
		}
		json, ok := is(text)
		if !ok || (json[0] == '"') != (v.Kind() == a2a.String) { // of another type than what a query holds
			w.fail("%s is %s, which a query cannot say", at(v), short(v))
		}
		q = addQuery(q, name, text)
	}
	return q
}

// body takes the rest of the parameters of a verb, in 0.3 with the name of the task.
func (w *restWriter) body() []byte {
	var out object
	if !modern(w.dialect) {
		out.addText("name", "tasks/"+w.params.Get("id").Text())
	} else if metadata, ok := w.rest["metadata"]; ok && w.op == a2a.CancelTask {
		delete(w.rest, "metadata")
		out.add("metadata", metadata.Raw())
	}
	return out.json()
}

// config takes the parameters of a push config: in 0.3 the container, in a member of its own.
func (w *restWriter) config() []byte {
	var out object
	if !modern(w.dialect) {
		out.add("config", w.params.Raw())
		w.rest = nil
		return out.json()
	}
	for name, v := range w.params.Members() {
		if _, left := w.rest[name]; left {
			out.add(name, v.Raw())
		}
	}
	w.rest = nil
	return out.json()
}

// leftover says what of the parameters was not written.
func (w *restWriter) leftover() error {
	var names []string
	for name, v := range w.rest {
		if name != "metadata" || v.Len() > 0 || v.Kind() != a2a.Object {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("the request has no place for the parameter %s", strings.Join(names, ", "))
}

// addQuery adds a parameter to a query.
func addQuery(query, name, value string) string {
	pair := url.QueryEscape(name) + "=" + strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	if query == "" {
		return pair
	}
	return query + "&" + pair
}
