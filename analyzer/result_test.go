package analyzer_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

func TestVerdict(t *testing.T) {
	var none, warned, failed [3]int
	warned[analyzer.Warning], warned[analyzer.Note], failed[analyzer.Error] = 1, 1, 1
	tests := []struct {
		name   string
		counts analyzer.Counts
		found  [3]int
		gate   analyzer.Severity
		want   analyzer.Status
		line   string
	}{
		{
			"clean",
			analyzer.Counts{Exchanges: 2, Judged: 1},
			none, analyzer.Error, analyzer.StatusClean,
			"clean: no violation in 2 exchanges, 1 judged",
		},
		{
			"below the gate",
			analyzer.Counts{Exchanges: 1, Judged: 1},
			warned, analyzer.Error, analyzer.StatusClean,
			"clean: 0 errors, 1 warning, 1 note in 1 exchange, 1 judged",
		},
		{
			"at the gate",
			analyzer.Counts{Exchanges: 1, Judged: 1},
			warned, analyzer.Warning, analyzer.StatusFindings,
			"findings: 0 errors, 1 warning, 1 note in 1 exchange, 1 judged",
		},
		{
			"findings despite a loss",
			analyzer.Counts{Exchanges: 1, Judged: 1, Lost: 1},
			warned, analyzer.Note,
			analyzer.StatusFindings, "findings: 0 errors, 1 warning, 1 note in 1 exchange, 1 judged, 1 lost",
		},
		{
			"nothing",
			analyzer.Counts{Exchanges: 3},
			none, analyzer.Error, analyzer.StatusNothing,
			"nothing: 0 errors, 0 warnings, 0 notes in 3 exchanges, 0 judged",
		},
		{
			"a loss",
			analyzer.Counts{Exchanges: 3, Judged: 3, Lost: 2},
			none, analyzer.Error, analyzer.StatusIncomplete,
			"incomplete: 0 errors, 0 warnings, 0 notes in 3 exchanges, 3 judged, 2 lost",
		},
		{
			"forgotten",
			analyzer.Counts{Exchanges: 3, Judged: 3, Forgotten: 7},
			none, analyzer.Error, analyzer.StatusClean,
			"clean: no violation in 3 exchanges, 7 forgotten to bound memory",
		},
		{
			"a gate above all",
			analyzer.Counts{Exchanges: 1, Judged: 1},
			failed, analyzer.Error + 1, analyzer.StatusClean,
			"clean: 1 error, 0 warnings, 0 notes in 1 exchange, 1 judged",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := analyzer.Result{Counts: test.counts, Found: test.found}
			v := r.Verdict(test.gate)
			if v.Status != test.want {
				t.Errorf("status is %q, want %q", v.Status, test.want)
			}
			if got := v.String(); got != test.line {
				t.Errorf("got  %s\nwant %s", got, test.line)
			}
		})
	}
}

// How calls came out is said beside what was found: errors are counted by name, and a link on which no call succeeded
// is not clean.
func TestVerdictOnCalls(t *testing.T) {
	link := func(client string) analyzer.Link { return analyzer.Link{Client: client, Agent: "booker"} }
	some := analyzer.Calls{
		Link: link("planner"), Made: 6, Succeeded: 3, Failed: 3, Failures: map[string]int{"VersionNotSupported": 3},
	}
	none := analyzer.Calls{
		Link: link("hotel"), Made: 3, Failed: 3, Failures: map[string]int{"TaskNotFound": 1, "unreachable": 2},
	}
	open := analyzer.Calls{Link: link("train"), Made: 1}
	for _, test := range []struct {
		calls []analyzer.Calls
		found [3]int
		want  string
	}{
		{[]analyzer.Calls{some}, [3]int{}, "clean: no violation in 12 exchanges; " +
			"3 of 6 calls failed: VersionNotSupported 3"},
		{[]analyzer.Calls{some, none}, [3]int{}, "failed: 0 errors, 0 warnings, 0 notes in 12 exchanges, 12 judged; " +
			"6 of 9 calls failed: VersionNotSupported 3, unreachable 2, TaskNotFound 1; no call succeeded of hotel → booker"},
		{[]analyzer.Calls{none}, [3]int{0, 0, 1}, "findings: 1 error, 0 warnings, 0 notes in 12 exchanges, 12 judged; " +
			"3 of 3 calls failed: unreachable 2, TaskNotFound 1; no call succeeded of hotel → booker"},
		{[]analyzer.Calls{open}, [3]int{}, "incomplete: 0 errors, 0 warnings, 0 notes in 12 exchanges, 12 judged; " +
			"0 of 1 call succeeded, 1 without a known outcome; no call succeeded of train → booker"},
	} {
		r := analyzer.Result{
			Counts: analyzer.Counts{Exchanges: 12, Judged: 12}, Calls: test.calls, Found: test.found,
		}
		if got := r.Verdict(analyzer.Error).String(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestResultAdd(t *testing.T) {
	r := &analyzer.Rule{ID: "r"}
	link := analyzer.Link{Client: "planner", Agent: "booker"}
	one := func(name string) *analyzer.Result {
		return &analyzer.Result{
			Captures: []string{name}, Findings: []analyzer.Finding{{Rule: r}},
			Coverage: []analyzer.Coverage{{Rule: r, Link: link, Applied: 2, Broken: 1}},
			Counts:   analyzer.Counts{Exchanges: 1, Judged: 1, Lost: 1, Forgotten: 1, Streams: 1, Events: 3},
			Agents:   []analyzer.Agent{{Link: "booker", Operations: map[a2a.Operation]int{a2a.GetTask: 1}}},
		}
	}
	sum := &analyzer.Result{}
	sum.Add(one("a"))
	second := one("b")
	second.Agents[0].Name, second.Agents[0].Push = "Booker", true
	sum.Add(second)
	want := &analyzer.Result{
		Captures: []string{"a", "b"}, Findings: []analyzer.Finding{{Rule: r}, {Rule: r}},
		Coverage: []analyzer.Coverage{{Rule: r, Link: link, Applied: 4, Broken: 2}},
		Counts:   analyzer.Counts{Exchanges: 2, Judged: 2, Lost: 2, Forgotten: 2, Streams: 2, Events: 6},
		Agents: []analyzer.Agent{
			{Link: "booker", Name: "Booker", Push: true, Operations: map[a2a.Operation]int{a2a.GetTask: 2}},
		},
	}
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
}

func TestRun(t *testing.T) {
	memory := capture.NewMemory(capture.Info{Name: "run.a2atap"})
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	if err := memory.Append(append(c.Steps, capture.Step{What: capture.Lost{Exchanges: 2}})...); err != nil {
		t.Fatal(err)
	}
	r := enginetest.Rule("r", analyzer.AnswerSeen, enginetest.At(enginetest.Here))
	result, err := analyzer.Run(t.Context(), []*analyzer.Rule{r}, memory, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Findings) != 1 || result.Findings[0].Capture != "run.a2atap" || !result.Live || result.Counts.Lost != 2 {
		t.Errorf("got %+v, want one finding of run.a2atap, live, 2 lost", result)
	}
	if len(result.Agents) != 1 || result.Agents[0].Operations[a2a.SendMessage] != 1 {
		t.Errorf("agents are %+v, want booker with one send", result.Agents)
	}
}

func TestRunRefuses(t *testing.T) {
	memory := capture.NewMemory(capture.Info{})
	if _, err := analyzer.Run(t.Context(), []*analyzer.Rule{{ID: "r"}}, memory, nil); err == nil {
		t.Error("Run takes rules that are not valid")
	}
}

// Follow ends with its context, and what is open then is no finding.
func TestFollowEndsWithItsContext(t *testing.T) {
	memory := capture.NewMemory(capture.Info{})
	c := &enginetest.Conversation{T: t}
	c.Open("planner", enginetest.RPCHead)
	c.Ask(enginetest.Send)
	c.Add(capture.ResponseHead{Head: []byte(enginetest.SSEHead), Stream: true})
	c.Event(1, enginetest.Working)
	if err := memory.Append(c.Steps...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var kinds []analyzer.Kinds
	r := enginetest.Rule("r", analyzer.EventSeen|analyzer.StreamEnded, enginetest.At(enginetest.Here))
	result, err := analyzer.Follow(ctx, []*analyzer.Rule{r}, memory, func(f analyzer.Finding) {
		kinds = append(kinds, analyzer.EventSeen)
		cancel()
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(kinds) != 1 || !result.Live {
		t.Errorf("got %d findings, live %v; want the event's alone, live", len(kinds), result.Live)
	}
}
