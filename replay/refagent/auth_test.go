package refagent_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/prompt"
	"a2atap/replay/refagent"
	"a2atap/replay/refagent/filestore"
)

// authDeclared returns the credentials that an agent's card declares.
func authDeclared(agent string, c refagent.Credentials) string {
	key := c.Scheme == refagent.APIKeyAuth
	switch {
	case c.Query != "" && agent == "spec01":
		return `"authentication":{"schemes":["apiKey"],"credentials":"{\"apiKey\":{\"queryName\":\"key\"}}"}`
	case agent == "spec01" && key:
		return `"authentication":{"schemes":["apiKey"],"credentials":"{\"apiKey\":{\"headerName\":\"X-Key\"}}"}`
	case c.Query != "" && agent == "legacy":
		return `"authentication":{"schemes":["apiKey"],"credentials":{"apiKey":{"queryName":"key"}}}`
	case c.Query != "" && (agent == "spec" || agent == "echo"):
		return `"credentials":{"apiKeySecurityScheme":{"location":"query","name":"key"}}}`
	case c.Query != "":
		return `"credentials":{"type":"apiKey","in":"query","name":"key"}},"security":[{"credentials":[]}]`
	case agent == "legacy" && key:
		return `"authentication":{"schemes":["apiKey"],"credentials":{"apiKey":{"headerName":"X-Key"}}}`
	case agent == "legacy" || agent == "spec01":
		return `"authentication":{"schemes":["` + string(c.Scheme) + `"]}`
	case (agent == "spec" || agent == "echo") && key:
		return `"credentials":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}}`
	case agent == "spec" || agent == "echo":
		return `"credentials":{"httpAuthSecurityScheme":{"scheme":"` + string(c.Scheme) + `"}}}`
	case key:
		return `"securitySchemes":{"credentials":{"type":"apiKey","in":"header","name":"X-Key"}},"security":[{"credentials":[]}]`
	}
	return `"securitySchemes":{"credentials":{"type":"http","scheme":"` + string(c.Scheme) +
		`"}},"security":[{"credentials":[]}]`
}

// Every agent can require each kind of credentials. It accepts only valid ones, and declares them in its public card.
func TestAuth(t *testing.T) {
	for _, agent := range refagent.Names() {
		for _, tt := range []struct {
			auth         refagent.Credentials
			right, wrong string
			challenge    string
		}{
			{
				refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "s3"},
				"Authorization: bearer s3",
				"Authorization: Bearer s33", `Bearer realm="` + agent + `"`,
			},
			{
				refagent.Credentials{Scheme: refagent.BasicAuth, Secret: "u:p"},
				"Authorization: Basic dTpw",
				"Authorization: Bearer dTpw", `Basic realm="` + agent + `"`,
			},
			{
				refagent.Credentials{Scheme: refagent.APIKeyAuth, Header: "X-Key", Secret: "k"},
				"X-Key: k", "X-Key: ",
				`ApiKey realm="` + agent + `"`,
			},
			{
				refagent.Credentials{Scheme: refagent.APIKeyAuth, Query: "key", Secret: "k&k"},
				"?key=k%26k", "?key=k",
				`ApiKey realm="` + agent + `"`,
			},
		} {
			t.Run(agent+" "+string(tt.auth.Scheme)+" "+tt.auth.Query, func(t *testing.T) {
				origin := serve(t, agent, refagent.Options{Auth: &tt.auth})
				path := "GET /" + agent + "/v1/tasks/t1"
				switch {
				case agent == "legacy":
					path = "POST /"
				case !strings.Contains(agent, "03-"):
					path = "POST /" + agent
				}
				request := func(credentials string) string {
					if strings.HasPrefix(credentials, "?") {
						return path + credentials
					}
					return path + "\n" + credentials
				}
				body := "\n\n" + rpc("1", "tasks/get", `{"id":"t1"}`)
				if resp, text := exchange(t, origin, request(tt.wrong)+body); resp.StatusCode != http.StatusUnauthorized ||
					!strings.Contains(text, "-32000") || resp.Header.Get("WWW-Authenticate") != tt.challenge {
					t.Errorf("with %s: got %d %s, challenge %q", tt.wrong, resp.StatusCode, text, resp.Header.Get("WWW-Authenticate"))
				}
				if resp, text := exchange(t, origin, request(tt.right)+body); resp.StatusCode == http.StatusUnauthorized {
					t.Errorf("with %s: got %d %s", tt.right, resp.StatusCode, text)
				}
				for _, other := range []string{"GET /health", "GET /nothing", "PUT " + strings.Fields(path)[1]} {
					if resp, text := exchange(t, origin, other); resp.StatusCode != http.StatusUnauthorized {
						t.Errorf("%s without credentials: got %d %s", other, resp.StatusCode, text)
					}
				}
				text := bodyOf(t, origin, "GET /.well-known/agent.json")
				if !strings.Contains(text, authDeclared(agent, tt.auth)) {
					t.Errorf("the card does not say %s: %s", authDeclared(agent, tt.auth), text)
				}
			})
		}
	}
}

// Users with separate credentials see only their own tasks, over every protocol, and also after a restart.
func TestUsersAreApart(t *testing.T) {
	links := append(slices.Clone(specLinks), link{"spec01", client.JSONRPC01}, link{"legacy", client.Early})
	for _, l := range links {
		t.Run(l.String(), func(t *testing.T) {
			store := must.Get(filestore.Open(filepath.Join(t.TempDir(), "tasks")))(t)
			t.Cleanup(func() { store.Close() })
			options := refagent.Options{
				Push: true, MaxTasks: 1, Store: store, StepTime: time.Millisecond,
				Auth: &refagent.Credentials{
					Scheme: refagent.BearerAuth, Secret: "alice",
					Others: []refagent.Credentials{{Scheme: refagent.BearerAuth, Secret: "bob"}, {
						Scheme: refagent.BearerAuth, Verify: func(token string, _ time.Time) (string, error) {
							if name, ok := strings.CutPrefix(token, "jwt-"); ok {
								return name, nil
							}
							return "", errors.New("not a token")
						},
					}},
				},
			}
			url := ""
			as := func(token string) *client.Client {
				o := client.Options{ProtoJSON: l.agent == "spec03-proto", Token: token}
				return agenttest.Connect(t, strings.TrimSuffix(url+"/"+l.agent, "/legacy"), l.protocol, o)
			}
			url = serve(t, l.agent, l.with(options))
			ctx := t.Context()
			tasks := map[string]string{}
			users := []string{"alice", "bob", "jwt-carol", "jwt-dave"}
			for _, user := range users {
				a, err := prompt.Ask(ctx, as(user), client.Text("multi-turn"),
					prompt.Options{Interval: time.Millisecond, PollTimeout: must.Patience})
				must.Do(t, err)
				tasks[user] = a.Task.ID
			}
			_, err := as("mallory").Get(ctx, tasks["alice"], nil)
			expect.ErrorHas(t, "a stranger", "Unauthorized", err)
			for range 2 {
				for _, user := range users {
					c := as(user)
					for owner, id := range tasks {
						t.Run(user+" asks for "+owner, func(t *testing.T) {
							_, err := c.Get(ctx, id, nil)
							if user == owner {
								must.Do(t, err)
								return
							}
							m := client.Text("done")
							m.TaskID = id
							_, cancel := c.Cancel(ctx, id, nil)
							_, list := c.GetPush(ctx, id, "c")
							errs := []error{err, cancel, list}
							if l.protocol != client.Early && l.protocol != client.JSONRPC01 { // there the agent creates the task
								_, send := c.Send(ctx, m, client.SendOptions{})
								errs = append(errs, send, lastError(c.Subscribe(ctx, id)))
							}
							for _, err := range errs {
								checkRefusal(t, err, -32001)
							}
						})
					}
					if l.protocol.Version == "1.0" {
						page := must.Get(c.List(ctx, client.ListOptions{}))(t)
						if len(page.Tasks) != 1 || page.Tasks[0].ID != tasks[user] {
							t.Errorf("%s lists %+v", user, page.Tasks)
						}
					}
				}
				url = serve(t, l.agent, l.with(options)) // again, with the same store
			}
		})
	}
}

// An agent with OAuth 2.0 issues tokens only to its client, at the address in its card, and accepts them until they
// expire.
func TestOAuth(t *testing.T) {
	for _, agent := range refagent.Names() {
		t.Run(agent, func(t *testing.T) {
			now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			origin := serve(t, agent, refagent.Options{
				Auth: &refagent.Credentials{Scheme: refagent.OAuth2Auth, Secret: "cli:s3"}, Now: func() time.Time { return now },
			})
			base := "/" + agent
			if agent == "legacy" {
				base = ""
			}
			card := bodyOf(t, origin, "GET "+base+"/.well-known/agent.json")
			if agent != "spec" && agent != "echo" && !strings.Contains(agent, "03") && !strings.Contains(card, "tokenUrl") {
				t.Errorf("the card does not say where tokens come from: %s", card)
			}
			if meta := bodyOf(t, origin, "GET "+base+"/.well-known/oauth-authorization-server"); !strings.Contains(meta,
				`"token_endpoint":"`+origin+base+`/oauth/token"`) {
				t.Errorf("metadata: %s", meta)
			}
			ask := func(authorization, body string) (int, string) {
				resp, answer := exchange(t, origin, "POST "+base+"/oauth/token\nContent-Type: application/x-www-form-urlencoded"+
					authorization+"\n\n"+body)
				return resp.StatusCode, answer
			}
			for _, tt := range []struct{ authorization, body, want string }{
				{"", "grant_type=client_credentials", "invalid_client"},
				{"", "grant_type=client_credentials&client_id=cli&client_secret=s4", "invalid_client"},
				{"\nAuthorization: Basic Y2xpOnMz", "grant_type=password", "unsupported_grant_type"},
				{"\nAuthorization: Basic Y2xpOnMz", "", "invalid_request"},
				{"", "grant_type=client_credentials&client_id=cli&client_secret=s3", `"token_type":"Bearer"`},
			} {
				if status, got := ask(tt.authorization, tt.body); !strings.Contains(got, tt.want) ||
					(status == http.StatusOK) != strings.Contains(tt.want, "Bearer") {
					t.Errorf("%s %s: %d %s, want %s", tt.authorization, tt.body, status, got, tt.want)
				}
			}
			_, got := ask("\nAuthorization: Basic Y2xpOnMz", "grant_type=client_credentials")
			token := strings.Split(strings.SplitAfter(got, `"access_token":"`)[1], `"`)[0]
			calls := func(token string) int {
				resp := headOf(t, origin, "GET "+base+"/tasks\nA2A-Version: 1.0\nAuthorization: Bearer "+token)
				return resp.StatusCode
			}
			if status := calls(token); status == http.StatusUnauthorized {
				t.Errorf("the token does not let in")
			}
			for _, wrong := range []string{"", "x", "9" + token, token + "0"} {
				expect.Equal(t, wrong+" lets in", http.StatusUnauthorized, calls(wrong))
			}
			now = now.Add(time.Hour)
			expect.Equal(t, "a token of an hour ago lets in", http.StatusUnauthorized, calls(token))
		})
	}
}
