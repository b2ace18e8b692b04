//go:build peers

package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/must"
	"a2atap/replay/peers"
)

var updateClients = flag.Bool("clients", false, "write the table of the official SDKs' clients in docs/probe.md anew")

// What docs/probe.md says of the clients of the official SDKs is what probe --client says of them.
func TestClientsOfSDKs(t *testing.T) {
	own := func(name string) func(testing.TB) (argv, env []string) {
		return func(t testing.TB) (argv, env []string) {
			at := must.Get(exec.LookPath(name))(t)
			return []string{at}, os.Environ()
		}
	}
	clients := []struct {
		name    string
		command func(testing.TB) (argv, env []string)
	}{
		{"Go 2.x", own("clientgo2")},
		{"Go 0.3.x", own("clientgo03")},
		{"JavaScript 1.x", peers.JS1.Once},
		{"JavaScript 0.3.x", peers.JS03.Once},
		{"Python 1.x", peers.Py1.Once},
		{"Python 0.3.x", peers.Py03.Once},
	}
	rows := make([]string, len(clients))
	t.Run("clients", func(t *testing.T) {
		for i, c := range clients {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				argv, env := c.command(t)
				rows[i] = "| " + c.name + " | " + probeClient(t, argv, env) + " |\n"
			})
		}
	})
	table := "| client | level | what failed |\n|---|---|---|\n" + strings.Join(rows, "")
	page := filepath.Join("..", "..", "docs", "probe.md")
	text := must.Get(os.ReadFile(page))(t)
	const begin, end = "<!-- written by TestClientsOfSDKs -->\n", "<!-- end -->\n"
	before, rest, found := strings.Cut(string(text), begin)
	was, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	if *updateClients {
		must.Do(t, os.WriteFile(page, []byte(before+begin+table+end+after), 0o644))
	} else if diff := cmp.Diff(was, table); diff != "" {
		t.Errorf("%s says something else (-page +now; go test -tags peers ./cmd/a2atap -run ClientsOfSDKs -clients):\n%s", page, diff)
	}
}

// probeClient returns the level of a client, and what it failed.
func probeClient(t *testing.T, argv, env []string) string {
	t.Helper()
	args := append([]string{"probe", "--client", "--client-timeout", "20s", "--format", "json", "--"}, argv...)
	cmd := exec.CommandContext(t.Context(), "a2atap", append(args, "{url}", "{text}", "{mode}")...)
	cmd.Env = env
	out, err := cmd.Output()
	var said struct {
		Reports []struct {
			AgentURL, ConformanceLevel string
			Categories                 map[string][]struct{ Test, Status, Severity string }
		}
	}
	if broken := json.Unmarshal(out, &said); broken != nil {
		t.Fatalf("%v, %v\n%s", err, broken, out)
	}
	for _, r := range said.Reports {
		if r.AgentURL != "started by a command" {
			continue
		}
		var failed []string
		for _, category := range analysis.Categories {
			for _, x := range r.Categories[string(category)] {
				if x.Status == "fail" {
					failed = append(failed, strings.TrimSpace("`"+x.Test+"` "+x.Severity))
				}
			}
		}
		return r.ConformanceLevel + " | " + strings.Join(failed, ", ")
	}
	t.Fatalf("no report about the client: %s", out)
	return ""
}
