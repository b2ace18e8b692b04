package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	analyzed "a2atap/analyzer/report"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

func sample() *report.Report {
	state := compare.Difference{
		Kind: compare.DifferentState, Exchange: 3, Live: 4, Place: "3.response.body#/result/task", Want: "rejected",
		Got:     "completed",
		Message: "the state is completed, recorded was rejected",
		Changes: []compare.Change{{Pointer: "/result/task/status/state", Was: `"rejected"`, Now: "\"comp\x1bleted\""}},
	}
	delivery := compare.Difference{
		Kind:    compare.DifferentDelivery,
		Message: "task t: notified 1 times of Task completed, recorded 2", Want: "2", Got: "1",
	}
	return &report.Report{
		Tool:    analyzed.Tool{Name: "a2atap", Version: "1"},
		Capture: "c.a2atap", To: "http://127.0.0.1:9001", Profile: "protocol", Sent: 2, Matched: 1, Differing: 1,
		LeftOut: 1,
		Lines: []report.Line{
			{Exchange: 1, Live: 1, Operation: "GetAgentCard", Status: report.Matched, Requests: 1},
			{Exchange: 2, Operation: "GetTask", Task: "t", Status: report.LeftOut, Why: "its answer was not recorded"},
			{
				Exchange: 3, Live: 4, Operation: "SendMessage", Status: report.Differing, Requests: 1,
				Differences: []compare.Difference{state},
			},
		},
		Differences: []compare.Difference{state, delivery},
		Deliveries:  report.Deliveries{Expected: 2, Received: 1},
		Notes:       []string{"header X-Key had a redacted secret and was not sent; give credentials to replace it"},
	}
}

func TestText(t *testing.T) {
	var b strings.Builder
	must.Do(t, report.Text(&b, sample()))
	const want = `1. SendMessage: state rejected → completed [state]
   exchange 3, replayed as 4, at 3.response.body#/result/task
     /result/task/status/state
     - "rejected"
     + "comp�leted"

2. task t: notified 1 times of Task completed, recorded 2 [delivery]

left out: exchange 2, GetTask of task t: its answer was not recorded
note: header X-Key had a redacted secret and was not sent; give credentials to replace it
`
	const verdict = "2 differences; 2 sent, 1 matched, 1 differing, 1 left out; 1 of 2 notifications received, 0 left out"
	expect.Equal(t, "verdict", verdict, sample().Verdict())
	expect.Same(t, "", want, b.String())
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, report.JSON(&b, sample()))
	var got struct {
		Exchanges   []struct{ Status string }
		Differences []struct {
			Kind    string
			Changes []struct{ Recorded, Now *string }
		}
		Verdict map[string]any
	}
	must.Do(t, json.Unmarshal(b.Bytes(), &got))
	want := map[string]any{
		"status": "different", "sent": 2.0, "matched": 1.0, "differing": 1.0, "leftOut": 1.0,
		"differences": 2.0, "causes": 2.0, "lost": 0.0, "textsNotCompared": 0.0, "missing": 0.0, "new": 0.0,
		"ignored": 0.0, "ignoredByRules": 0.0, "comparedWithExpressions": 0.0,
	}
	expect.Same(t, "verdict", want, got.Verdict)
	if len(got.Exchanges) != 3 || got.Differences[0].Kind != "state" ||
		*got.Differences[0].Changes[0].Recorded != `"rejected"` {
		t.Errorf("document %s", b.Bytes())
	}
}

func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, report.JUnit(&b, sample()))
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Cases    []struct {
			Name    string  `xml:"name,attr"`
			Failure *string `xml:"failure"`
		} `xml:"testcase"`
	}
	must.Do(t, xml.Unmarshal(b.Bytes(), &got))
	if got.Tests != 4 || got.Failures != 2 || got.Skipped != 1 || got.Cases[2].Failure == nil ||
		got.Cases[2].Name != "3 SendMessage" {
		t.Errorf("suite %+v\n%s", got, b.Bytes())
	}
}

// A failure to write a report is an error.
func TestWriteFails(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *report.Report) error{
		"text": report.Text, "junit": report.JUnit, "json": report.JSON,
	} {
		expect.ErrorIs(t, name, errFull, write(full{}, sample()))
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
