package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	analyzed "a2atap/analyzer/report"
	"a2atap/proxy/must"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

// hostile are texts in traffic that imitate something else or try to trigger an action.
var hostile = []string{
	"\x1b[2J\x1b[31mred", "a\r\n::error::pwned", "::set-output name=x::y", "%0A::error::pwned", "##[error]x",
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "</pre></article><h1>no difference</h1>",
	"{{.Verdict}}",
	"</details>\n\n# no difference", "```\n# no difference\n```", "| a | b |", `\| a`, "[x](javascript:alert(1))",
	"@everyone",
	"]]>", "</testsuite>", "\u202ename", "\u0085\u2028\u2029x", "\x00\xff\xfe", "- x\n+ y", "`", "", "*b* _i_ ~s~ #1",
}

// madeOf returns a report in which every untrusted text is s.
func madeOf(s string) *report.Report {
	d := compare.Difference{
		Kind: compare.DifferentValue, Rule: s, Exchange: 1, Live: 2, Place: s, LivePlace: s, Want: s, Got: s, Message: s,
		Changes: []compare.Change{compare.NewChange(s, []byte(s), []byte(s+"x")), {Pointer: "/a", Was: s}, {Now: s}},
		Effect:  compare.Effect{Task: s, Agent: s, Lasting: true, NoAnswer: true},
	}
	then := d
	then.Kind, then.Exchange, then.Live = compare.DifferentState, 3, 4
	alone := compare.Difference{Kind: compare.DifferentDelivery, Message: s, Want: s, Got: s}
	return &report.Report{
		Tool: analyzed.Tool{Name: "a2atap", Version: s}, Capture: s, To: s, Profile: "protocol", Crash: s,
		Sent: 2, Differing: 2, LeftOut: 1, Deliveries: report.Deliveries{LeftOut: 1, Why: s}, Notes: []string{s},
		Lines: []report.Line{
			{Exchange: 1, Live: 2, Agent: s, Operation: "GetTask", Task: s, Status: report.Differing, Requests: 1},
			{Exchange: 3, Live: 4, Operation: "GetTask", Task: s, Status: report.Differing, Requests: 1},
			{Exchange: 5, Operation: "CancelTask", Task: s, Status: report.LeftOut, Why: s, Lacks: 1},
			{Exchange: 6, Operation: "CancelTask", Task: s, Status: report.LeftOut, Why: s},
		},
		Differences: []compare.Difference{d, then, alone},
	}
}

// Whatever the traffic contains, no format contains anything that a terminal, a browser, a GitHub page or a workflow
// would execute.
func TestForeignTextsAreOnlyShown(t *testing.T) {
	for _, s := range hostile {
		r := madeOf(s)
		for _, format := range report.Formats() {
			var b bytes.Buffer
			if err := report.Write(&b, format, r); err != nil {
				t.Fatalf("%s of %q: %v", format, s, err)
			}
			checkHarmless(t, format, s, b.String())
		}
	}
}

func checkHarmless(t *testing.T, format, s, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s of %q is not UTF-8", format, s)
	}
	for _, c := range text {
		if c != '\n' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s of %q holds %U", format, s, c)
			break
		}
	}
	switch format {
	case "json":
		if !json.Valid([]byte(text)) {
			t.Errorf("json of %q is none: %s", s, text)
		}
	case "junit":
		checkXML(t, s, text)
	case "github":
		for line := range strings.Lines(text) {
			if !regexp.MustCompile(`^::(error|notice) title=[^:]*::`).MatchString(line) {
				t.Errorf("of %q there is the line %q", s, line)
			}
		}
	case "markdown":
		checkMarkdown(t, s, text)
	case "html":
		checkHTML(t, s, text)
	}
}

func checkXML(t *testing.T, s, text string) {
	t.Helper()
	cases := 0
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Errorf("junit of %q: %v", s, err)
			return
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "testcase" {
			cases++
		}
	}
	if cases != 5 {
		t.Errorf("junit of %q has %d cases", s, cases)
	}
}

// code is a block in Markdown: from a line of backticks with a word to the next line of backticks.
var code = regexp.MustCompile("(?ms)^```diff\n(.*?)^```$")

func checkMarkdown(t *testing.T, s, text string) {
	t.Helper()
	for _, block := range code.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			if !strings.HasPrefix(line, "@@ ") && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "+ ") {
				t.Errorf("of %q a block of code has the line %q", s, line)
			}
		}
	}
	text = code.ReplaceAllString(text, "")
	text = regexp.MustCompile("`[^`\\n]*`").ReplaceAllString(text, "")
	headings := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			headings++
		}
		if strings.HasPrefix(line, "```") {
			t.Errorf("of %q there is the line %q outside of code", s, line)
		}
	}
	for _, tag := range regexp.MustCompile(`</?[a-zA-Z][^>]*>`).FindAllString(text, -1) {
		switch strings.Trim(tag, "</>") {
		case "details", "summary", "code":
		default:
			t.Errorf("of %q there is the tag %q", s, tag)
		}
	}
	if n := strings.Count(text, "<details>"); headings != 1 || n != strings.Count(text, "</details>") ||
		strings.Contains(text, "@everyone") || regexp.MustCompile(`[^\\]\]\(`).MatchString(text) {
		t.Errorf("markdown of %q:\n%s", s, text)
	}
}

// tags are the elements of the page; each occurs in its source.
var tags = regexp.MustCompile(`<[^>]*>`)

func checkHTML(t *testing.T, s, text string) {
	t.Helper()
	plain := pageOf(t, "x")
	known := map[string]bool{}
	for _, tag := range tags.FindAllString(plain, -1) {
		known[tag] = true
	}
	for _, tag := range tags.FindAllString(text, -1) {
		if !known[tag] {
			t.Errorf("the page of %q has the tag %q", s, tag)
		}
	}
	if strings.Contains(text, "http:") || strings.Contains(text, "https:") || strings.Contains(text, "url(") {
		t.Errorf("the page of %q fetches something", s)
	}
}

func pageOf(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	must.Do(t, report.HTML(&b, madeOf(s)))
	return b.String()
}

// Each format can be written and read, whatever the texts are.
func FuzzWriters(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := madeOf(s)
		for _, format := range report.Formats() {
			var b bytes.Buffer
			if err := report.Write(&b, format, r); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if !utf8.ValidString(b.String()) {
				t.Errorf("%s is not UTF-8", format)
			}
			switch format {
			case "json":
				if !json.Valid(b.Bytes()) {
					t.Error("json is none")
				}
			case "junit":
				checkXML(t, s, b.String())
			case "github":
				if n := strings.Count(b.String(), "\n"); n != len(r.Causes())+1 {
					t.Errorf("%d lines for %d causes", n, len(r.Causes()))
				}
			}
		}
	})
}
