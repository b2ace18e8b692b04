package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
)

// A tokenServer issues tokens to clients that know the secret.
type tokenServer struct {
	url     string
	place   string // of its metadata, below url; empty for none
	methods []string
	life    int    // of a token, in seconds
	answer  string // replaces the token
	status  int

	mu    sync.Mutex
	asked []string // requested grants, one word each
	given int
}

func newTokenServer(t *testing.T) *tokenServer {
	s := &tokenServer{life: 3600}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *tokenServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodGet && s.place != "" && r.URL.Path == s.place:
		json.NewEncoder(w).Encode(map[string]any{
			"issuer": s.url, "token_endpoint": s.url + "/token", "token_endpoint_auth_methods_supported": s.methods,
		})
		return
	case r.Method != http.MethodPost || r.URL.Path != "/token":
		http.NotFound(w, r)
		return
	}
	r.ParseForm() // what is missing is refused below
	user, password, inHeader := r.BasicAuth()
	word := "header"
	if !inHeader {
		user, password, word = r.PostFormValue("client_id"), r.PostFormValue("client_secret"), "form"
	}
	s.asked = append(s.asked, fmt.Sprintf("%s %s by %s:%s %s:%s for %q",
		r.PostFormValue("grant_type"), word, user, password, r.PostFormValue("username"), r.PostFormValue("password"),
		r.PostFormValue("scope")))
	if s.answer != "" {
		w.WriteHeader(s.status)
		fmt.Fprint(w, s.answer)
		return
	}
	s.given++
	fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"bearer","expires_in":%d}`, s.given, s.life)
}

func (s *tokenServer) log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// ask requests credentials once and returns the Authorization field.
func ask(t *testing.T, m Method) (string, error) {
	t.Helper()
	out := &client.Outgoing{Header: http.Header{}}
	err := m(t.Context(), out)
	return out.Header.Get("Authorization"), err
}

// start returns a method of OAuth that closes its connections with the test.
func start(t *testing.T, o OAuth) Method {
	transport := client.NewTransport(0)
	t.Cleanup(transport.CloseIdleConnections)
	o.HTTP = &http.Client{Transport: transport}
	return o.Method()
}

func TestGrants(t *testing.T) {
	for name, tt := range map[string]struct {
		o    OAuth
		want string
	}{
		"client": {
			OAuth{ClientID: "cli", ClientSecret: "s3cretpw", Scopes: []string{"a", "b"}},
			`client_credentials header by cli:s3cretpw : for "a b"`,
		},
		"client without a secret": {OAuth{ClientID: "cli"}, `client_credentials form by cli: : for ""`},
		"user": {
			OAuth{ClientID: "cli", ClientSecret: "s3cretpw", User: "alice", Password: "pw"},
			`password header by cli:s3cretpw alice:pw for ""`,
		},
		"user without a client": {OAuth{User: "alice", Password: "pw"}, `password form by : alice:pw for ""`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTokenServer(t)
			tt.o.TokenURL = s.url + "/token"
			var hidden []string
			tt.o.OnToken = func(token string) { hidden = append(hidden, token) }
			m := start(t, tt.o)
			for range 3 {
				expect.Equal(t, "", "Bearer token-1", must.Get(ask(t, m))(t))
			}
			expect.Same(t, "", []string{tt.want}, s.log())
			expect.Same(t, "told", []string{"token-1"}, hidden)
		})
	}
}

// A token that is about to expire is replaced before the server rejects it.
func TestExpiry(t *testing.T) {
	s := newTokenServer(t)
	s.life = 5
	m := start(t, OAuth{ClientID: "cli", ClientSecret: "s3cretpw", TokenURL: s.url + "/token"})
	for i := range 3 {
		expect.Equal(t, "", fmt.Sprintf("Bearer token-%d", i+1), must.Get(ask(t, m))(t))
	}
}

// Concurrent requests that need a token share it.
func TestTokenIsShared(t *testing.T) {
	s := newTokenServer(t)
	m := start(t, OAuth{ClientID: "cli", ClientSecret: "s3cretpw", TokenURL: s.url + "/token"})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got, err := ask(t, m); got != "Bearer token-1" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	all.Wait()
}

func TestDiscovery(t *testing.T) {
	for _, tt := range []struct {
		agent, place string
		methods      []string
		want         string
	}{
		{"/a/b", "/a/b/.well-known/oauth-authorization-server", nil, "header"},
		{"/a/b/", "/.well-known/oauth-authorization-server/a/b", []string{"client_secret_post"}, "form"},
		{
			"/a/b?x=1", "/.well-known/oauth-authorization-server",
			[]string{"client_secret_post", "client_secret_basic"},
			"header",
		},
		{"", "/.well-known/oauth-authorization-server", nil, "header"},
		{"/a/.well-known/agent-card.json", "/a/.well-known/oauth-authorization-server", nil, "header"},
	} {
		s := newTokenServer(t)
		s.place, s.methods = tt.place, tt.methods
		got, err := ask(t, start(t, OAuth{Agent: s.url + tt.agent, ClientID: "cli", ClientSecret: "s3cretpw"}))
		if got != "Bearer token-1" || err != nil {
			t.Errorf("%s: got %q, %v", tt.agent, got, err)
			continue
		}
		if how := strings.Fields(s.log()[0])[1]; how != tt.want {
			t.Errorf("%s: the secret went in the %s, want %s", tt.agent, how, tt.want)
		}
	}
}

func TestDiscoveryFails(t *testing.T) {
	s := newTokenServer(t)
	_, err := ask(t, start(t, OAuth{Agent: s.url + "/a", ClientID: "cli", ClientSecret: "s3cretpw"}))
	for _, want := range []string{
		"/a/.well-known/oauth-", "/.well-known/oauth-authorization-server/a: HTTP 404", "token_endpoint",
	} {
		expect.ErrorHas(t, "", want, err)
	}
	for _, body := range []string{
		`{}`, `[`, `{"token_endpoint":5}`, `{"token_endpoint":"http://idp.example/token"}`,
		`{"token_endpoint":"https://idp.example/token"}`, // the secret goes only to origins that its owner allows
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		expect.Error(t, fmt.Sprintf("%s: got a token", body),
			expect.Err(ask(t, start(t, OAuth{Agent: server.URL, ClientID: "cli", ClientSecret: "s3cretpw"}))))
		server.Close()
	}
	expect.Error(t, "got a token from nowhere", expect.Err(ask(t, start(t, OAuth{Agent: "://", ClientID: "cli"}))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := start(t, OAuth{Agent: s.url, ClientID: "cli"})
	expect.ErrorIs(t, "", context.Canceled, m(ctx, &client.Outgoing{Header: http.Header{}}))
}

// No error repeats the server's text, which may contain the request's secrets.
func TestRefusedTokens(t *testing.T) {
	for _, tt := range []struct {
		status       int
		answer, want string
	}{
		{401, `{"error":"invalid_client","error_description":"no s3cretpw"}`, "the request was refused: invalid_client (HTTP 401)"},
		{400, `{"error":"s3cretpw 1"}`, "the request was refused (HTTP 400)"},
		{500, `s3cretpw`, "the request was refused (HTTP 500)"},
		{200, `{"token":"s3cretpw"}`, "the answer is not a token"},
		{200, `<s3cretpw>`, "the answer is not a token"},
		{307, `s3cretpw`, "the request was refused (HTTP 307)"},
	} {
		s := newTokenServer(t)
		s.status, s.answer = tt.status, tt.answer
		for _, o := range []OAuth{
			{ClientID: "cli", ClientSecret: "s3cretpw"},
			{User: "alice", Password: "s3cretpw"},
		} {
			o.TokenURL = s.url + "/token?k=s3cretpw"
			_, err := ask(t, start(t, o))
			if want := "get a token from " + s.url + "/token: " + tt.want; err == nil || err.Error() != want {
				t.Errorf("%s: got %v, want %s", tt.answer, err, want)
			}
		}
	}
	_, err := ask(t, start(t, OAuth{ClientID: "cli", TokenURL: "http://127.0.0.1:1/token"}))
	if err == nil || !strings.HasPrefix(err.Error(), "get a token from http://127.0.0.1:1/token: dial ") {
		t.Errorf("got %v, want what was attempted", err)
	}
}

func TestCheckTokenURL(t *testing.T) {
	for at, want := range map[string]bool{
		"https://idp.example/t": true, "http://127.0.0.1:1/t": true, "http://localhost/t": true, "http://[::1]/t": true,
		"http://idp.example/t": false, "ftp://x/": false, "": false, "%": false, "/token": false,
	} {
		if err := checkTokenURL(at); (err == nil) != want {
			t.Errorf("%s: got %v", at, err)
		}
	}
}
