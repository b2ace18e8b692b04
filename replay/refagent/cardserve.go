package refagent

import (
	"net/http"
	"slices"
	"strings"
)

// isCardPath says whether a card is looked for at a path: at the name of 0.3 and 1.0, or at the older one.
func isCardPath(path string) bool {
	return path == "/.well-known/agent-card.json" || path == "/.well-known/agent.json"
}

// hasCardAt says whether the agent's card lies at a path below its own or the origin.
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
	out := newAnswer(http.StatusOK, "application/json", a.publicCard(a.base(r)))
	out.header.Set("Cache-Control", "public, max-age=3600")
	out.header.Set("ETag", a.cardTag())
	out.header.Set("Last-Modified", a.started.UTC().Format(http.TimeFormat))
	if a.hooks.card != nil {
		a.hooks.card(out)
	}
	if out.status == http.StatusOK && matchesETag(r.Header.Values("If-None-Match"), out.header.Get("ETag")) {
		out.status, out.body, out.bodyless = http.StatusNotModified, nil, true
		out.header.Del("Content-Type")
	}
	out.write(w)
}

// matchesETag compares weakly, as RFC 9110 §13.1.2 says for If-None-Match.
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
