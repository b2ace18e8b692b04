package report_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/joshdk/go-junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// few are the rules of the golden files: new rules must not change those.
var few = named("rpc-request-jsonrpc", "rpc-result-xor-error", "rpc-id-echo", "json-duplicate-keys", "stream-first-event",
	"card-required-fields", "rest-error-not-2xx")

func named(ids ...string) []*analysis.Rule {
	list := make([]*analysis.Rule, len(ids))
	for i, id := range ids {
		list[i] = rules.ByID(id)
	}
	return list
}

// whole returns a report on a result by rules, or by few, with errors as the gate.
func whole(r *judgment.Result, list ...*analysis.Rule) *report.Report {
	if list == nil {
		list = few
	}
	return &report.Report{
		Result: r, Rules: list, Gate: analysis.Error, Tool: report.Tool{Name: "a2atap", Version: "1.2.3"},
		Now: day,
	}
}

// small returns what a few rules have to say.
func small(t *testing.T) *judgment.Result {
	t.Helper()
	r := judged(t)
	r.Keep(func(f *analysis.Finding) bool { return slices.Contains(few, f.Rule) })
	r.Coverage = slices.DeleteFunc(r.Coverage, func(c judgment.Coverage) bool { return !slices.Contains(few, c.Rule) })
	return r
}

func TestMarkdown(t *testing.T) {
	golden(t, "calls.md", func(w io.Writer) error { return report.Markdown(w, whole(small(t))) })
	golden(t, "nothing.md", func(w io.Writer) error { return report.Markdown(w, whole(&judgment.Result{})) })
}

// What was on the wire has no meaning in a page: neither as Markdown nor as HTML.
func TestMarkdownIsInert(t *testing.T) {
	r := many(1, analysis.Error)
	r.Findings[0].Seen = "<img src=x onerror=alert(1)> | [link](http://x.example) `code` @someone\n# title\x1b[31m"
	b := written(t, report.Markdown, whole(r))
	want := "&lt;img src=x onerror=alert(1)&gt; \\| \\[link\\](http://x.example) \\`code\\` &#64;someone \\# title\uFFFD\\[31m"
	if !strings.Contains(b, want) {
		t.Errorf("%s\nhas no %s", b, want)
	}
}

// The official reader of JUnit files and ours agree on what is in them.
func TestJUnit(t *testing.T) {
	text := golden(t, "calls.junit.xml", func(w io.Writer) error { return report.JUnit(w, whole(small(t))) })
	suites := must.Get(junit.Ingest([]byte(text)))(t)
	if len(suites) != 2 || suites[0].Name != "planner->booker" || suites[1].Name != "verdict" {
		t.Fatalf("suites are %+v", suites)
	}
	got := suites[0].Totals
	if want := (junit.Totals{Tests: 7, Passed: 4, Skipped: 1, Failed: 2}); got != want {
		t.Errorf("totals are %+v, want %+v", got, want)
	}
	for _, test := range suites[0].Tests {
		if test.Status == junit.StatusFailed && !strings.Contains(test.Error.Error(), "fix: ") {
			t.Errorf("case %s does not say what to change: %v", test.Name, test.Error)
		}
	}
}

// A brief report has the same failures, and counts the rest.
func TestBriefJUnit(t *testing.T) {
	r := whole(small(t))
	r.Brief = true
	b := written(t, report.JUnit, r)
	suites := must.Get(junit.Ingest([]byte(b)))(t)
	if want := (junit.Totals{Tests: 4, Passed: 1, Skipped: 1, Failed: 2}); len(suites) != 2 || suites[0].Totals != want {
		t.Errorf("suites are %+v; want totals of %+v", suites, want)
	}
	for _, want := range []string{"4 of 7", "not observed: 1 of 7"} {
		expect.Contains(t, "", want, b)
	}
}

// Gate and report never disagree; milder findings skip their case and are its message.
func TestJUnitHasTheGate(t *testing.T) {
	for gate, want := range map[analysis.Severity]junit.Totals{
		analysis.Note:      {Tests: 1, Failed: 1},
		analysis.Warning:   {Tests: 1, Failed: 1},
		analysis.Error:     {Tests: 1, Skipped: 1},
		analysis.Error + 1: {Tests: 1, Skipped: 1},
	} {
		r := whole(many(60, analysis.Warning))
		r.Rules, r.Gate = []*analysis.Rule{r.Result.Findings[0].Rule}, gate
		b := written(t, report.JUnit, r)
		suites, err := junit.Ingest([]byte(b))
		if err != nil || len(suites) != 2 || suites[0].Totals != want || suites[1].Totals != want {
			t.Errorf("gate %s: %+v, %v; want %+v", gate, suites, err, want)
		}
		if !strings.Contains(b, "and 10 more") {
			t.Error("the findings that are left out are not counted")
		}
	}
}

// Nothing judged is an error, as in the exit status, never an empty success.
func TestJUnitOfNothing(t *testing.T) {
	b := written(t, report.JUnit, whole(&judgment.Result{}))
	suites, err := junit.Ingest([]byte(b))
	if err != nil || len(suites) != 1 || suites[0].Totals != (junit.Totals{Tests: 2, Error: 2}) {
		t.Errorf("%+v, %v", suites, err)
	}
}

// Every format says that calls failed, and with what; where none succeeded none looks like success.
func TestFailedCallsInEveryFormat(t *testing.T) {
	for _, name := range report.Formats() {
		r := &judgment.Result{
			Captures: []string{"c"}, Counts: judgment.Counts{Exchanges: 4, Judged: 4},
			Coverage: []judgment.Coverage{
				{Rule: few[0], Link: analysis.Link{Client: "planner", Agent: "booker"}, Applied: 3},
				{Rule: few[0], Link: analysis.Link{Client: "hotel", Agent: "booker"}, Applied: 1},
			},
			Calls: []judgment.Calls{
				{
					Link: analysis.Link{Client: "planner", Agent: "booker"}, Made: 3, Succeeded: 1, Failed: 2,
					Failures: map[string]int{"TaskNotFound": 2},
				},
				{
					Link: analysis.Link{Client: "hotel", Agent: "booker"}, Made: 1, Failed: 1,
					Failures: map[string]int{"VersionNotSupported": 1},
				},
			},
		}
		b := inFormat(t, name, whole(r))
		for _, want := range []string{"TaskNotFound", "VersionNotSupported"} {
			if !strings.Contains(b, want) {
				t.Errorf("%s does not name %s:\n%s", name, want, b)
			}
		}
		shown := map[string]string{
			"json": `"unproved": [`, "markdown": "**no call succeeded**", "junit": `<failure message="at least half failed on hotel → booker: `,
			"sarif": `"executionSuccessful": false`, "github": "::error title=a2atap failing::at least half failed on planner → booker: 2 of 3 calls failed",
			"text": "hotel → booker: 1 of 7 rules observed, 0 broken; 1 of 1 call failed: VersionNotSupported 1",
		}
		if !strings.Contains(b, shown[name]) {
			t.Errorf("%s looks like success:\n%s", name, b)
		}
	}
}

// Every figure of the verdict is in every format, in that format's words: unseen traffic, failed and refused calls, and
// failed tasks, whether or not the link is failing.
func TestFiguresInEveryFormat(t *testing.T) {
	link := analysis.Link{Client: "planner", Agent: "booker"}
	one := func(exchange uint64, operation, failure, text string) judgment.FailedCalls {
		return judgment.FailedCalls{
			Capture: "c", Exchange: exchange, Link: link, Binding: a2a.JSONRPC, Operation: operation, Error: failure,
			Text: text, Count: 1,
		}
	}
	failed := one(2, "SendMessage", "InternalError", "database is down")
	refused := one(3, "GetTask", "TaskNotFound", "no such task")
	task := one(4, "SendMessage", "task rejected", "we book no flights")
	refused.Refused, task.Task = true, true
	for _, succeeded := range []int{2, 20} {
		for _, name := range report.Formats() {
			r := &judgment.Result{
				Captures: []string{"c"}, Counts: judgment.Counts{Exchanges: 30, Judged: 30},
				Coverage: []judgment.Coverage{{Rule: few[0], Link: link, Applied: 3}},
				Calls: []judgment.Calls{{
					Link: link, Made: succeeded + 2, Succeeded: succeeded, Failed: 1, Failures: map[string]int{"InternalError": 1},
					Refused: 1, Refusals: map[string]int{"TaskNotFound": 1},
					Tasks: succeeded, TasksFailed: 1, Ends: map[string]int{"rejected": 1},
				}},
				FailedCalls: []judgment.FailedCalls{failed, refused, task},
				NotSeen:     []judgment.NotSeen{{What: "exchange", Why: "its answer was not kept", Exchange: 5, Count: 1}},
			}
			b := inFormat(t, name, whole(r))
			want := []string{"InternalError", "TaskNotFound", "rejected", "its answer was not kept"}
			if name != "sarif" { // whose results are findings
				want = append(want, "database is down", "we book no flights")
			}
			for _, words := range want {
				if !strings.Contains(b, words) {
					t.Errorf("%s, %d succeeded: no %q in\n%s", name, succeeded, words, b)
				}
			}
		}
	}
}

// SARIF is held against its schema.
func TestSARIF(t *testing.T) {
	valid(t, golden(t, "calls.sarif", func(w io.Writer) error { return report.SARIF(w, whole(small(t))) }))
}

func TestSARIFIsBounded(t *testing.T) {
	r := many(5100, analysis.Note)
	r.Add(many(10, analysis.Error))
	b := written(t, report.SARIF, whole(r))
	log, err := sarif.FromBytes([]byte(b)) // to validate thousands of results takes seconds, and those of few are
	must.Do(t, err)
	failed := 0
	for _, result := range log.Runs[0].Results {
		if result.Level == "error" {
			failed++
		}
	}
	if n := len(log.Runs[0].Results); n != 5000 || failed != 10 {
		t.Errorf("%d results with %d errors; want 5000 with all 10", n, failed)
	}
	if !strings.Contains(b, "110 findings are left out") {
		t.Error("what is left out is not counted")
	}
}

func TestSARIFOfNothing(t *testing.T) {
	b := written(t, report.SARIF, whole(&judgment.Result{}))
	if log := valid(t, b); log.Runs[0].Invocations[0].ExecutionSuccessful == nil ||
		*log.Runs[0].Invocations[0].ExecutionSuccessful {
		t.Error("nothing was checked, and the run is called successful")
	}
}

// valid fails the test unless the text is SARIF 2.1.0 by its schema.
func valid(t *testing.T, text string) *sarif.Report {
	t.Helper()
	log := must.Get(sarif.FromString(text))(t)
	if err := log.Validate(); err != nil {
		t.Error(err)
	}
	// The library drops unknown fields, so all of our fields must survive when it writes the log again.
	again := must.Get(json.Marshal(log))(t)
	var ours, theirs any
	must.Do(t, errors.Join(json.Unmarshal([]byte(text), &ours), json.Unmarshal(again, &theirs)))
	wantAll(t, "", ours, theirs)
	return log
}

// wantAll fails the test for each value of want that got lacks.
func wantAll(t *testing.T, at string, want, got any) {
	switch want := want.(type) {
	case map[string]any:
		members, _ := got.(map[string]any)
		for name, value := range want {
			wantAll(t, at+"/"+name, value, members[name])
		}
	case []any:
		list, _ := got.([]any)
		if len(list) != len(want) {
			t.Errorf("%s: %d elements are known, there are %d", at, len(list), len(want))
			return
		}
		for i, value := range want {
			wantAll(t, fmt.Sprint(at, "/", i), value, list[i])
		}
	default:
		if want != got {
			t.Errorf("%s: %v is read as %v", at, want, got)
		}
	}
}

func TestGitHub(t *testing.T) {
	golden(t, "calls.github", func(w io.Writer) error { return report.GitHub(w, whole(small(t))) })
}

// A step may have ten annotations of a kind; the last one counts what is left out.
func TestGitHubIsBounded(t *testing.T) {
	for n, want := range map[int][]string{
		10: {"::error title=r (agent booker)::"},
		12: {"::error title=r (agent booker)::", "::error title=a2atap::and 3 errors more"},
	} {
		r := many(n, analysis.Error)
		r.Add(many(1, analysis.Note))
		b := written(t, report.GitHub, whole(r))
		expect.Equal(t, fmt.Sprintf("annotations of %d errors", n), 10, strings.Count(b, "::error "))
		for _, line := range append(want, "::notice title=r (agent booker)::") {
			if !strings.Contains(b, line) {
				t.Errorf("no %s in\n%s", line, b)
			}
		}
	}
	var b strings.Builder
	if err := report.GitHub(&b, whole(&judgment.Result{})); err != nil ||
		!strings.HasPrefix(b.String(), "::warning title=a2atap::nothing: ") {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// Workflow commands cannot be made by what was on the wire.
func TestGitHubIsInert(t *testing.T) {
	r := many(1, analysis.Error)
	r.Findings[0].Seen = "x\n::error::made up%0A"
	r.Findings[0].Link.Agent = "a,title=b:c"
	b := written(t, report.GitHub, whole(r))
	if strings.Count(b, "\n") != 1 || !strings.Contains(b, "made up%250A") ||
		!strings.Contains(b, "a%2Ctitle=b%3Ac") {
		t.Errorf("got %q", b)
	}
}

// The matrix has a row a client and a column an agent, and tells "nothing wrong" from "never talked".
func TestMatrix(t *testing.T) {
	r := many(2, analysis.Error)
	r.Counts = judgment.Counts{Exchanges: 3, Judged: 3}
	r.Captures = []string{"a", "b"}
	r.Coverage = []judgment.Coverage{{Rule: few[0], Link: analysis.Link{Client: "traveller", Agent: "hotel"}, Applied: 1}}
	b := written(t, report.Text, whole(r))
	want := "client \\ agent  booker    hotel\nplanner         2 errors  -\ntraveller       -         ok (1)\n"
	if !strings.Contains(b, want) {
		t.Errorf("got\n%s\nwant in it\n%s", b, want)
	}
}

// Every format can be selected by name, and has a description.
func TestFormats(t *testing.T) {
	for _, name := range report.Formats() {
		if report.Purpose(name) == "" {
			t.Errorf("%s is for nothing", name)
		}
		var b strings.Builder
		if err := report.Write(&b, name, whole(small(t))); err != nil || b.Len() == 0 {
			t.Errorf("%s: %d bytes, %v", name, b.Len(), err)
		}
	}
}

// many returns a result of n findings of one severity.
func many(n int, s analysis.Severity) *judgment.Result {
	r := &judgment.Result{Captures: []string{"c.a2atap"}, Counts: judgment.Counts{Exchanges: n, Judged: n}}
	rule := &analysis.Rule{
		ID: "r", Title: "t", Family: "f", Category: analysis.Streaming, Level: analysis.Must, Doc: "d",
		Fix: "f", Cites: []a2a.Cite{{In: a2a.V1_0, Section: "1"}},
	}
	for i := range n {
		r.Findings = append(r.Findings, analysis.Finding{
			Rule: rule, Severity: s, Side: a2a.Agent, Link: analysis.Link{Client: "planner", Agent: "booker"},
			Capture: "c.a2atap",
			Place:   analysis.Place{Exchange: uint64(i + 1)},
			Seen:    fmt.Sprintf("seen %d", i), Expected: "expected another",
		})
		r.Found[s]++
	}
	return r
}
