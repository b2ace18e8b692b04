package report_test

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

var update = flag.Bool("update", false, "rewrite the golden files to what is written now")

var day = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// judged returns the result of checking testdata/calls.txtar: a card, a call that breaks two rules at one place, a
// correct stream, and a client's faulty request.
func judged(t *testing.T) *judgment.Result {
	t.Helper()
	return must.Get(engine.Run(t.Context(), rules.All, calls(t), nil))(t)
}

// calls returns testdata/calls.txtar as a capture.
func calls(t *testing.T) capture.Source {
	t.Helper()
	const file = "testdata/calls.txtar"
	text := must.Get(os.ReadFile(file))(t)
	tr := must.Get(transcript.Parse(file, text))(t)
	return must.Get(capture.ReadMemory(capture.Info{Name: "calls.txtar"}, capture.Each(tr.Exchanges...)))(t)
}

// written returns what a writer writes of something.
func written[T any](t *testing.T, write func(io.Writer, T) error, of T) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, write(&b, of))
	return b.String()
}

// inFormat returns a report in a format.
func inFormat(t *testing.T, format string, r *report.Report) string {
	t.Helper()
	return written(t, func(w io.Writer, r *report.Report) error { return report.Write(w, format, r) }, r)
}

// golden compares what write writes with a file in testdata.
func golden(t *testing.T, name string, write func(w io.Writer) error) string {
	t.Helper()
	got := written(t, func(w io.Writer, _ any) error { return write(w) }, nil)
	expect.Golden(t, *update, filepath.Join("testdata", name), got)
	return got
}

func TestText(t *testing.T) {
	result := small(t)
	golden(t, "calls.txt", func(w io.Writer) error { return report.Text(w, whole(result)) })
}

// Of several captures, each finding says which one it is from.
func TestTextOfSeveralCaptures(t *testing.T) {
	result := small(t)
	result.Add(small(t))
	golden(t, "several.txt", func(w io.Writer) error { return report.Text(w, whole(result)) })
}

func TestRules(t *testing.T) {
	list := named("json-duplicate-keys", "rpc-result-xor-error")
	golden(t, "rules.txt", func(w io.Writer) error { return report.RulesText(w, list) })
	golden(t, "rules.json", func(w io.Writer) error { return report.RulesJSON(w, list) })
	golden(t, "rules.md", func(w io.Writer) error { return report.RulesMarkdown(w, list) })
	golden(t, "rule.md", func(w io.Writer) error { return report.RulesMarkdown(w, list[1:]) })
	golden(t, "rule.txt", func(w io.Writer) error { return report.RuleText(w, list[1]) })
}

// What cannot be written is an error, so that the caller can print the raw results instead.
func TestWriteErrors(t *testing.T) {
	result := judged(t)
	for name, write := range map[string]func(w io.Writer) error{
		"text":        func(w io.Writer) error { return report.Text(w, whole(result)) },
		"json":        func(w io.Writer) error { return report.JSON(w, whole(result)) },
		"markdown":    func(w io.Writer) error { return report.Markdown(w, whole(result)) },
		"junit":       func(w io.Writer) error { return report.JUnit(w, whole(result)) },
		"sarif":       func(w io.Writer) error { return report.SARIF(w, whole(result)) },
		"github":      func(w io.Writer) error { return report.GitHub(w, whole(result)) },
		"finding":     func(w io.Writer) error { return report.FindingLine(w, &result.Findings[0]) },
		"rules text":  func(w io.Writer) error { return report.RulesText(w, rules.All) },
		"rules json":  func(w io.Writer) error { return report.RulesJSON(w, rules.All) },
		"rules md":    func(w io.Writer) error { return report.RulesMarkdown(w, rules.All) },
		"unobserved":  func(w io.Writer) error { return report.UnobservedText(w, rules.Unobserved) },
		"unobs. md":   func(w io.Writer) error { return report.UnobservedMarkdown(w, rules.Unobserved) },
		"a rule":      func(w io.Writer) error { return report.RuleText(w, rules.All[0]) },
		"a rule's md": func(w io.Writer) error { return report.RulePage(w, rules.All[0], "", "") },
	} {
		if err := write(full{}); err == nil {
			t.Errorf("%s: no error from a writer that fails", name)
		}
	}
}

// full is a writer like a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }
