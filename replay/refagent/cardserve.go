package refagent

import (
	"net/http"
	"slices"
	"strings"

	"a2atap/replay/refagent/internal/cards"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/wire"
)

// isCardPath reports whether a path is a card's: the name of 0.3 and 1.0, or the older one.
func isCardPath(path string) bool {
	return path == "/.well-known/agent-card.json" || path == "/.well-known/agent.json"
}

// hasCardAt reports whether the agent's card is served at a path below its own or the origin.
func (a *Agent) hasCardAt(path string) bool {
	name := strings.TrimPrefix(path, "/.well-known/")
	return isCardPath(path) && (len(a.profile.cardNames) == 0 || slices.Contains(a.profile.cardNames, name))
}

// serveCard answers with the public card and the headers that let clients cache it (A2A 1.0 §8.6).
func (a *Agent) serveCard(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "an agent card is read with GET", http.StatusMethodNotAllowed)
		return
	}
	out := wire.NewAnswer(http.StatusOK, "application/json", a.publicCard(a.base(r)))
	out.Header.Set("Cache-Control", "public, max-age=3600")
	out.Header.Set("ETag", a.cardTag())
	out.Header.Set("Last-Modified", a.started.UTC().Format(http.TimeFormat))
	if a.hooks.Card != nil {
		a.hooks.Card(out)
	}
	if out.Status == http.StatusOK && matchesETag(r.Header.Values("If-None-Match"), out.Header.Get("ETag")) {
		out.Status, out.Body, out.Bodyless = http.StatusNotModified, nil, true
		out.Header.Del("Content-Type")
	}
	out.Write(w)
}

// matchesETag compares weakly, as RFC 9110 §13.1.2 requires for If-None-Match.
func matchesETag(fields []string, etag string) bool {
	if etag == "" {
		return false
	}
	for tag := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// publicCard returns the card; base is the URL of the agent's endpoint.
func (a *Agent) publicCard(base string) jsonvalue.Object {
	if a.given == nil {
		return a.declareAuth(a.profile.card(a.served, base), base)
	}
	card := a.profile.face.Address(a.served, a.given, base)
	if a.opts.Auth != nil && a.opts.Auth.Scheme == OAuth2Auth { // tokens come from the agent's address
		return a.declareAuth(card, base)
	}
	return card
}

// cardTag returns the entity tag of the card.
func (a *Agent) cardTag() string {
	if a.given == nil {
		return `"` + cards.Version + `"`
	}
	return a.given.Tag
}
