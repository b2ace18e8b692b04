//go:build peers

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/replay/peers"
)

var updateClients = flag.Bool("clients", false, "write the table of the official SDKs' clients in docs/probe.md anew")

// What docs/probe.md says of the clients of the official SDKs is what probe --client says of them.
func TestClientsOfSDKs(t *testing.T) {
	own := func(name string) func(testing.TB) (argv, env []string) {
		return func(t testing.TB) (argv, env []string) {
			at, err := exec.LookPath(name)
			if err != nil {
				t.Fatal(err)
			}
			return []string{at}, os.Environ()
		}
	}
	var b strings.Builder
	b.WriteString("| client | level | what failed |\n|---|---|---|\n")
	for _, c := range []struct {
		name    string
		command func(testing.TB) (argv, env []string)
	}{
		{"Go 2.x", own("clientgo2")}, {"Go 0.3.x", own("clientgo03")}, {"JavaScript 1.x", peers.JS1.Once},
		{"JavaScript 0.3.x", peers.JS03.Once}, {"Python 1.x", peers.Py1.Once}, {"Python 0.3.x", peers.Py03.Once},
	} {
		argv, env := c.command(t)
		args := append([]string{"probe", "--client", "--client-timeout", "20s", "--format", "json", "--"}, argv...)
		cmd := exec.Command("a2atap", append(args, "{url}", "{text}", "{mode}")...)
		cmd.Env = env
		out, err := cmd.Output()
		var said struct {
			Reports []struct {
				ConformanceLevel string
				Categories       map[string][]struct{ Test, Status, Severity string }
			}
		}
		if json.Unmarshal(out, &said) != nil || len(said.Reports) == 0 {
			t.Fatalf("%s: %v\n%s", c.name, err, out)
		}
		var failed []string
		level := ""
		for _, r := range said.Reports {
			level += r.ConformanceLevel
			for _, category := range []string{"agentCard", "lifecycle", "streaming", "errorHandling", "interop"} {
				for _, x := range r.Categories[category] {
					if x.Status == "fail" {
						failed = append(failed, strings.TrimSpace("`"+x.Test+"` "+x.Severity))
					}
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.name, level, strings.Join(failed, ", "))
	}
	page := filepath.Join("..", "..", "docs", "probe.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- written by TestClientsOfSDKs -->\n", "<!-- end -->\n"
	before, rest, found := strings.Cut(string(text), begin)
	was, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", page)
	}
	if *updateClients {
		if err := os.WriteFile(page, []byte(before+begin+b.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(was, b.String()); diff != "" {
		t.Errorf("%s says something else (-page +now; go test -tags peers ./cmd/a2atap -run ClientsOfSDKs -clients):\n%s", page, diff)
	}
}
