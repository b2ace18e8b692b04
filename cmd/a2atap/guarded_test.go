package main

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"a2atap/replay/refagent"
)

// What the guarded agents ask for.
const (
	guardToken    = "s3cret-bearer-token"
	guardPassword = "s3cret pass:word"
	guardKey      = "s3cret-key+/="
)

// guardedagent NAME KIND starts the reference agent spec behind a guard, and sets NAME to its URL, and NAME_ORIGIN. The
// guard requires credentials of that kind for the card and every call: bearer, basic, apikey, header, query, oauth
// (client credentials) or password. The last two issue tokens that expire at once, and accept only the newest. If
// credentials are missing or wrong, the guard's error repeats what was sent, as careless agents do.
func scriptGuardedAgent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: guardedagent NAME KIND")
	}
	agent, err := refagent.New("spec", refagent.Options{StepTime: 1})
	ts.Check(err)
	g := &guard{kind: args[1], agent: agent}
	server := httptest.NewServer(g)
	ts.Defer(func() {
		server.Close()
		agent.Close()
	})
	g.origin = server.URL
	ts.Setenv(args[0]+"_ORIGIN", server.URL)
	ts.Setenv(args[0], server.URL+agent.Path())
}

type guard struct {
	kind, origin string
	agent        http.Handler

	mu     sync.Mutex
	tokens int
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.Contains(r.URL.Path, "/oauth-authorization-server"):
		if g.kind != "oauth" && g.kind != "password" {
			http.NotFound(w, r)
			return
		}
		json.NewEncoder(w).Encode(map[string]string{"token_endpoint": g.origin + "/token"})
	case r.URL.Path == "/token":
		g.token(w, r)
	case g.lets(r):
		g.agent.ServeHTTP(w, r)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
			"code": http.StatusUnauthorized, "status": "UNAUTHENTICATED",
			"message": fmt.Sprintf("no: %s %s %s", r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.URL.RawQuery),
		}})
	}
}

func (g *guard) lets(r *http.Request) bool {
	var got, want string
	switch g.kind {
	case "bearer":
		got, want = r.Header.Get("Authorization"), "Bearer "+guardToken
	case "basic":
		user, password, _ := r.BasicAuth()
		got, want = user+" "+password, "alice "+guardPassword
	case "apikey":
		got, want = r.Header.Get("X-Api-Key"), guardKey
	case "header":
		got, want = r.Header.Get("X-Tickets"), guardKey
	case "query":
		got, want = r.URL.Query().Get("api_key"), guardKey
	default:
		g.mu.Lock()
		got, want = r.Header.Get("Authorization"), fmt.Sprintf("Bearer s3cret-access-%d", g.tokens)
		g.mu.Unlock()
	}
	return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
}

// token gives a token to who knows the secret, and repeats to others what they sent.
func (g *guard) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	r.ParseForm() // what is missing is refused
	client, secret, basic := r.BasicAuth()
	if !basic { // RFC 6749 §2.3.1 has both ways
		client, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	ok := g.kind == "oauth" && client == "cli" && secret == guardToken &&
		r.PostForm.Get("grant_type") == "client_credentials"
	if g.kind == "password" {
		ok = r.PostForm.Get("username") == "alice" && r.PostForm.Get("password") == guardPassword
	}
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
		json.NewEncoder(w).Encode(map[string]string{
			"error": "invalid_grant", "error_description": fmt.Sprint(secret, r.PostForm),
		})
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens++
	fmt.Fprintf(w, `{"access_token":"s3cret-access-%d","token_type":"Bearer","expires_in":1}`, g.tokens)
}
