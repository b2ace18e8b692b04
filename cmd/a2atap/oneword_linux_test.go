package main

import (
	"bytes"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/must"
	"a2atap/tui"
	"a2atap/tui/text"
)

// The list, the tree, the line of a recorder, the ladder, the page and the inspector report the outcome of an exchange
// with the same words. This covers exchanges that succeeded, failed, broke off, streamed, are not of the protocol, are
// open or were interrupted. Narrow views show the beginning of the words.
func TestSixPlacesSayTheSame(t *testing.T) {
	journey := must.Get(os.ReadFile("../../tui/testdata/journey.txtar"))(t)
	name := filepath.Join(t.TempDir(), "c.txtar")
	more := `-- 9.request --
GET /health HTTP/1.1
Host: booker.example

-- 9.response --
HTTP/1.1 503 Service Unavailable
Content-Type: text/plain

no
-- 9.meta --
client: traveller addr 127.0.0.1:40009 how user-agent
agent: booker addr 127.0.0.1:9001 url http://booker.example/a2a
started: 2026-05-04T09:30:09.000Z
-- 10.request --
POST /a2a HTTP/1.1
Host: booker.example
A2A-Version: 1.0
Content-Type: application/json

{"jsonrpc":"2.0","id":12,"method":"GetTask","params":{"id":"book-91c2"}}
-- 10.meta --
client: traveller addr 127.0.0.1:40010 how user-agent
agent: booker addr 127.0.0.1:9001 url http://booker.example/a2a
started: 2026-05-04T09:30:10.000Z
state: open
`
	must.Do(t, os.WriteFile(name, append(journey, more...), 0o600))
	var said bytes.Buffer
	e := cli.Env{In: strings.NewReader(""), Out: &said, Err: &said, Now: time.Now, Getenv: unset}
	src := must.Get(source.Open(e, name))(t)
	defer src.Close()
	j := must.Get(verdict.Open(t.Context(), e, "test", name, src, verdict.How{}))(t)
	defer j.Close()
	places := map[string]string{
		"list": runForOutput(t, "show", name), "tree": runForOutput(t, "show", name, "--format", "tree"),
		"ladder": runForOutput(t, "show", name, "--format", "ladder"),
		"page": html.UnescapeString(
			runForOutput(t, "check", name, "--format", "html", "--fail-on", "never", "--allow-empty")),
	}
	screen, _ := inspectSource(t, src, tui.Options{Rules: rules.All, View: verdict.View(name, src, rules.All)}, 40, 300)
	outcomes := make(map[string]bool)
	for row, err := range j.Rows(t.Context(), 1) {
		must.Do(t, err)
		want := row.OutcomeText()
		outcomes[want] = true
		var line strings.Builder
		for _, p := range present.PassedLine(&row.Summary) {
			line.WriteString(p.Text)
		}
		places["line of a recorder"] = line.String()
		for place, words := range places {
			if !strings.Contains(words, text.Clip(want, 30)) && !strings.Contains(words, beginningOf(want, 30)) {
				t.Errorf("the %s does not say %q of %d:\n%.2000s", place, want, row.Seq, words)
			}
		}
		screen.shows(t, beginningOf(want, 22))
	}
	if len(outcomes) < 9 {
		t.Errorf("the exchanges came out in %d ways only: %v", len(outcomes), outcomes)
	}
}

// beginningOf returns the first characters of a text.
func beginningOf(text string, n int) string {
	r := []rune(text)
	return string(r[:min(n, len(r))])
}
