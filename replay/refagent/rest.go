package refagent

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"a2atap/replay/refagent/internal/dialect"
	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// A restRoute is an HTTP+JSON path with the operations of its verbs, and the parameters that the path binds.
type restRoute struct {
	verbs map[string]model.Operation
	bound jsonvalue.Object
}

var (
	sendRoute    = map[string]model.Operation{http.MethodPost: model.SendMessage}
	streamRoute  = map[string]model.Operation{http.MethodPost: model.StreamMessage}
	tasksRoute   = map[string]model.Operation{http.MethodGet: model.ListTasks}
	taskRoute    = map[string]model.Operation{http.MethodGet: model.GetTask}
	cancelRoute  = map[string]model.Operation{http.MethodPost: model.CancelTask}
	configsRoute = map[string]model.Operation{
		http.MethodGet:  model.ListPushConfigs,
		http.MethodPost: model.CreatePushConfig,
	}
	configRoute = map[string]model.Operation{
		http.MethodGet:    model.GetPushConfig,
		http.MethodDelete: model.DeletePushConfig,
	}
	cardRoute = map[string]model.Operation{http.MethodGet: model.GetExtendedCard}
	// The text says POST, the proto GET; both are served.
	subscribeRoute = map[string]model.Operation{http.MethodGet: model.SubscribeTask, http.MethodPost: model.SubscribeTask}
)

// routes10 reads a path, still escaped, below the interface's URL (A2A 1.0 §11.3).
func routes10(path string) (restRoute, bool) {
	switch path {
	case "message:send":
		return restRoute{verbs: sendRoute}, true
	case "message:stream":
		return restRoute{verbs: streamRoute}, true
	case "tasks":
		return restRoute{verbs: tasksRoute}, true
	case "extendedAgentCard":
		return restRoute{verbs: cardRoute}, true
	}
	segments := strings.Split(path, "/")
	if segments[0] != "tasks" || slices.Contains(segments, "") {
		return restRoute{}, false
	}
	for i, s := range segments {
		if i == 1 && len(segments) == 2 {
			continue // may end in a verb
		}
		segments[i], _ = url.PathUnescape(s)
	}
	switch {
	case len(segments) == 2:
		return taskRoutes(segments[1])
	case len(segments) == 3 && segments[2] == "pushNotificationConfigs":
		return restRoute{configsRoute, jsonvalue.Object{{"taskId", segments[1]}}}, true
	case len(segments) == 4 && segments[2] == "pushNotificationConfigs":
		return restRoute{configRoute, jsonvalue.Object{{"taskId", segments[1]}, {"id", segments[3]}}}, true
	}
	return restRoute{}, false
}

// taskRoutes reads an id that a verb may follow. Only a literal colon before a known verb separates; ids may hold
// colons of their own.
func taskRoutes(segment string) (restRoute, bool) {
	verbs := taskRoute
	if id, ok := strings.CutSuffix(segment, ":cancel"); ok {
		segment, verbs = id, cancelRoute
	} else if id, ok := strings.CutSuffix(segment, ":subscribe"); ok {
		segment, verbs = id, subscribeRoute
	}
	id, err := url.PathUnescape(segment)
	return restRoute{verbs, jsonvalue.Object{{"id", id}}}, err == nil && id != ""
}

// A restBinding is how an agent speaks HTTP+JSON.
type restBinding struct {
	dialect model.Dialect
	routes  func(path string) (restRoute, bool)         // below the interface's URL, still escaped
	failed  func(d model.Dialect, f *model.Failure) any // the body of an error
	ownType bool                                        // answers bear A2A's own media type
}

// rest10 is HTTP+JSON as 1.0 has it.
var rest10 = &restBinding{dialect: dialect.V10{}, routes: routes10, failed: failed10, ownType: true}

// serveREST answers HTTP+JSON (A2A 1.0 §11).
func (a *Agent) serveREST(w http.ResponseWriter, r *http.Request, path string) {
	c := &wire.Call{
		Binding: wire.HTTPJSON, Dialect: a.profile.rest.dialect, MediaType: "application/json",
		Envelope: func(result any) any { return result },
	}
	if a.profile.rest.ownType {
		c.MediaType = restMediaType(r)
	}
	if f := a.authenticate(r); f != nil {
		a.failREST(w, c, f)
		return
	}
	if f := a.readREST(w, r, path, c); f != nil {
		a.failREST(w, c, f)
		return
	}
	a.readHeader(c.Request, r)
	result, f := a.perform(r.Context(), c)
	switch {
	case f != nil:
		a.failREST(w, c, f)
	case result.Stream != nil:
		a.streamEvents(r.Context(), w, c, result.Stream)
	default:
		out := wire.NewAnswer(http.StatusOK, c.MediaType, c.Dialect.Result(c.Op, result))
		if result.Card != nil {
			out.Header.Set("Cache-Control", "private, max-age=3600") // A2A 1.0 §13.3
		}
		a.answer(w, c, out)
	}
}

// restMediaType is A2A's own (A2A 1.0 §11.1), except for a client that accepts plain JSON and not that.
func restMediaType(r *http.Request) string {
	var ranges []string
	for field := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		if field = strings.TrimSpace(field); field != "" {
			ranges = append(ranges, field)
		}
	}
	if !engine.Accepted(ranges, dialect.MediaTypeA2A) && engine.Accepted(ranges, "application/json") {
		return "application/json"
	}
	return dialect.MediaTypeA2A
}

// readREST finds the operation and reads its parameters from path, query and body into c.
func (a *Agent) readREST(w http.ResponseWriter, r *http.Request, path string, c *wire.Call) *model.Failure {
	tenant, route, ok := a.findRoute(path)
	if !ok {
		return model.Fail(model.CodeMethodNotFound, "No such route: "+r.Method+" "+r.URL.Path)
	}
	verb := r.Method
	if verb == http.MethodHead {
		verb = http.MethodGet
	}
	op, ok := route.verbs[verb]
	if !ok {
		f := model.Fail(model.CodeMethodNotFound, "Method "+r.Method+" is not allowed here")
		f.HTTP, f.Allow = http.StatusMethodNotAllowed, allowed(route.verbs)
		return f
	}
	c.Op = op
	if f := a.checkVersion(version(r), true); f != nil {
		return f
	}
	params := query(r.URL.Query())
	if verb == http.MethodPost {
		var f *model.Failure
		if params, f = readObject(w, r); f != nil {
			return f
		}
	}
	params, f := bindTenant(params.Merge(route.bound), tenant)
	if f == nil {
		c.Request, f = c.Dialect.Decode(op, params)
	}
	return f
}

func allowed(verbs map[string]model.Operation) string {
	var names []string
	for v := range verbs {
		names = append(names, v)
		if v == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// readObject reads a body that is a JSON object, or nothing: all fields of some requests are optional.
func readObject(w http.ResponseWriter, r *http.Request) (jsonvalue.Object, *model.Failure) {
	body, f := readBody(w, r)
	if f != nil || len(body) == 0 {
		return nil, f
	}
	v, err := jsonvalue.Parse(body)
	if err != nil {
		return nil, model.Fail(model.CodeParse, "Invalid JSON payload: "+err.Error())
	}
	o, ok := v.(jsonvalue.Object)
	if !ok && v != nil { // the Go SDK 2.3 sends null where it has nothing to say
		return nil, model.Fail(model.CodeInvalidRequest, "The body must be a JSON object")
	}
	return o, nil
}

// query reads the query parameters that a core operation knows (A2A 1.0 §11.5); others are ignored.
func query(q url.Values) jsonvalue.Object {
	var o jsonvalue.Object
	for _, name := range []string{
		"historyLength", "contextId", "status", "pageSize", "pageToken",
		"statusTimestampAfter", "tenant",
	} {
		if v := q.Get(name); v != "" {
			o = append(o, jsonvalue.Member{name, v}) // ProtoJSON reads numbers from strings
		}
	}
	switch v := q.Get("includeArtifacts"); v {
	case "":
	case "true", "false":
		o = append(o, jsonvalue.Member{"includeArtifacts", v == "true"})
	default:
		o = append(o, jsonvalue.Member{"includeArtifacts", v}) // not a boolean: decode refuses it
	}
	return o
}

// failed10 is google.rpc.Status as JSON (A2A 1.0 §11.6).
func failed10(d model.Dialect, f *model.Failure) any {
	return jsonvalue.Object{{"error", jsonvalue.Object{
		{"code", f.HttpStatus()},
		{"status", f.StatusName()},
		{"message", f.Message},
	}.
		List("details", d.Details(f))}}
}

func (a *Agent) failREST(w http.ResponseWriter, c *wire.Call, f *model.Failure) {
	c.Failure = f
	out := wire.NewAnswer(f.HttpStatus(), c.MediaType, a.profile.rest.failed(c.Dialect, f))
	if f.Challenge != "" {
		out.Header.Set("WWW-Authenticate", f.Challenge)
	}
	if f.Allow != "" {
		out.Header.Set("Allow", f.Allow)
	}
	a.answer(w, c, out)
}
