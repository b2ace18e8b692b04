package mutation_test

import (
	"bytes"
	"regexp"
	"strings"

	"a2atap/proxy/capture"
)

// A speech is a dialect over a binding, or a set of them.
type speech uint8

const (
	v01 speech = 1 << iota
	v02
	v03
	v10
	rest03
	rest10

	rpc    = v01 | v02 | v03 | v10
	rests  = rest03 | rest10
	kinds  = v02 | v03
	modern = v10 | rest10
	older  = v01 | v02 | v03 | rest03
	later  = kinds | rest03 | modern
	every  = rpc | rests
)

var speeches = []struct {
	is   speech
	name string
}{{v01, "0.1"}, {v02, "0.2"}, {v03, "0.3"}, {v10, "1.0"}, {rest03, "0.3 rest"}, {rest10, "1.0 rest"}}

// operations are the JSON-RPC methods by what is asked.
var operations = map[string]string{
	"tasks/send": "send", "message/send": "send", "SendMessage": "send",
	"tasks/sendSubscribe": "stream", "message/stream": "stream", "SendStreamingMessage": "stream",
	"tasks/get": "get", "GetTask": "get", "ListTasks": "list", "tasks/cancel": "cancel", "CancelTask": "cancel",
	"tasks/resubscribe": "subscribe", "SubscribeToTask": "subscribe",
	"tasks/pushNotification/set": "set", "tasks/pushNotificationConfig/set": "set",
	"CreateTaskPushNotificationConfig": "set",
	"tasks/pushNotification/get":       "config", "tasks/pushNotificationConfig/get": "config",
	"GetTaskPushNotificationConfig":     "config",
	"tasks/pushNotificationConfig/list": "configs", "ListTaskPushNotificationConfigs": "configs",
	"tasks/pushNotificationConfig/delete": "delete", "DeleteTaskPushNotificationConfig": "delete",
	"agent/getAuthenticatedExtendedCard": "card", "GetExtendedAgentCard": "card",
}

var routes = []struct {
	pattern   *regexp.Regexp
	operation string
}{
	{regexp.MustCompile(`^POST \S*/message:send\b`), "send"},
	{regexp.MustCompile(`^POST \S*/message:stream\b`), "stream"},
	{regexp.MustCompile(`^POST \S*/tasks/[^/]+:cancel\b`), "cancel"},
	{regexp.MustCompile(`^(?:POST|GET) \S*/tasks/[^/]+:subscribe\b`), "subscribe"},
	{regexp.MustCompile(`^POST \S*/tasks?/[^/]+/pushNotificationConfigs\b`), "set"},
	{regexp.MustCompile(`^GET \S*/tasks/[^/]+/pushNotificationConfigs[ ?]`), "configs"},
	{regexp.MustCompile(`^GET \S*/tasks/[^/]+/pushNotificationConfigs/`), "config"},
	{regexp.MustCompile(`^DELETE \S*/tasks/[^/]+/pushNotificationConfigs/`), "delete"},
	{regexp.MustCompile(`^GET \S*/tasks/[^/:]+[ ?]`), "get"},
	{regexp.MustCompile(`^GET \S*/tasks[ ?]`), "list"},
	{regexp.MustCompile(`^GET \S*/(?:extendedAgentCard|card) `), "card"},
}

// A kind says what an exchange is, as far as mutations have to know.
type kind struct {
	operation string // of operations, or "fetch" of a public card, "hook" of a notification, "unknown" of another call
	in        speech // 0 where the exchange does not tell; 0.2 and 0.3 both where it does not tell them apart
	rest      bool
	status    string // of the answer
}

func kindOf(x *capture.Exchange) kind {
	var k kind
	head := string(x.Request.Head)
	if x.Response != nil {
		if _, rest, ok := strings.Cut(string(x.Response.Head), " "); ok {
			k.status = rest[:min(3, len(rest))]
		}
	}
	line, _, _ := strings.Cut(head, "\r\n")
	switch {
	case strings.Contains(line, "/.well-known/agent"):
		k.operation = "fetch"
	case strings.HasPrefix(line, "POST /hook"):
		k.operation = "hook"
	}
	if k.operation != "" {
		return k
	}
	for _, r := range routes {
		if r.pattern.MatchString(line) && !bytes.Contains(x.Request.Body.Data, []byte(`"jsonrpc"`)) {
			k.operation, k.rest, k.in = r.operation, true, rest10
			if strings.Contains(line, "/v1/") {
				k.in = rest03
			}
			return k
		}
	}
	v, ok := parseValue(string(x.Request.Body.Data))
	if !ok || v.get("jsonrpc") == nil || v.get("method") == nil {
		return k
	}
	method := strings.Trim(v.get("method").raw, `"`)
	k.operation, k.in = operations[method], v10
	switch {
	case k.operation == "":
		k.operation, k.in = "unknown", 0
	case strings.HasPrefix(method, "tasks/send"), strings.HasPrefix(method, "tasks/pushNotification/"):
		k.in = v01
	case method == "tasks/get", method == "tasks/cancel", method == "tasks/resubscribe":
		k.in = v01 | kinds
	case strings.Contains(method, "/"):
		k.in = kinds
	}
	return k
}

// speechOf returns the dialect and binding of a conversation that uses only one of each.
func speechOf(exchanges []*capture.Exchange) speech {
	all := every
	for _, x := range exchanges {
		k := kindOf(x)
		if k.in != 0 {
			all &= k.in
		}
		if k.operation != "fetch" || x.Response == nil {
			continue
		}
		switch body := x.Response.Body.Data; {
		case bytes.Contains(body, []byte(`"supportedInterfaces"`)) &&
			bytes.Contains(body, []byte(`"preferredTransport"`)):
			return 0 // hybrid agents are asked for in variations
		case bytes.Contains(body, []byte(`"supportedInterfaces"`)):
			all &= modern
		case bytes.Contains(body, []byte(`"protocolVersion":"0.2`)):
			all &^= v01 | v03 | modern
		case bytes.Contains(body, []byte(`"protocolVersion":"0.3`)):
			all &^= v01 | v02 | modern
		}
	}
	if all&(all-1) != 0 {
		return 0
	}
	return all
}

// tagged visits the objects of a text that have a name in the lists of mutations. Outer ones come first.
func tagged(root *value, k kind, request bool, visit func(tag string, parent, o *value, name string)) {
	w := &tagger{k: k, visit: visit}
	switch {
	case k.operation == "hook" && request:
		w.event(nil, root, "")
	case k.operation == "hook", k.operation == "" || k.operation == "unknown" && k.rest:
	case request && k.rest:
		w.params(nil, root, "")
	case request:
		w.tag("call", nil, root, "")
		w.params(root, root.get("params"), "params")
	case k.operation == "fetch":
		w.card(nil, root, "")
	case k.rest && k.status >= "400":
		if e := root.get("error"); e != nil {
			w.tag("error", root, e, "error")
			return
		}
		w.tag("error", nil, root, "")
	case k.rest:
		w.result(nil, root, "")
	case root.has("jsonrpc"):
		w.tag("reply", nil, root, "")
		if e := root.get("error"); e != nil {
			w.tag("error", root, e, "error")
			w.each("detail", e, "data")
		}
		w.result(root, root.get("result"), "result")
	}
}

type tagger struct {
	k     kind
	visit func(tag string, parent, o *value, name string)
}

func (w *tagger) tag(tag string, parent, o *value, name string) {
	if o != nil {
		w.visit(tag, parent, o, name)
	}
}

// each visits the elements of a member, and the members of those that are maps.
func (w *tagger) each(tag string, o *value, name string) []*value {
	list := o.get(name)
	if list == nil {
		return nil
	}
	all := list.elements
	for _, m := range list.members {
		all = append(all, m.value)
	}
	for _, e := range all {
		w.visit(tag, list, e, name)
	}
	return all
}

func (w *tagger) params(parent, o *value, name string) {
	if o == nil {
		return
	}
	w.tag("params", parent, o, name)
	w.message("asked", o, "message")
	if c := o.get("configuration"); c != nil {
		w.tag("configuration", o, c, "configuration")
		if w.k.in&modern == 0 {
			w.tag("wanted", c, c.get("pushNotificationConfig"), "pushNotificationConfig")
		}
		w.tag("wanted", c, c.get("taskPushNotificationConfig"), "taskPushNotificationConfig")
	}
	w.tag("wanted", o, o.get("pushNotification"), "pushNotification")
	if w.k.operation != "set" {
		return
	}
	if c := o.get("pushNotificationConfig"); c != nil {
		w.tag("wanted", o, c, "pushNotificationConfig")
	} else {
		w.tag("wanted", parent, o, name)
	}
}

func (w *tagger) result(parent, o *value, name string) {
	if o == nil {
		return
	}
	w.tag("result", parent, o, name)
	switch w.k.operation {
	case "send", "stream", "subscribe":
		w.event(parent, o, name)
	case "get", "cancel":
		w.task(parent, o, name)
	case "list":
		w.tag("page", parent, o, name)
		for _, t := range o.get("tasks").list() {
			w.task(o, t, "tasks")
		}
	case "set", "config":
		w.config(parent, o, name)
	case "configs":
		list := o.list()
		if c := o.get("configs"); c != nil {
			list = c.elements
		}
		for _, c := range list {
			w.config(o, c, name)
		}
	case "card":
		w.card(parent, o, name)
	}
}

func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	return v.elements
}

func (w *tagger) config(parent, o *value, name string) {
	w.tag("kept", parent, o, name)
	if c := o.get("pushNotificationConfig"); c != nil {
		w.tag("config", o, c, "pushNotificationConfig")
	} else {
		w.tag("config", parent, o, name)
	}
}

// event visits what a send, a stream or a notification brings.
func (w *tagger) event(parent, o *value, name string) {
	for _, member := range []string{"task", "message", "statusUpdate", "artifactUpdate"} {
		inner := o.get(member)
		if inner == nil || inner.kind != '{' || o.has("status") || o.has("state") {
			continue
		}
		w.tag("wrapper", parent, o, name)
		switch member {
		case "task":
			w.task(o, inner, member)
		case "message":
			w.message("answered", o, member)
		default:
			w.update(o, inner, member)
		}
		return
	}
	switch {
	case o.has("parts"):
		w.messageOf("answered", parent, o, name)
	case o.has("final"), o.has("artifact"), o.has("taskId"):
		w.update(parent, o, name)
	case o.has("status"):
		w.task(parent, o, name)
	}
}

func (w *tagger) update(parent, o *value, name string) {
	w.tag("update", parent, o, name)
	if o.has("artifact") {
		w.tag("artifactUpdate", parent, o, name)
		w.artifact(o, o.get("artifact"), "artifact")
		return
	}
	w.tag("statusUpdate", parent, o, name)
	w.status(o)
}

func (w *tagger) task(parent, o *value, name string) {
	w.tag("task", parent, o, name)
	w.status(o)
	for _, a := range o.get("artifacts").list() {
		w.artifact(o, a, "artifacts")
	}
	for _, m := range o.get("history").list() {
		w.tag("past", o, m, "history")
	}
}

func (w *tagger) status(o *value) {
	if s := o.get("status"); s != nil {
		w.tag("status", o, s, "status")
		w.message("said", s, "message")
	}
}

func (w *tagger) artifact(parent, o *value, name string) {
	if o == nil {
		return
	}
	w.tag("artifact", parent, o, name)
	w.parts(o)
}

func (w *tagger) message(tag string, parent *value, name string) {
	if m := parent.get(name); m != nil {
		w.messageOf(tag, parent, m, name)
	}
}

func (w *tagger) messageOf(tag string, parent, o *value, name string) {
	w.tag(tag, parent, o, name)
	w.parts(o)
}

func (w *tagger) parts(o *value) {
	for _, p := range o.get("parts").list() {
		w.tag("part", o, p, "parts")
		w.tag("file", p, p.get("file"), "file")
	}
}

func (w *tagger) card(parent, o *value, name string) {
	w.tag("card", parent, o, name)
	w.each("skill", o, "skills")
	w.each("interface", o, "supportedInterfaces")
	w.each("additional", o, "additionalInterfaces")
	w.each("signature", o, "signatures")
	w.each("requirement", o, "security")
	w.each("requirement", o, "securityRequirements")
	w.tag("provider", o, o.get("provider"), "provider")
	if c := o.get("capabilities"); c != nil {
		w.tag("capabilities", o, c, "capabilities")
		w.each("extension", c, "extensions")
	}
	for _, s := range w.each("scheme", o, "securitySchemes") {
		kind, holder := s, s
		for _, m := range s.members {
			if m.value.kind == '{' && strings.HasSuffix(m.name, `Scheme"`) {
				kind = m.value
				w.tag("wrapped", holder, kind, strings.Trim(m.name, `"`))
			}
		}
		w.tag("flows", kind, kind.get("flows"), "flows")
		w.each("flow", kind, "flows")
	}
}
