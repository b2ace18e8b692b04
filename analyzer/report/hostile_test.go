package report_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/joshdk/go-junit"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
)

// names are what a client may call itself by its User-Agent, to be seen as something else.
var names = []string{
	"planner | 0 errors | ok", `planner \| ok`, `\`, `planner \\|`, "`planner", "`|`", "planner\n| evil | ok |",
	"planner\r\n::error::pwned",
	"::set-output name=x::y", "%0A::error::pwned", "<img src=x onerror=alert(1)>", "[planner](http://evil.example)",
	"@everyone", "</testsuite>",
	"]]>", `"><script>`, "\x1b[2Jplanner", "\u202eрlanner", "\u0085\u2028::error::x", "| --- |", "",
}

// tableCells are the cells of a row as GitHub reads them: a bar divides them unless a backslash that has its meaning is
// before it.
var tableCells = regexp.MustCompile(`\|((?:\\[!-/:-@[-\x60{-~]|[^|\\]|\\)*)`)

var codeSpan = regexp.MustCompile("`[^`\\n]*`")

func TestNamesStayNames(t *testing.T) {
	for _, name := range names {
		r := many(2, analysis.Error)
		for i := range r.Findings {
			f := &r.Findings[i]
			f.Link = analysis.Link{Client: name, Agent: name}
			f.Capture, f.Seen = name, "seen "+name
		}
		r.Captures = []string{name, "other"}
		r.Coverage = []judgment.Coverage{{Rule: r.Findings[0].Rule, Link: r.Findings[0].Link, Applied: 1}}
		whole := whole(r)
		whole.Rules = []*analysis.Rule{r.Findings[0].Rule}
		for _, format := range report.Formats() {
			if format == "text" {
				continue // which is for terminals
			}
			text := inFormat(t, format, whole)
			checkInert(t, format, name, text)
			if n := strings.Count(text, "\n"); format == "github" && n != 2 {
				t.Errorf("two findings of %q are %d lines", name, n)
			}
			if suites, err := junit.IngestReader(strings.NewReader(text)); format == "junit" &&
				(err != nil || len(suites) != 2 || suites[0].Totals.Tests != 1 || suites[0].Totals.Failed != 1) {
				t.Errorf("junit of %q: %+v, error %v", name, suites, err)
			}
		}
	}
}

// checkInert fails if a foreign text, name, has a meaning in what was written in a format.
func checkInert(t *testing.T, format, name, text string) {
	t.Helper()
	for _, c := range text {
		if c != '\n' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s of %q holds %U", format, name, c)
		}
	}
	switch format {
	case "markdown":
		checkTables(t, name, text)
	case "html":
		checkPage(t, name, text)
	case "json", "sarif":
		if !json.Valid([]byte(text)) {
			t.Errorf("%s of %q is not JSON: %s", format, name, text)
		}
	case "junit":
		if _, err := junit.Ingest([]byte(text)); err != nil {
			t.Errorf("junit of %q: %v", name, err)
		}
	case "github":
		for line := range strings.Lines(text) {
			if !githubLine.MatchString(line) || strings.Count(line, "title=") != 1 {
				t.Errorf("of %q there is the line %q", name, line)
			}
		}
	}
}

// githubLine matches the lines that reports of these tests consist of: none is what a name has begun.
var githubLine = regexp.MustCompile(`^::(error|warning) title=|^::notice title=a2atap probe::findings: `)

// checkTables fails unless all rows of each table have as many cells as its head, and no line is what a name began.
func checkTables(t *testing.T, name, text string) {
	t.Helper()
	cells := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		n := len(tableCells.FindAllString(line, -1)) - 1 // the last bar begins none
		if cells == 0 {
			cells = n
		}
		if n != cells {
			t.Errorf("of %q there is a row of %d cells in a table of %d: %s", name, n, cells, line)
		}
	}
	text = codeSpan.ReplaceAllString(text, "") // there nothing has a meaning
	if strings.Contains(text, "<img") || strings.Contains(text, "<script") || strings.Contains(text, "@everyone") {
		t.Errorf("of %q there is: %s", name, text)
	}
}
