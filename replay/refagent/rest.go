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
	return a.decode(c, func() (params jsonvalue.Object, f *model.Failure) {
		if params = query(r.URL.Query()); verb == http.MethodPost {
			if params, f = readObject(w, r); f != nil {
				return nil, f
			}
		}
		return bindTenant(params.Merge(route.bound), tenant)
	})
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
	if !ok && v != nil { // the Go SDK 2.3 sends null for an empty body
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

// findRoute returns the route of a path below the interface's URL, and the tenant before it, if there is one. A served
// tenant takes precedence over a route that the path could also be.
func (a *Agent) findRoute(path string) (tenant string, route restRoute, ok bool) {
	first, rest, below := strings.Cut(path, "/")
	name, err := url.PathUnescape(first)
	within, fits := restRoute{}, false
	if below && err == nil && len(a.opts.Tenants) > 0 {
		within, fits = a.profile.rest.routes(rest)
	}
	if fits && slices.Contains(a.opts.Tenants, name) {
		return name, within, true
	}
	if route, ok = a.profile.rest.routes(path); ok || !fits {
		return "", route, ok
	}
	return name, within, true
}

// bindTenant adds the tenant of the path to the parameters. If both name a tenant, it must be the same.
func bindTenant(params jsonvalue.Object, tenant string) (jsonvalue.Object, *model.Failure) {
	if tenant == "" {
		return params, nil
	}
	if given, ok := params.Get("tenant"); ok && given != tenant && given != "" && given != nil {
		return nil, model.InvalidParam("tenant", "is not that of the path")
	}
	return params.With("tenant", tenant), nil
}
