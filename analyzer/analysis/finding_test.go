package analysis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

func TestPlaceText(t *testing.T) {
	request, response := analysis.Place{Exchange: 12}, analysis.Place{Exchange: 12, Response: true}
	tests := []struct {
		place analysis.Place
		want  string
	}{
		{request, "12.request"},
		{request.Line(), "12.request.line"},
		{request.Header("A2A-Version"), "12.request.header[A2A-Version]"},
		{request.Body(), "12.request.body"},
		{request.Body().At(""), "12.request.body#"},
		{request.Body().At("/params/id"), "12.request.body#/params/id"},
		{response.Status(), "12.response.status"},
		{response.Event(3).At("/result/statusUpdate/status/state"), "12.response.event[3]#/result/statusUpdate/status/state"},
		{response.Event(3).At("/result").In("status", "state"), "12.response.event[3]#/result/status/state"},
		{response.Body().In("id"), "12.response.body#/id"},
	}
	for _, test := range tests {
		expect.Equal(t, "", test.want, test.place.String())
	}
}

func TestFingerprint(t *testing.T) {
	finding := func(change func(f *analysis.Finding)) string {
		f := analysis.Finding{
			Rule: &analysis.Rule{ID: "r"}, Side: a2a.Agent, Operation: a2a.GetTask,
			Link:  analysis.Link{Client: "planner", Agent: "booker"},
			Place: analysis.Place{Exchange: 3, Response: true}.Event(4).At("/result/artifacts/0/parts/12/text"),
		}
		change(&f)
		return f.Fingerprint()
	}
	base := finding(func(*analysis.Finding) {})
	same := map[string]func(f *analysis.Finding){
		"another exchange": func(f *analysis.Finding) { f.Place.Exchange, f.ExchangeID = 99, uuid.New() },
		"another event":    func(f *analysis.Finding) { f.Place = f.Place.Event(7).At(f.Place.Pointer) },
		"another index":    func(f *analysis.Finding) { f.Place.Pointer = "/result/artifacts/5/parts/0/text" },
		"another client":   func(f *analysis.Finding) { f.Link.Client = "other" },
		"other words":      func(f *analysis.Finding) { f.Seen, f.Expected = "x", "y" },
		"another capture":  func(f *analysis.Finding) { f.Capture = "b" },
	}
	for name, change := range same {
		if got := finding(change); got != base {
			t.Errorf("%s changes the fingerprint", name)
		}
	}
	different := map[string]func(f *analysis.Finding){
		"another rule":      func(f *analysis.Finding) { f.Rule = &analysis.Rule{ID: "s"} },
		"another side":      func(f *analysis.Finding) { f.Side = a2a.Client },
		"another agent":     func(f *analysis.Finding) { f.Link.Agent = "hotel" },
		"another operation": func(f *analysis.Finding) { f.Operation = a2a.CancelTask },
		"another member":    func(f *analysis.Finding) { f.Place.Pointer = "/result/artifacts/0/parts/12/data" },
		"a member 2fa":      func(f *analysis.Finding) { f.Place.Pointer = "/result/artifacts/0/parts/12/2text" },
		"the request":       func(f *analysis.Finding) { f.Place.Response = false },
		"the body":          func(f *analysis.Finding) { f.Place = f.Place.Body().At(f.Place.Pointer) },
	}
	for name, change := range different {
		if got := finding(change); got == base {
			t.Errorf("%s does not change the fingerprint", name)
		}
	}
}

// Control bytes from the wire never reach a terminal, wherever in a finding they are.
func TestFindingIsClean(t *testing.T) {
	f := analysis.Finding{
		Rule: &analysis.Rule{ID: "r"}, Seen: "a\x1b[2Jb\nc\u202e",
		Place: analysis.Place{Exchange: 1}.Body().At("/x\x1b]0;y\x07"),
	}
	if got := f.String(); strings.ContainsAny(got, "\x1b\n\x07\u202e") {
		t.Errorf("control characters get through: %q", got)
	}
}

func TestClip(t *testing.T) {
	long := strings.Repeat("ä", 100)
	if got := []rune(analysis.Clip(long)); len(got) != 60 || got[59] != '…' {
		t.Errorf("a long text is clipped to %d runes: %q", len(got), string(got))
	}
	expect.Equal(t, "", "short", analysis.Clip("short"))
}

func TestParseSeverity(t *testing.T) {
	for _, s := range []analysis.Severity{analysis.Note, analysis.Warning, analysis.Error} {
		if got, err := analysis.ParseSeverity(s.String()); err != nil || got != s {
			t.Errorf("ParseSeverity(%q) = %v, %v", s, got, err)
		}
	}
	if _, err := analysis.ParseSeverity("fatal"); err == nil || !strings.Contains(err.Error(), "error, warning or note") {
		t.Errorf("an unknown severity is answered with %v, want the known ones", err)
	}
}

func TestSections(t *testing.T) {
	r := &analysis.Rule{Cites: []a2a.Cite{
		{In: a2a.V0_2, Section: "6.1"},
		{In: a2a.V0_3, Section: "6.1"},
		{In: a2a.V1_0, Section: "3.1.1"},
		{In: a2a.V0_3, Section: "RFC 8259 §4"},
		{In: a2a.V1_0, Section: "RFC 8259 §4"},
	}}
	tests := []struct {
		in   a2a.Dialects
		want []string
	}{
		{0, []string{"0.2 §6.1", "0.3 §6.1", "1.0 §3.1.1", "RFC 8259 §4"}},
		{a2a.Of(a2a.V1_0), []string{"1.0 §3.1.1", "RFC 8259 §4"}},
		{a2a.Of(a2a.V0_2, a2a.V0_3), []string{"0.2 §6.1", "0.3 §6.1", "RFC 8259 §4"}},
		{a2a.Of(a2a.V0_1), []string{"0.2 §6.1", "0.3 §6.1", "1.0 §3.1.1", "RFC 8259 §4"}},
	}
	for _, test := range tests {
		expect.Same(t, fmt.Sprintf("sections in %q", test.in), test.want, r.Sections(test.in))
	}
}
