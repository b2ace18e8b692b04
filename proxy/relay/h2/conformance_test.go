//go:build peers

package h2_test

import (
	"encoding/xml"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// h2spec asks a server whether it keeps RFC 7540 and RFC 7541. The version is the last that has a module of Go.
const h2spec = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible"

// An agent gives h2spec the same answers through a tap as directly.
func TestConformance(t *testing.T) {
	bin := t.TempDir()
	install := exec.Command("go", "install", h2spec)
	install.Env = append(os.Environ(), "GOBIN="+bin)
	install.Dir = bin
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("install h2spec: %v\n%s", err, out)
	}
	ask := func(addr string) map[string]string {
		t.Helper()
		host, port, err := net.SplitHostPort(addr)
		must.Do(t, err)
		report := filepath.Join(t.TempDir(), "report.xml")
		// The status says whether anything failed, which the report says, too.
		out, _ := exec.Command(filepath.Join(bin, "h2spec"), "-h", host, "-p", port, "-o", "5", "-j", report).CombinedOutput()
		text, err := os.ReadFile(report)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var suites struct {
			Suites []struct {
				Cases []struct {
					Package string  `xml:"package,attr"`
					Name    string  `xml:"classname,attr"`
					Failure *string `xml:"failure"`
					Error   *string `xml:"error"`
				} `xml:"testcase"`
			} `xml:"testsuite"`
		}
		must.Do(t, xml.Unmarshal(text, &suites))
		came := make(map[string]string)
		for _, s := range suites.Suites {
			for _, c := range s.Cases {
				answer := "passed"
				if c.Failure != nil {
					answer = "failed: " + *c.Failure
				} else if c.Error != nil {
					answer = "failed: " + *c.Error
				}
				came[c.Package+" "+c.Name] = answer
			}
		}
		return came
	}
	addr := agent(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, strings.Repeat("hello ", 100))
	})
	direct, through := ask(addr), ask(newTap(t, addr, nil).addr)
	if len(direct) < 100 {
		t.Fatalf("h2spec has %d questions", len(direct))
	}
	passed := 0
	for _, name := range slices.Sorted(maps.Keys(direct)) {
		if direct[name] == "passed" {
			passed++
		}
		if (direct[name] == "passed") != (through[name] == "passed") {
			t.Errorf("%s: %s directly, and through a tap %s", name, direct[name], through[name])
		}
	}
	t.Logf("%d of %d passed directly", passed, len(direct))
}
