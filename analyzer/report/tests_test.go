package report_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/joshdk/go-junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// asked is an agent with a test of every kind.
func asked() report.Suite {
	return report.Suite{
		Agent: "booker", URL: "http://booker.example/a2a", Name: "Booker", Version: "2.1", Dropped: 3,
		Notes: []string{"GRPC at booker.example:443 was not run: this program does not speak it"},
		Tests: []report.Test{
			{
				Name: "card", Title: "the card can be read", Category: analysis.AgentCard, Status: report.TestPassed,
				Severity: analysis.Error, Sections: []string{"1.0 §8.2"}, Duration: 3 * time.Millisecond, Exchanges: []uint64{1},
			},
			{
				Name: "jsonrpc/error-unknown-method", Title: "a method that does not exist is refused",
				Category: analysis.ErrorHandling, Status: report.TestFailed, Severity: analysis.Error,
				Message: "expected error code -32601; seen HTTP 500", Expected: "error code -32601", Seen: "HTTP 500",
				Sections: []string{"JSON-RPC §5.1"}, Fix: "Answer with the error -32601.", Duration: 12 * time.Millisecond,
				Request: "POST /a2a\n{\"method\":\"nonexistent\"}", Answer: "HTTP/1.1 500 Oops\n<b>no</b>", Exchanges: []uint64{2, 3},
			},
			{
				Name: "jsonrpc/stream-order", Title: "events come in order", Category: analysis.Streaming,
				Status: report.TestFailed, Severity: analysis.Warning, Message: "expected a; seen b", Expected: "a", Seen: "b",
				Sequence: []string{"task submitted", "status completed"},
			},
			{
				Name: "rest/known", Title: "a known failure", Category: analysis.Lifecycle, Status: report.TestFailed,
				Severity: analysis.Error, Message: "expected x; seen y", Expected: "x", Seen: "y", Waived: "fixed in 3.0",
			},
			{
				Name: "jsonrpc/push", Title: "configs are kept", Category: analysis.Interop, Status: report.TestSkipped,
				Severity: analysis.Error, Message: "the card does not advertise push notifications",
			},
			{
				Name: "rest/push", Title: "configs are kept", Category: analysis.Interop, Status: report.TestSkipped,
				Severity: analysis.Error, Message: "the card does not advertise push notifications",
			},
			{
				Name: "jsonrpc/ask-back", Title: "the agent asks back", Category: analysis.Lifecycle,
				Status: report.TestInconclusive, Severity: analysis.Error, Message: "it never did", Skills: []report.Life{
					{Skill: "book", Status: report.TestPassed, States: []string{"working", "completed"}},
					{Skill: "pay", Status: report.TestInconclusive, States: []string{"working"}, Message: "still working"},
				},
			},
			{
				Name: "jsonrpc/long", Title: "a long task", Category: analysis.Lifecycle, Status: report.TestCritical,
				Severity: analysis.Error, Message: "the agent stopped answering; connection refused",
			},
		},
	}
}

// active is a report on an agent that was asked actively, with a finding of a rule.
func active(s ...report.Suite) *report.Report {
	r := many(1, analysis.Error)
	r.Findings[0].Link = analysis.Link{Client: "a2atap", Agent: "booker"}
	r.Coverage = []judgment.Coverage{{Rule: r.Findings[0].Rule, Link: r.Findings[0].Link, Applied: 2, Broken: 1}}
	r.Agents = []judgment.Agent{{
		Link: "booker", URL: "http://booker.example", Name: "Booker", Version: "2.1", Completed: 1, Refused: 1,
		Operations: map[a2a.Operation]int{a2a.SendMessage: 4, a2a.GetTask: 2, a2a.CancelTask: 1},
	}}
	whole := whole(r, r.Findings[0].Rule)
	whole.Tests = s
	return whole
}

func TestTestsInEveryFormat(t *testing.T) {
	r := active(asked())
	r.Directions = report.NewDirections("booker", "hotel")
	r.Directions[0].Status, r.Directions[0].How = report.DirectionObserved, report.AskedByUs
	r.Directions[1].Status, r.Directions[1].How = report.DirectionBroken, report.SeenBetween
	r.Directions[1].Message = "it is | broken"
	for _, format := range report.Formats() {
		text := golden(t, "tests."+format, func(w io.Writer) error { return report.Write(w, format, r) })
		for _, want := range []string{"error-unknown-method", "Answer with the error -32601."} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s does not say %q", format, want)
			}
		}
		if err := report.Write(full{}, format, r); err == nil {
			t.Errorf("%s: no error from a writer that fails", format)
		}
	}
}

func TestTestsAsJUnit(t *testing.T) {
	for gate, want := range map[analysis.Severity]junit.Totals{
		analysis.Warning:   {Tests: 10, Passed: 1, Skipped: 4, Failed: 4, Error: 1},
		analysis.Error:     {Tests: 10, Passed: 1, Skipped: 5, Failed: 3, Error: 1},
		analysis.Error + 1: {Tests: 10, Passed: 1, Skipped: 9},
	} {
		r := active(asked())
		r.Gate = gate
		b := written(t, report.JUnit, r)
		suites, err := junit.Ingest([]byte(b))
		if err != nil || len(suites) != 3 {
			t.Fatalf("%d suites, error %v", len(suites), err)
		}
		var got junit.Totals
		for _, s := range suites {
			got.Tests, got.Passed, got.Skipped = got.Tests+s.Totals.Tests, got.Passed+s.Totals.Passed, got.Skipped+s.Totals.Skipped
			got.Failed, got.Error = got.Failed+s.Totals.Failed, got.Error+s.Totals.Error
		}
		expect.Equal(t, fmt.Sprintf("gate %d: totals", gate), want, got)
	}
}

// Waived findings are suppressed in SARIF, so that they raise no alerts.
func TestWaivedInSARIF(t *testing.T) {
	b := written(t, report.SARIF, active(asked()))
	log := must.Get(sarif.FromString(b))(t)
	suppressed := 0
	for _, result := range log.Runs[0].Results {
		if len(result.Suppressions) > 0 {
			suppressed++
			if *result.RuleID != "rest/known" || *result.Suppressions[0].Justification != "fixed in 3.0" {
				t.Errorf("%s is suppressed: %v", *result.RuleID, result.Suppressions[0])
			}
		}
	}
	if suppressed != 1 || len(log.Runs[0].Results) != 5 {
		t.Errorf("%d results, %d of them suppressed", len(log.Runs[0].Results), suppressed)
	}
}

func TestStatusOfTests(t *testing.T) {
	only := func(status report.TestStatus, severity analysis.Severity, waived string) report.Suite {
		return report.Suite{Agent: "booker", Tests: []report.Test{
			{Name: "a", Category: analysis.Lifecycle, Status: status, Severity: severity, Waived: waived},
		}}
	}
	cut, unasked := only(report.TestPassed, analysis.Error, ""), only(report.TestPassed, analysis.Error, "")
	cut.Cut, unasked.Unasked = true, true
	for _, tt := range []struct {
		name  string
		suite report.Suite
		gate  analysis.Severity
		want  judgment.Status
		exit  judgment.Exit
	}{
		{"passed", only(report.TestPassed, analysis.Error, ""), analysis.Error, judgment.StatusClean, judgment.Passes},
		{"failed", only(report.TestFailed, analysis.Error, ""), analysis.Error, judgment.StatusFindings, judgment.Fails},
		{"failed, nothing counts", only(report.TestFailed, analysis.Error, ""), analysis.Error + 1, judgment.StatusFindings, judgment.Passes},
		{"a warning", only(report.TestFailed, analysis.Warning, ""), analysis.Error, judgment.StatusWarnings, judgment.Passes},
		{"a warning that counts", only(report.TestFailed, analysis.Warning, ""), analysis.Warning, judgment.StatusFindings, judgment.Fails},
		{"gone", only(report.TestCritical, analysis.Note, ""), analysis.Error, judgment.StatusFindings, judgment.Fails},
		{"waived", only(report.TestFailed, analysis.Error, "known"), analysis.Note, judgment.StatusClean, judgment.Passes},
		{"gone, nothing counts", only(report.TestCritical, analysis.Note, ""), analysis.Error + 1, judgment.StatusFindings, judgment.Passes},
		{"gone, waived", only(report.TestCritical, analysis.Note, "known"), analysis.Error, judgment.StatusIncomplete, judgment.Inconclusive},
		{"skipped", only(report.TestSkipped, analysis.Error, ""), analysis.Error, judgment.StatusNothing, judgment.Inconclusive},
		{"inconclusive", only(report.TestInconclusive, analysis.Error, ""), analysis.Error, judgment.StatusNothing, judgment.Inconclusive},
		{"nothing asked", report.Suite{Agent: "booker"}, analysis.Error, judgment.StatusNothing, judgment.Inconclusive},
		{"only the card", unasked, analysis.Error, judgment.StatusNothing, judgment.Inconclusive},
		{"interrupted", cut, analysis.Error, judgment.StatusIncomplete, judgment.Inconclusive},
	} {
		r := whole(&judgment.Result{})
		r.Tests, r.Gate = []report.Suite{tt.suite}, tt.gate
		expect.Equal(t, tt.name, tt.want, r.Status())
		expect.Equal(t, tt.name+": exit", tt.exit, r.Exit())
	}
}

// What tests quote has no meaning in any format.
func TestQuotedTestsAreInert(t *testing.T) {
	for _, name := range names {
		s := asked()
		s.Agent, s.URL, s.Name = name, "http://x/"+name, name
		for i := range s.Tests {
			s.Tests[i].Message, s.Tests[i].Request, s.Tests[i].Answer, s.Tests[i].Seen = name, name, name, name
			if s.Tests[i].Waived != "" {
				s.Tests[i].Waived = "x" + name
			}
		}
		r := active(s)
		r.Result.Findings, r.Result.Agents = nil, nil
		r.Directions = report.NewDirections(name, name)
		r.Directions[0].Message = name
		for _, format := range report.Formats() {
			checkInert(t, format, name, inFormat(t, format, r))
		}
	}
}

// The level that tests give is lowered by what only rules have found.
func TestLevelOfTests(t *testing.T) {
	for _, tt := range []struct {
		given  string
		broken analysis.Category
		want   string
	}{
		{"full", "", "full"},
		{"full", analysis.Streaming, "partial"},
		{"full", analysis.Lifecycle, "non-conformant"},
		{"minimal", analysis.Interop, "minimal"},
		{"minimal", analysis.AgentCard, "non-conformant"},
		{"not-determined", analysis.Lifecycle, "not-determined"},
		{"non-conformant", analysis.Streaming, "non-conformant"},
	} {
		r := active(report.Suite{Agent: "booker", Level: tt.given, Reason: "as it was asked"})
		r.Rules[0].Category = tt.broken
		if tt.broken == "" {
			r.Result.Findings = nil
		}
		got := report.Conformances(r)[0]
		if got.ConformanceLevel != tt.want || tt.given == tt.want && !strings.Contains(got.LevelReason, "as it was asked") {
			t.Errorf("%s with %q broken: %s (%s), want %s", tt.given, tt.broken, got.ConformanceLevel, got.LevelReason, tt.want)
		}
	}
}

// What is waived fails no check, and lowers the level as what is not: the reason says how much of it is.
func TestLevelOfWaivedTests(t *testing.T) {
	failed := func(severity analysis.Severity, waived string) report.Test {
		return report.Test{
			Name: "a", Category: analysis.Lifecycle, Status: report.TestFailed, Severity: severity, Waived: waived,
		}
	}
	for _, tt := range []struct {
		tests []report.Test
		says  string
	}{
		{[]report.Test{failed(analysis.Error, "")}, ""},
		{[]report.Test{failed(analysis.Error, "known")}, "; 1 waived, and counted here"},
		{[]report.Test{failed(analysis.Error, "known"), failed(analysis.Error, "known")}, "; 2 waived, and counted here"},
		{[]report.Test{failed(analysis.Warning, "known")}, ""},
	} {
		for _, given := range []string{"partial", ""} { // without one the tests decide
			r := active(report.Suite{Agent: "booker", Level: given, Reason: "as it was asked", Tests: tt.tests})
			r.Result.Findings = nil
			got := report.Conformances(r)[0]
			if _, says, _ := strings.Cut(got.LevelReason, "; "); !strings.HasSuffix("; "+says, tt.says) ||
				strings.Contains(got.LevelReason, "waived") != (tt.says != "") {
				t.Errorf("%q: got %q, want %q", given, got.LevelReason, tt.says)
			}
		}
	}
}

// Tests that were skipped for one reason are reported once, with their number. Each inconclusive test with its own
// reason is reported separately.
func TestUnaskedIsToldOnce(t *testing.T) {
	suite := report.Suite{Agent: "booker", URL: "http://booker.example"}
	for name, message := range map[string]string{
		"card-name": "not run: there is no card", "card-url": "not run: there is no card", "send": "it never did",
	} {
		suite.Tests = append(suite.Tests, report.Test{
			Name: name, Category: analysis.AgentCard, Status: report.TestInconclusive, Message: message,
		})
	}
	var b strings.Builder
	whole := &report.Report{Tests: []report.Suite{suite}, Result: &judgment.Result{}, Now: time.Unix(0, 0)}
	must.Do(t, report.Write(&b, "text", whole))
	for _, want := range []string{
		"inconclusive: 2 tests: not run: there is no card\n", "inconclusive: send: it never did\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got %s, want %q in it", b.String(), want)
		}
	}
	if strings.Contains(b.String(), "card-name") {
		t.Errorf("each by itself: %s", b.String())
	}
}
