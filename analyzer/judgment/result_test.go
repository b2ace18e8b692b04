package judgment_test

import (
	"fmt"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func TestVerdict(t *testing.T) {
	var none, warned, failed [3]int
	warned[analysis.Warning], warned[analysis.Note], failed[analysis.Error] = 1, 1, 1
	tests := []struct {
		name   string
		counts judgment.Counts
		found  [3]int
		gate   analysis.Severity
		want   judgment.Status
		line   string
	}{
		{
			"clean",
			judgment.Counts{Exchanges: 2, Judged: 1},
			none, analysis.Error, judgment.StatusClean,
			"clean: no violation in 2 exchanges, 1 checked",
		},
		{
			"below the gate",
			judgment.Counts{Exchanges: 1, Judged: 1},
			warned, analysis.Error, judgment.StatusWarnings,
			"warnings: 0 errors, 1 warning, 1 note in 1 exchange, 1 checked",
		},
		{
			"at the gate",
			judgment.Counts{Exchanges: 1, Judged: 1},
			warned, analysis.Warning, judgment.StatusFindings,
			"findings: 0 errors, 1 warning, 1 note in 1 exchange, 1 checked",
		},
		{
			"findings despite a loss",
			judgment.Counts{Exchanges: 1, Judged: 1, Lost: 1},
			warned, analysis.Note,
			judgment.StatusFindings, "findings: 0 errors, 1 warning, 1 note in 1 exchange, 1 checked; not seen: 1 exchange not recorded",
		},
		{
			"nothing",
			judgment.Counts{Exchanges: 3},
			none, analysis.Error, judgment.StatusNothing,
			"nothing: 0 errors, 0 warnings, 0 notes in 3 exchanges, 0 checked",
		},
		{
			"a loss",
			judgment.Counts{Exchanges: 3, Judged: 3, Lost: 2},
			none, analysis.Error, judgment.StatusIncomplete,
			"incomplete: not seen: 2 exchanges not recorded; 0 errors, 0 warnings, 0 notes in 3 exchanges, 3 checked",
		},
		{
			"forgotten",
			judgment.Counts{Exchanges: 3, Judged: 3, Forgotten: 7},
			none, analysis.Error, judgment.StatusClean,
			"clean: no violation in 3 exchanges, 7 forgotten to bound memory",
		},
		{
			"a gate above all",
			judgment.Counts{Exchanges: 1, Judged: 1},
			failed, analysis.Error + 1, judgment.StatusFindings,
			"findings: 1 error, 0 warnings, 0 notes in 1 exchange, 1 checked",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := judgment.Result{Counts: test.counts, Found: test.found}
			v := r.Verdict(test.gate)
			expect.Equal(t, "status", test.want, v.Status)
			if got := v.String(); got != test.line {
				t.Errorf("got  %s\nwant %s", got, test.line)
			}
		})
	}
}

// The outcome of calls precedes the findings: errors are counted by name, and a link is failing if at least half of its
// calls failed.
func TestVerdictOnCalls(t *testing.T) {
	link := func(client string) analysis.Link { return analysis.Link{Client: client, Agent: "booker"} }
	some := judgment.Calls{
		Link: link("planner"), Made: 7, Succeeded: 4, Failed: 3, Failures: map[string]int{"VersionNotSupported": 3},
	}
	none := judgment.Calls{
		Link: link("hotel"), Made: 3, Failed: 3, Failures: map[string]int{"TaskNotFound": 1, "unreachable": 2},
	}
	open := judgment.Calls{Link: link("train"), Made: 1}
	for _, test := range []struct {
		calls []judgment.Calls
		found [3]int
		want  string
	}{
		{[]judgment.Calls{some}, [3]int{}, "no violation: " +
			"3 of 7 calls failed: VersionNotSupported 3; 12 exchanges"},
		{[]judgment.Calls{some, none}, [3]int{}, "failing: " +
			"6 of 10 calls failed: VersionNotSupported 3, unreachable 2, TaskNotFound 1; no call succeeded of hotel → booker; " +
			"no violation in 12 exchanges"},
		{[]judgment.Calls{none}, [3]int{0, 0, 1}, "findings: 1 error, 0 warnings, 0 notes in 12 exchanges, 12 checked; " +
			"3 of 3 calls failed: unreachable 2, TaskNotFound 1; no call succeeded of hotel → booker"},
		{[]judgment.Calls{open}, [3]int{}, "incomplete: 0 of 1 call succeeded, 1 without a known outcome; " +
			"no call succeeded of train → booker; 0 errors, 0 warnings, 0 notes in 12 exchanges, 12 checked"},
	} {
		r := judgment.Result{
			Counts: judgment.Counts{Exchanges: 12, Judged: 12}, Calls: test.calls, Found: test.found,
		}
		if got := r.Verdict(analysis.Error).String(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestResultAdd(t *testing.T) {
	r := &analysis.Rule{ID: "r"}
	link := analysis.Link{Client: "planner", Agent: "booker"}
	one := func(name string) *judgment.Result {
		return &judgment.Result{
			Captures: []string{name}, Findings: []analysis.Finding{{Rule: r}},
			Coverage: []judgment.Coverage{{Rule: r, Link: link, Applied: 2, Broken: 1}},
			Counts:   judgment.Counts{Exchanges: 1, Judged: 1, Lost: 1, Forgotten: 1, Streams: 1, Events: 3},
			Agents:   []judgment.Agent{{Link: "booker", Operations: map[a2a.Operation]int{a2a.GetTask: 1}}},
		}
	}
	sum := &judgment.Result{}
	sum.Add(one("a"))
	second := one("b")
	second.Agents[0].Name, second.Agents[0].Push = "Booker", true
	sum.Add(second)
	want := &judgment.Result{
		Captures: []string{"a", "b"}, Findings: []analysis.Finding{{Rule: r}, {Rule: r}},
		Coverage: []judgment.Coverage{{Rule: r, Link: link, Applied: 4, Broken: 2}},
		Counts:   judgment.Counts{Exchanges: 2, Judged: 2, Lost: 2, Forgotten: 2, Streams: 2, Events: 6},
		Agents: []judgment.Agent{
			{Link: "booker", Name: "Booker", Push: true, Operations: map[a2a.Operation]int{a2a.GetTask: 2}},
		},
	}
	expect.Same(t, "sum", want, sum)
}

// Contacts of several captures add up.
func TestContactsAddUp(t *testing.T) {
	one := func() *judgment.Result {
		return &judgment.Result{Agents: []judgment.Agent{{
			Link: "booker", Operations: map[a2a.Operation]int{},
			Contacts: map[string]judgment.Contact{"planner": {Operations: map[a2a.Operation]int{a2a.GetTask: 1}, AtOnce: 2}},
		}}}
	}
	r := &judgment.Result{}
	r.Add(one())
	r.Add(one())
	want := map[string]judgment.Contact{"planner": {Operations: map[a2a.Operation]int{a2a.GetTask: 2}, AtOnce: 4}}
	expect.Same(t, "contacts", want, r.Agents[0].Contacts)
}

// A finding of a client that is counted together with others is counted with them too.
func TestCounted(t *testing.T) {
	own, gone := analysis.Link{Client: "a", Agent: "booker"}, analysis.Link{Client: "z", Agent: "booker"}
	far := analysis.Link{Client: "z", Agent: "planner"}
	others := analysis.Link{Client: judgment.OtherClients, Agent: "booker"}
	all := analysis.Link{Client: judgment.OtherClients, Agent: judgment.OtherAgents}
	few := (&judgment.Result{Coverage: []judgment.Coverage{{Link: own}}}).Counted()
	many := (&judgment.Result{Coverage: []judgment.Coverage{{Link: own}, {Link: others}, {Link: all}}}).
		Counted()
	for _, test := range []struct {
		counted    func(analysis.Link) analysis.Link
		link, want analysis.Link
	}{
		{few, own, own},
		{few, gone, gone},
		{many, own, own},
		{many, gone, others},
		{many, far, all},
	} {
		expect.Equal(t, fmt.Sprintf("%v is counted as", test.link), test.want, test.counted(test.link))
	}
}

// A gap whose reason is the end of a recorder is stated once, as that; what only reads alike is not taken for it.
func TestCrashIsStatedOnce(t *testing.T) {
	killed := capture.Crash{After: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Within: time.Second}
	elsewhere := killed
	elsewhere.After = killed.After.In(time.FixedZone("", 3600))
	before := capture.Crash{After: killed.After.Add(-time.Hour), Within: time.Second}
	for _, test := range []struct {
		name    string
		crashes []capture.Crash
		lost    capture.Lost
		want    int // gaps that are stated besides
	}{
		{"the same", []capture.Crash{killed}, killed.Lost(), 0},
		{"the same in another zone", []capture.Crash{elsewhere}, killed.Lost(), 0},
		{"another one", []capture.Crash{killed}, before.Lost(), 1},
		{"one of several", []capture.Crash{before, killed}, killed.Lost(), 0},
		{"of which nothing is known", []capture.Crash{{}}, capture.Crash{}.Lost(), 0},
		{"the capture does not tell", nil, killed.Lost(), 1},
		{"the words alone", []capture.Crash{killed}, capture.Lost{Reason: killed.String()}, 1},
		{"another reason", []capture.Crash{killed}, capture.Lost{Reason: "the queue was full"}, 1},
	} {
		var account judgment.Account
		account.Gap(test.lost)
		r := judgment.Result{Crashes: test.crashes, NotSeen: account.Gaps()}
		if v := r.Verdict(analysis.Error); len(v.NotSeen) != test.want || v.Status.Proved() {
			t.Errorf("%s: not seen %v, want %d; status %s", test.name, v.NotSeen, test.want, v.Status)
		}
	}
}
