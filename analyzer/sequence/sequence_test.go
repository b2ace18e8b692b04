package sequence_test

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/sequence"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
)

// The arrows of a session are its requests, answers and events, in the order of time, and each finding is at one.
func TestArrowsOfASession(t *testing.T) {
	tr, err := transcript.ReadFile("../report/testdata/calls.txtar")
	if err != nil {
		t.Fatal(err)
	}
	found := []analysis.Finding{
		{Rule: rules.All[0], Severity: analysis.Warning, Place: analysis.Place{Exchange: 3, Response: true}.Event(2)},
		{Rule: rules.All[1], Severity: analysis.Error, Place: analysis.Place{Exchange: 3}.Body()},
	}
	var arrows []sequence.Arrow
	for i := len(tr.Exchanges) - 1; i >= 0; i-- {
		x := tr.Exchanges[i]
		var mine []analysis.Finding
		if x.Seq == found[0].Place.Exchange {
			mine = found
		}
		arrows = append(arrows, sequence.Of(x, reading.Read(x), new(engine.Summarize(x)), mine)...)
	}
	sequence.Sort(arrows)
	var got []string
	for _, a := range arrows {
		line := fmt.Sprintf("%d %s to %s: %s", a.Exchange, a.From, a.To, a.Label)
		for i := range a.Findings {
			line += fmt.Sprintf(" (%s)", a.Severities[i])
		}
		got = append(got, line)
	}
	want := strings.Split(`1 planner to booker: GetAgentCard
1 booker to planner: 200 card
2 planner to booker: SendMessage
2 booker to planner: no JSON-RPC response, task t1 working
3 planner to booker: SendStreamingMessage (error)
3 booker to planner: ·1 task working
3 booker to planner: ·2 status completed (warning)
3 booker to planner: stream ends: t2 completed, 2 events
4 planner to booker: GetTask t2
4 booker to planner: 200 t2 completed
5 planner to booker: GetTask t2
5 booker to planner: 200 t2 completed`, "\n")
	expect.Same(t, "", want, got)
}
