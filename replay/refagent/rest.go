package refagent

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A restRoute is an HTTP+JSON path with the operations of its verbs, and the parameters that the path binds.
type restRoute struct {
	verbs map[string]operation
	bound object
}

var (
	sendRoute    = map[string]operation{http.MethodPost: sendMessage}
	streamRoute  = map[string]operation{http.MethodPost: streamMessage}
	tasksRoute   = map[string]operation{http.MethodGet: listTasks}
	taskRoute    = map[string]operation{http.MethodGet: getTask}
	cancelRoute  = map[string]operation{http.MethodPost: cancelTask}
	configsRoute = map[string]operation{http.MethodGet: listPushConfigs, http.MethodPost: createPushConfig}
	configRoute  = map[string]operation{http.MethodGet: getPushConfig, http.MethodDelete: deletePushConfig}
	cardRoute    = map[string]operation{http.MethodGet: getExtendedCard}
	// The text says POST, the proto GET; both are served.
	subscribeRoute = map[string]operation{http.MethodGet: subscribeTask, http.MethodPost: subscribeTask}
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
		return restRoute{configsRoute, object{{"taskId", segments[1]}}}, true
	case len(segments) == 4 && segments[2] == "pushNotificationConfigs":
		return restRoute{configRoute, object{{"taskId", segments[1]}, {"id", segments[3]}}}, true
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
	return restRoute{verbs, object{{"id", id}}}, err == nil && id != ""
}

// A restBinding is how an agent speaks HTTP+JSON.
type restBinding struct {
	dialect dialect
	routes  func(path string) (restRoute, bool) // below the interface's URL, still escaped
	failed  func(d dialect, f *failure) any     // the body of an error
	ownType bool                                // answers bear A2A's own media type
}

// rest10 is HTTP+JSON as 1.0 has it.
var rest10 = &restBinding{dialect: v10{}, routes: routes10, failed: failed10, ownType: true}

// serveREST answers HTTP+JSON (A2A 1.0 §11).
func (a *Agent) serveREST(w http.ResponseWriter, r *http.Request, path string) {
	c := &call{
		binding: httpJSON, dialect: a.profile.rest.dialect, mediaType: "application/json",
		envelope: func(result any) any { return result },
	}
	if a.profile.rest.ownType {
		c.mediaType = restMediaType(r)
	}
	if f := a.authenticate(r); f != nil {
		a.failREST(w, c, f)
		return
	}
	if f := a.readREST(w, r, path, c); f != nil {
		a.failREST(w, c, f)
		return
	}
	a.readHeader(c.request, r)
	result, f := a.perform(r.Context(), c)
	switch {
	case f != nil:
		a.failREST(w, c, f)
	case result.stream != nil:
		a.streamEvents(r.Context(), w, c, result.stream)
	default:
		out := newAnswer(http.StatusOK, c.mediaType, c.dialect.result(c.op, result))
		if result.card != nil {
			out.header.Set("Cache-Control", "private, max-age=3600") // A2A 1.0 §13.3
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
	if !accepted(ranges, mediaTypeA2A) && accepted(ranges, "application/json") {
		return "application/json"
	}
	return mediaTypeA2A
}

// readREST finds the operation and reads its parameters from path, query and body into c.
func (a *Agent) readREST(w http.ResponseWriter, r *http.Request, path string, c *call) *failure {
	tenant, route, ok := a.findRoute(path)
	if !ok {
		return fail(codeMethodNotFound, "No such route: "+r.Method+" "+r.URL.Path)
	}
	verb := r.Method
	if verb == http.MethodHead {
		verb = http.MethodGet
	}
	op, ok := route.verbs[verb]
	if !ok {
		f := fail(codeMethodNotFound, "Method "+r.Method+" is not allowed here")
		f.http, f.allow = http.StatusMethodNotAllowed, allowed(route.verbs)
		return f
	}
	c.op = op
	if f := a.checkVersion(version(r), true); f != nil {
		return f
	}
	params := query(r.URL.Query())
	if verb == http.MethodPost {
		var f *failure
		if params, f = readObject(w, r); f != nil {
			return f
		}
	}
	params, f := bindTenant(params.merge(route.bound), tenant)
	if f == nil {
		c.request, f = c.dialect.decode(op, params)
	}
	return f
}

func allowed(verbs map[string]operation) string {
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
func readObject(w http.ResponseWriter, r *http.Request) (object, *failure) {
	body, f := readBody(w, r)
	if f != nil || len(body) == 0 {
		return nil, f
	}
	v, err := parseJSON(body)
	if err != nil {
		return nil, fail(codeParse, "Invalid JSON payload: "+err.Error())
	}
	o, ok := v.(object)
	if !ok && v != nil { // the Go SDK 2.3 sends null where it has nothing to say
		return nil, fail(codeInvalidRequest, "The body must be a JSON object")
	}
	return o, nil
}

// query reads the query parameters that a core operation knows (A2A 1.0 §11.5); others are ignored.
func query(q url.Values) object {
	var o object
	for _, name := range []string{
		"historyLength", "contextId", "status", "pageSize", "pageToken",
		"statusTimestampAfter", "tenant",
	} {
		if v := q.Get(name); v != "" {
			o = append(o, member{name, v}) // ProtoJSON reads numbers from strings
		}
	}
	switch v := q.Get("includeArtifacts"); v {
	case "":
	case "true", "false":
		o = append(o, member{"includeArtifacts", v == "true"})
	default:
		o = append(o, member{"includeArtifacts", v}) // not a boolean: decode refuses it
	}
	return o
}

// failed10 is google.rpc.Status as JSON (A2A 1.0 §11.6).
func failed10(d dialect, f *failure) any {
	return object{{"error", object{{"code", f.httpStatus()}, {"status", f.statusName()}, {"message", f.message}}.
		list("details", d.details(f))}}
}

func (a *Agent) failREST(w http.ResponseWriter, c *call, f *failure) {
	c.failure = f
	out := newAnswer(f.httpStatus(), c.mediaType, a.profile.rest.failed(c.dialect, f))
	if f.challenge != "" {
		out.header.Set("WWW-Authenticate", f.challenge)
	}
	if f.allow != "" {
		out.header.Set("Allow", f.allow)
	}
	a.answer(w, c, out)
}
