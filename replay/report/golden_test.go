package report_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/refagent"
	"a2atap/replay/report"
)

var update = flag.Bool("update", false, "rewrite the golden files to what is written now")

// cardOf is the card of the agent in testdata/booker.txtar, with other skills under the same names, and with or
// without streams.
func cardOf(book, ask string, streaming bool) []byte {
	return fmt.Appendf(nil, `{
  "name": "Booker", "description": "Books seats.", "version": "1",
  "capabilities": {"streaming": %t, "pushNotifications": true},
  "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
  "skills": [
    {"id": "book", "name": "book", "description": "Books seats", "tags": [%q]},
    {"id": "ask", "name": "ask", "description": "Asks back", "tags": [%q]},
    {"id": "tell", "name": "tell", "description": "Tells more", "tags": ["streaming"]}
  ]
}`, streaming, book, ask)
}

// replayed replays testdata/booker.txtar against a reference agent whose ids and times are the same each time.
func replayed(t testing.TB, o refagent.Options, options replay.Options) *report.Report {
	t.Helper()
	var ids atomic.Int64
	o.NewID = func() string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", ids.Add(1)) }
	o.Now = func() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) }
	o.StepTime, o.Push = time.Millisecond, true
	agent := must.Get(refagent.New("spec", o))(t)
	server := httptest.NewServer(agent)
	defer server.Close()
	defer agent.Close()
	script := must.Get(transcript.ReadFile(filepath.Join("testdata", "booker.txtar")))(t)
	src := must.Get(capture.ReadMemory(capture.Info{Name: "booker.txtar"}, capture.Each(script.Exchanges...)))(t)
	options.Rules = rules.All
	r := must.Get(replay.Run(t.Context(), src, server.URL+agent.Path(), options))(t)
	r.To = "http://127.0.0.1:9001/spec"
	r.Tool.Name, r.Tool.Version = "a2atap", "1.0.0"
	return r
}

// The reports of one replay: the agent fails a task, no longer asks back or streams, and breaks a rule.
func TestReports(t *testing.T) {
	t.Parallel()
	r := replayed(t, refagent.Options{
		Card: cardOf("task-failure", "message-only", false), Fault: "timestamp-utc-z",
	}, replay.Options{})
	for _, format := range report.Formats() {
		t.Run(format, func(t *testing.T) {
			golden(t, "changed."+format, func(w io.Writer) error {
				var b strings.Builder
				if err := report.Write(&b, format, r); err != nil {
					return err
				}
				text := b.String()
				if format == "html" { // the head is that of all pages
					text = text[strings.Index(text, "<body>"):]
				}
				_, err := io.WriteString(w, text)
				return err
			})
		})
	}
}

// A replay against the recorded agent has no differences, and each format reports that.
func TestReportsOfNothing(t *testing.T) {
	t.Parallel()
	r := replayed(t, refagent.Options{Card: cardOf("task-lifecycle", "multi-turn", true)}, replay.Options{})
	if !r.Same() || r.LeftOut > 0 {
		t.Fatal(r.Verdict())
	}
	for _, format := range []string{"text", "markdown", "github"} {
		t.Run(format, func(t *testing.T) {
			golden(t, "same."+format, func(w io.Writer) error { return report.Write(w, format, r) })
		})
	}
}

func golden(t *testing.T, name string, write func(w io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, write(&b))
	expect.Golden(t, *update, filepath.Join("testdata", name), b.String())
}
