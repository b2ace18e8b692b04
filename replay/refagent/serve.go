package refagent

import (
	"net/http"
	"slices"
	"strings"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// ServeHTTP implements [http.Handler].
func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	rest, below := strings.CutPrefix(path, a.Path())
	below = below && (rest == "" || rest[0] == '/')
	card := a.hasCardAt(path) || below && a.hasCardAt(rest)
	allowOrigins(w, r, card)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	ctx, stop := a.until(r.Context())
	defer stop()
	r = r.WithContext(ctx)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if card || below && rest == "" && !a.profile.atRoot && reads {
		a.serveCard(w, r)
		return
	}
	if !engine.Wait(ctx, a.opts.Delay) || below && a.serveOAuth(w, r, rest) {
		return
	}
	if m, ok := a.asksGRPC(r, path); ok {
		a.serveGRPC(w, r, m)
		return
	}
	if m, ok := a.asksGRPC(r, rest); ok && below {
		a.serveGRPC(w, r, m)
		return
	}
	a.route(w, r, path, rest, below)
}

// route serves all requests except for cards; rest is the path after the agent's own path, if it is below that.
func (a *Agent) route(w http.ResponseWriter, r *http.Request, path, rest string, below bool) {
	switch {
	case path == "/health":
		if !a.refuseStranger(w, r) {
			a.serveHealth(w)
		}
	case !below:
		a.notFound(w, r)
	case a.profile.subscribe && a.streams() && rest == "/subscribe":
		a.serveSubscribe(w, r)
	case a.offers(wire.JSONRPC) && (rest == "" || rest == "/"):
		a.serveRPC(w, r)
	case a.offers(wire.HTTPJSON) && len(rest) > 1:
		a.serveREST(w, r, rest[1:])
	default:
		a.notFound(w, r)
	}
}

func (a *Agent) notFound(w http.ResponseWriter, r *http.Request) {
	if !a.refuseStranger(w, r) {
		http.NotFound(w, r)
	}
}

// allowOrigins lets web pages of any origin call the agent. The card allows all origins by wildcard, so that a cached
// copy is valid for each origin.
func allowOrigins(w http.ResponseWriter, r *http.Request, card bool) {
	if r.Header.Get("Origin") == "" && !card {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "A2A-Version, ETag, WWW-Authenticate")
	if r.Method != http.MethodOptions {
		return
	}
	methods := "GET, POST, DELETE, HEAD, OPTIONS"
	if card {
		methods = "GET, HEAD, OPTIONS"
	}
	h.Set("Access-Control-Allow-Methods", methods)
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
}

// Mux serves several agents on one origin, each below its own path. The first one's card is the origin's card; but an
// agent at the root of its origin has the origin's card, and gets all requests that are below no other agent's path.
// gRPC requests, which have no agent's path, go to the first agent that serves them.
func Mux(agents ...*Agent) http.Handler {
	root := slices.IndexFunc(agents, func(a *Agent) bool { return a.Path() == "" })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, a := range agents {
			rest, ok := strings.CutPrefix(r.URL.EscapedPath(), a.Path())
			if ok && a.Path() != "" && (rest == "" || rest[0] == '/') {
				a.ServeHTTP(w, r)
				return
			}
		}
		for _, a := range agents {
			if _, ok := a.asksGRPC(r, r.URL.EscapedPath()); ok {
				a.ServeHTTP(w, r)
				return
			}
		}
		if len(agents) == 0 {
			http.NotFound(w, r)
			return
		}
		agents[max(root, 0)].ServeHTTP(w, r)
	})
}

func (a *Agent) serveHealth(w http.ResponseWriter) {
	body := jsonvalue.Append(nil, jsonvalue.Object{{"Status", "Healthy"}, {"Timestamp", model.Timestamp(a.opts.Now())}})
	w.Header().Set("Content-Type", "application/json")
	w.Write(body) // an error means that the client has left
}
