package chart_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/sequence"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/chart"
	"a2atap/tui/text"
)

func at(ms int, from, to, label string) sequence.Arrow {
	return sequence.Arrow{At: time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond), Exchange: 1, From: from, To: to, Label: label}
}

// drawnLadder draws arrows, with their findings below them; times count from the first.
func drawnLadder(arrows []sequence.Arrow, width int) []string {
	if len(arrows) == 0 {
		return nil
	}
	l := chart.NewLadder(arrows, width)
	lines := []string{l.Header()}
	for _, a := range arrows {
		lines = append(lines, l.Arrow(a, a.At.Sub(arrows[0].At)))
		for i := range a.Findings {
			mark, _ := chart.MarkOf(&a, i)
			lines = append(lines, text.Blanks(chart.Margin)+mark+" "+a.Findings[i])
		}
	}
	return lines
}

func TestLadder(t *testing.T) {
	broken := at(30, "booker", "traveller", "reset by agent")
	broken.Broken = true
	warned := at(20, "booker", "traveller", "200 working")
	warned.Findings, warned.Severities = []string{"one", "two"}, []analysis.Severity{analysis.Warning, analysis.Note}
	unknown := at(25, "booker", "booker", "to itself")
	unknown.Findings = []string{"three"}
	for _, c := range []struct {
		name   string
		width  int
		arrows []sequence.Arrow
		want   string
	}{
		{"nothing", 80, nil, ""},
		{
			"both ways", 60,
			[]sequence.Arrow{
				at(0, "traveller", "booker", "SendMessage"), warned, at(22, "traveller", "traveller", "itself"), unknown,
				broken,
			},
			`
               traveller                             booker
  0.000s    1      │─SendMessage───────────────────────▶│
  0.020s    1      │◀───────────────────────200 working─│
               ? one
               · two
  0.022s    1      │↺ itself                            │
  0.025s    1      │                         to itself ↺│
               ! three
  0.030s    1      │✗────────────────────reset by agent─│
`,
		},
		{"hostile and wide", 50, []sequence.Arrow{at(0, "\x1b[31m", "京都", "a very long label indeed, 京都行きの切符")}, `
                 ␛[31m                      京都
  0.000s    1      │─a very long label ind…──▶│
`},
		{"many ends", 50, []sequence.Arrow{at(0, "a", "b", "x"), at(1, "b", "c", "y"), at(2, "c", "d", "z")}, `
                   a             b             c             d
  0.000s    1      │─x──────────▶│             │             │
  0.001s    1      │             │─y──────────▶│             │
  0.002s    1      │             │             │─z──────────▶│
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(drawnLadder(c.arrows, c.width), "\n")
			expect.Same(t, "", strings.Trim(c.want, "\n"), got)
		})
	}
}

// Whatever the width, labels and ends, a ladder is drawn.
func TestLadderOfAnyWidth(t *testing.T) {
	for width := -5; width < 60; width++ {
		lines := drawnLadder([]sequence.Arrow{
			at(0, "traveller", "booker", "SendMessage 京都"), at(1, "booker", "booker", ""),
			at(2, "", "traveller", "x"),
		}, width)
		expect.Equal(t, fmt.Sprintf("lines at %d", width), 4, len(lines))
	}
}

func TestArrows(t *testing.T) {
	script, err := transcript.ReadFile("../../testdata/journey.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, seq := range []int{4, 5, 6, 8} {
		x := script.Exchanges[seq-1]
		for _, a := range sequence.Of(x, reading.Read(x), new(engine.Summarize(x)), nil) {
			line := a.From + " " + a.Label
			if a.Broken {
				line += " (broken)"
			}
			got = append(got, line)
		}
	}
	want := []string{
		"traveller SendStreamingMessage", "booker ·1 task submitted", "booker ·2 status working",
		"booker ·3–5 3 artifact chunks",
		"booker ·6 status completed", "booker ·7 status working", "booker stream ends: book-91c2 working, 7 events",
		"traveller GetTask book-0000", "booker -32001 TaskNotFound: no such task, task book-0000",
		"traveller CancelTask book-91c2", "booker reset by agent: connection reset by peer, book-91c2 (broken)",
		"traveller SubscribeToTask book-91c2", "booker book-91c2, 0 events, interrupted (broken)",
	}
	expect.Same(t, "", want, got)
}
