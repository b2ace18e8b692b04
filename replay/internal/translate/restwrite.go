package translate

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
)

// writeREST writes a call over HTTP+JSON from the parameters of its dialect.
func writeREST(op a2a.Operation, d a2a.Dialect, params a2a.Value, m manner) (Request, error) {
	w := restWriter{manner: m, op: op, dialect: d, params: params, rest: map[string]a2a.Value{}}
	for name, v := range params.Members() {
		if !v.IsNull() {
			w.rest[name] = v
		}
	}
	r := w.write()
	if w.err == nil && !w.lenient {
		w.err = w.leftover()
	}
	if w.err != nil {
		return Request{}, w.err
	}
	if m.tenant != "" {
		r.Path = "/" + segment(m.tenant) + r.Path
	}
	return r, nil
}

// A restWriter writes one call. Its rest has the parameters that are not written yet.
type restWriter struct {
	manner
	op      a2a.Operation
	dialect a2a.Dialect
	params  a2a.Value
	rest    map[string]a2a.Value
	err     error
}

func (w *restWriter) write() (r Request) {
	r.Method, r.Path = w.op.Route(w.dialect)
	task, config := idNames(w.op, w.dialect)
	for _, id := range [...]struct{ in, name string }{{"{task}", task}, {"{config}", config}} {
		if before, after, ok := strings.Cut(r.Path, id.in); ok {
			r.Path = before + w.id(id.name) + after
		}
	}
	switch {
	case r.Method == "":
		w.fail("it has no %s", w.op)
	case w.op.Sends():
		r.Body, w.rest = w.params.Raw(), nil
	case w.op == a2a.CreatePushConfig:
		r.Body = w.config()
	case r.Method == "POST":
		r.Body = w.body()
	default:
		r.Query = w.query()
	}
	return r
}

func (w *restWriter) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// id takes a parameter that is a segment of the path.
func (w *restWriter) id(name string) string {
	text := w.rest[name].Text()
	if text == "" && !w.lenient {
		w.fail("the path needs the parameter %s", name)
	}
	delete(w.rest, name)
	return segment(text)
}

// segment escapes an id for a path, including its colons, since a colon precedes a verb.
func segment(id string) string { return strings.ReplaceAll(url.PathEscape(id), ":", "%3A") }

// query takes the parameters that belong in the query.
func (w *restWriter) query() string {
	var q string
	known := queryOf(w.op, w.dialect)
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
			w.fail("%s is %s, which a query cannot express", at(v), short(v))
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

// config takes the parameters of a push config: in 0.3 the container, in a separate member.
func (w *restWriter) config() []byte {
	var out object
	switch {
	case w.protoJSON:
		config := w.params.Get("pushNotificationConfig")
		out.addText("name", configName("tasks/"+w.params.Get("taskId").Text(), config.Get("id").Text()))
		out.add("pushNotificationConfig", config.Raw())
		w.rest = nil
		return out.json()
	case !modern(w.dialect):
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

// leftover returns an error about parameters that were not written.
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
