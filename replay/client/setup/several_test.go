package setup

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
)

// several parses flags as replay does, for agents on one machine.
func several(t *testing.T, args string, agents ...Agent) ([]*Setup, error) {
	t.Helper()
	var f SeveralFlags
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.Register(set, "now and then")
	must.Do(t, set.Parse(strings.Fields(args)))
	return f.Setup(world(), agents)
}

var (
	booker  = Agent{"booker", "http://127.0.0.1:1"}
	planner = Agent{"planner", "http://localhost:2"}
	other   = Agent{"", "http://127.0.0.1:3"}
	distant = Agent{"distant", "https://agents.example"}
)

// Each agent gets only its own credentials.
func TestSeveral(t *testing.T) {
	for _, tt := range []struct {
		args   string
		agents []Agent
		want   []string // Authorization or X-Api-Key, by agent
	}{
		{"", []Agent{booker, planner}, []string{"", ""}},
		{"--auth bearer:all", []Agent{booker, planner, other}, []string{"Bearer all", "Bearer all", "Bearer all"}},
		{"--auth booker=bearer:b", []Agent{booker, planner, other}, []string{"Bearer b", "", ""}},
		{
			"--auth booker=bearer:b --auth planner=apikey:env:TOKEN",
			[]Agent{booker, planner},
			[]string{"Bearer b", "t0ken-of-env"},
		},
		{"--auth booker=bearer:b --auth bearer:rest", []Agent{booker, planner, other}, []string{
			"Bearer b", "Bearer rest", "Bearer rest",
		}},
		{"--auth distant=bearer:d --auth bearer:rest", []Agent{distant, booker, other}, []string{
			"Bearer d", "Bearer rest", "Bearer rest",
		}},
		{"--auth header:X-Api-Key=booker=1", []Agent{booker}, []string{"booker=1"}},
		{"--auth apikey:a=b", []Agent{booker}, []string{"a=b"}},
	} {
		list, err := several(t, tt.args, tt.agents...)
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		var got []string
		for _, s := range list {
			out := &client.Outgoing{URL: "/", Header: http.Header{}}
			if s.Options.Authorize != nil {
				must.Do(t, s.Options.Authorize(t.Context(), out))
			}
			got = append(got, out.Header.Get("Authorization")+out.Header.Get("X-Api-Key"))
		}
		expect.Same(t, tt.args, tt.want, got)
	}
}

// OAuth tokens are requested separately for each agent.
func TestSeveralOAuth(t *testing.T) {
	list, err := several(t, "--oauth-client-id booker=cli --oauth-client-secret booker=env:TOKEN --oauth-scope booker=a "+
		"--oauth-scope booker=b --oauth-user planner=alice --oauth-password planner=@token", booker, planner, other)
	must.Do(t, err)
	if list[0].Options.Authorize == nil || list[1].Options.Authorize == nil || list[2].Options.Authorize != nil {
		t.Errorf("got %+v; want credentials for two of three", list)
	}
	if a, b := list[0].Mask.Text("t0ken-of-env t0ken-of-file"), list[1].Mask.Text("t0ken-of-file"); a != "… t0ken-of-file" ||
		b != "…" {
		t.Errorf("hidden are %q and %q; want each agent's own secret", a, b)
	}
}

func TestSeveralRefused(t *testing.T) {
	for args, want := range map[string]string{
		"--auth bearer:s3cretpw":                           "would be sent to this machine and agents.example: write NAME=",
		"--oauth-client-id x --oauth-client-secret s3cret": "would be sent to this machine and agents.example",
		"--auth nobody=bearer:s3cretpw":                    `--auth is given for "nobody", but no --to names that agent`,
		"--auth booker=s3cretpw":                           "for booker: --auth: invalid credentials; write bearer:TOKEN",
		"--auth booker=bearer:a --auth booker=bearer:b":    "--auth is given twice for booker",
		"--auth bearer:a --auth bearer:b":                  "--auth is given twice; write NAME= before it",
		"--oauth-client-secret booker=s3cretpw":            "for booker: --oauth-client-id is missing",
		"--auth booker=bearer:a --oauth-user booker=x":     "for booker: --auth and --oauth-… exclude each other",
		"--auth s3cretpw=":                                 "invalid credentials; write bearer:TOKEN",
	} {
		agents := []Agent{booker, distant}
		if strings.Contains(want, "invalid credentials; write bearer:TOKEN") {
			agents = agents[:1]
		}
		_, err := several(t, args, agents...)
		expect.ErrorHas(t, args, want, err)
		if err != nil && strings.Contains(err.Error(), "s3cretpw") {
			t.Errorf("%s: %v repeats a secret", args, err)
		}
	}
}
