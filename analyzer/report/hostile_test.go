package report_test

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/joshdk/go-junit"

	"a2atap/analyzer"
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
		r := many(2, analyzer.Error)
		for i := range r.Findings {
			f := &r.Findings[i]
			f.Link = analyzer.Link{Client: name, Agent: name}
			f.Capture, f.Seen = name, "seen "+name
		}
		r.Captures = []string{name, "other"}
		r.Coverage = []judgment.Coverage{{Rule: r.Findings[0].Rule, Link: r.Findings[0].Link, Applied: 1}}
		whole := whole(r)
		whole.Rules = []*analyzer.Rule{r.Findings[0].Rule}
		for format, write := range map[string]func(io.Writer, *report.Report) error{
			"markdown": report.Markdown, "html": report.HTML, "github": report.GitHub, "junit": report.JUnit, "sarif": report.SARIF,
			"json": report.JSON,
		} {
			var b bytes.Buffer
			if err := write(&b, whole); err != nil {
				t.Errorf("%s of %q: %v", format, name, err)
				continue
			}
			for _, c := range b.String() {
				if c != '\n' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)) {
					t.Errorf("%s of %q holds %U", format, name, c)
				}
			}
			switch format {
			case "markdown":
				checkTables(t, name, b.String())
			case "html":
				checkPage(t, name, b.String())
			case "github":
				for line := range strings.Lines(b.String()) {
					if !strings.HasPrefix(line, "::error title=r (agent") || strings.Count(line, "title=") != 1 ||
						strings.HasPrefix(line, "::error::") {
						t.Errorf("of %q there is the line %q", name, line)
					}
				}
				if n := strings.Count(b.String(), "\n"); n != 2 {
					t.Errorf("two findings of %q are %d lines", name, n)
				}
			case "junit":
				suites, err := junit.Ingest(b.Bytes())
				if err != nil || len(suites) != 1 || suites[0].Totals.Tests != 1 || suites[0].Totals.Failed != 1 {
					t.Errorf("junit of %q: %+v, error %v", name, suites, err)
				}
			default:
				if !json.Valid(b.Bytes()) {
					t.Errorf("%s of %q is no JSON: %s", format, name, b.String())
				}
			}
		}
	}
}

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
