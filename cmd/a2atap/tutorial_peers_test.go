//go:build peers

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/must"
)

// The tutorial's programs behave as it describes: running, fixing and breaking them as described prints each shown
// line, except for ids, times and ports.
func TestTutorial(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/tutorial.md"))(t)
	tt := newTutorial(t, string(page))
	tt.startAgent()
	tt.client(tt.agent)
	tt.record("poet.a2atap")
	tt.shell.run("a2atap show poet.a2atap", "")
	tt.shell.run("a2atap check poet.a2atap", "")
	const ending = "const { id: taskId"
	tt.edit("client.mjs", ending+shownBetween(t, tt.files["client.mjs"]+"\x00", ending, "\x00"),
		shownBetween(t, string(page), "## Fix it", "```js\n", "```"))
	tt.record("good.a2atap")
	tt.shell.run("a2atap check good.a2atap", "")
	tt.shell.run("a2atap replay good.a2atap --to http://127.0.0.1:9001", tt.agent)
	tt.edit("agent.py", "append=i > 0, ", "")
	tt.startAgent()
	tt.shell.run("a2atap replay good.a2atap --to http://127.0.0.1:9001", tt.agent)

	printed := strings.Split(tt.bare(tt.shell.log.String()), "\n")
	shown := 0
	for _, block := range regexp.MustCompile("(?ms)^```\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			if line = tt.bare(strings.TrimRight(line, "\n")); strings.HasPrefix(line, "$ ") || !strings.HasPrefix(block[1], "$ ") {
				continue
			}
			shown++
			if !slices.Contains(printed, line) {
				t.Errorf("the page shows, and nothing prints: %s", line)
			}
		}
	}
	if shown < 15 || t.Failed() {
		t.Errorf("%d lines are shown; printed was:\n%s", shown, tt.shell.log.String())
	}
}

// A tutorial is its programs in a folder, and what runs there.
type tutorial struct {
	t      *testing.T
	shell  *shell
	files  map[string]string
	agent  string // URL
	python *exec.Cmd
}

func newTutorial(t *testing.T, page string) *tutorial {
	t.Helper()
	tt := &tutorial{t: t, shell: &shell{t: t, dir: t.TempDir()}, files: map[string]string{
		"agent.py":   shownBetween(t, page, "`agent.py`", "```python\n", "```"),
		"client.mjs": shownBetween(t, page, "`client.mjs`", "```js\n", "```"),
	}}
	free := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	at := free.Addr().(*net.TCPAddr).Port
	free.Close()
	tt.agent = fmt.Sprintf("http://127.0.0.1:%d", at)
	tt.edit("agent.py", "9001", fmt.Sprint(at))
	tt.shell.name(tt.agent, "http://127.0.0.1:9001")
	tt.edit("client.mjs", "", "")
	modules := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(peersPython(t)))), "js1", "node_modules")
	must.Do(t, os.Symlink(modules, filepath.Join(tt.shell.dir, "node_modules")))
	t.Cleanup(tt.stopAgent)
	return tt
}

// edit changes a text in a program, and writes the program.
func (tt *tutorial) edit(name, was, now string) {
	tt.t.Helper()
	if !strings.Contains(tt.files[name], was) {
		tt.t.Fatalf("%s has no %q", name, was)
	}
	if was != "" {
		tt.files[name] = strings.ReplaceAll(tt.files[name], was, now)
	}
	if err := os.WriteFile(filepath.Join(tt.shell.dir, name), []byte(tt.files[name]), 0o644); err != nil {
		tt.t.Fatal(err)
	}
}

// startAgent runs the agent as it is now, in the place of the one that runs.
func (tt *tutorial) startAgent() {
	tt.t.Helper()
	tt.stopAgent()
	tt.python = exec.Command(peersPython(tt.t), "agent.py")
	tt.python.Dir = tt.shell.dir
	if err := tt.python.Start(); err != nil {
		tt.t.Fatal(err)
	}
	for deadline := time.Now().Add(must.Patience); ; {
		res, err := http.Get(tt.agent + "/.well-known/agent-card.json")
		if err == nil {
			res.Body.Close()
			http.DefaultTransport.(*http.Transport).CloseIdleConnections()
			return
		}
		if time.Now().After(deadline) {
			tt.t.Fatal("the agent does not answer: ", err)
		}
		<-time.After(20 * time.Millisecond) // another process opens the port; there is nothing to wait on
	}
}

func (tt *tutorial) stopAgent() {
	if tt.python != nil {
		tt.python.Process.Kill()
		tt.python.Wait()
		tt.python = nil
	}
}

// client runs the client at a URL.
func (tt *tutorial) client(url string) {
	tt.t.Helper()
	cmd := exec.Command("node", "client.mjs", url)
	cmd.Dir = tt.shell.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		tt.t.Fatalf("%v: %s", err, out)
	}
	tt.shell.log.Write(out)
}

// record runs the client through a tap.
func (tt *tutorial) record(capture string) {
	tt.t.Helper()
	tap := tt.shell.start("a2atap record --agent poet=http://127.0.0.1:9001@7001 -o "+capture, capture+".ready",
		"--agent", "poet="+tt.agent, "--exchanges", "3")
	tt.shell.name(tap.url, "http://127.0.0.1:7001")
	tt.client(tap.url)
	tt.shell.log.WriteString(tap.wait())
}

// bare returns a text without what differs from run to run.
func (tt *tutorial) bare(text string) string {
	text = strings.NewReplacer(tt.shell.names...).Replace(text)
	text = uuids.ReplaceAllString(text, "ID")
	text = regexp.MustCompile(`\d\d:\d\d:\d\d\.\d{3}`).ReplaceAllString(text, "TIME")
	return regexp.MustCompile(` +[\d.]+m?s\b`).ReplaceAllString(text, " TOOK")
}

// shownBetween returns the text between the last two of some marks, each of which follows the previous one.
func shownBetween(t *testing.T, text string, marks ...string) string {
	t.Helper()
	for i, mark := range marks {
		before, after, found := strings.Cut(text, mark)
		switch {
		case !found:
			t.Fatalf("there is no %q", mark)
		case i == len(marks)-1:
			return before
		}
		text = after
	}
	return ""
}
