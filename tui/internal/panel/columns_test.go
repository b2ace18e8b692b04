package panel_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// Wider lists show more, and cells are below their headings.
func TestColumns(t *testing.T) {
	e := load.Entry{
		Seq: 7, Client: "CLIENT", Agent: "AGENT", Request: "REQUEST", Status: "200", Took: time.Second,
		Outcome: []summary.Word{{Text: "OUTCOME"}}, Size: 4711, Trace: "TRACE", Message: "MESSAGE",
	}
	below := map[string]string{
		"n": "7", "time": "TIME", "client → agent": "CLIENT", "→ agent": "→ AGENT", "request": "REQUEST", "st": "200",
		"took": "1.000s", "size": "4.7 kB", "trace": "TRACE", "outcome": "OUTCOME", "message": "MESSAGE",
	}
	right := map[string]bool{"n": true, "st": true, "took": true, "size": true}
	for _, c := range []struct {
		width int
		names []string
	}{
		{54, []string{"n", "time", "→ agent", "request", "st", "outcome"}},
		{71, []string{"n", "time", "→ agent", "request", "st", "outcome"}},
		{79, []string{"n", "time", "→ agent", "request", "st", "took", "outcome"}},
		{80, []string{"n", "time", "client → agent", "request", "st", "took", "outcome"}},
		{120, []string{"n", "time", "client → agent", "request", "st", "took", "size", "outcome"}},
		{147, []string{"n", "time", "client → agent", "request", "st", "took", "size", "outcome", "message"}},
		{200, []string{"n", "time", "client → agent", "request", "st", "took", "size", "trace", "outcome", "message"}},
	} {
		columns := panel.ColumnsOf(c.width, 8)
		heading := columns.Heading("time").Fit(c.width).String()
		row := style.Text(style.Normal, "  "+text.PadLeft("7", columns.Number)+" "+text.Pad("TIME", columns.Time)+" ")
		cells := columns.Add(row, &e).Fit(c.width).String()
		at := 0
		for _, name := range c.names {
			i := strings.Index(heading[at:], name)
			if i < 0 {
				t.Errorf("at %d columns %q is not in %q behind column %d", c.width, name, heading, at)
				break
			}
			at += i
			from := text.Width(heading[:at])
			if right[name] {
				from += text.Width(name) - text.Width(below[name])
			}
			if rest := string([]rune(cells)[from:]); !strings.HasPrefix(rest, below[name]) {
				t.Errorf("at %d columns, below %q is %q, want %q\n%s\n%s", c.width, name, rest, below[name], heading, cells)
			}
			at += len(name)
		}
		expect.Equal(t, fmt.Sprintf("at %d columns, what is there too", c.width), "", strings.TrimSpace(heading[at:]))
	}
	for columns := range 300 {
		c := panel.ColumnsOf(columns, 1_000_000)
		if used := text.Width(c.Add(style.Line{}, &e).String()); c.Outcome > 0 && used > columns {
			t.Errorf("at %d columns a row takes %d", columns, used)
		}
	}
}

// A state and a status have a color, and a sign or a word with the same meaning.
func TestStatesHaveSignsAndColours(t *testing.T) {
	state := func(s a2a.State, before ...summary.Word) []summary.Word {
		return append(before, summary.Word{Text: s.String(), Look: summary.OfState, State: s})
	}
	task, blank, comma := summary.Word{Text: "t"}, summary.Word{Text: " "}, summary.Word{Text: ", "}
	for _, c := range []struct {
		e    load.Entry
		want []style.Span
	}{
		{load.Entry{Status: "200", Outcome: state(a2a.Completed, task, blank), State: a2a.Completed}, []style.Span{
			{Text: "200 ", Style: style.Good},
			{Text: "✓ ", Style: style.Good},
			{Text: "t", Style: style.Normal},
			{Text: " ", Style: style.Normal},
			{Text: "completed", Style: style.Good},
		}},
		{load.Entry{Status: "200", Outcome: state(a2a.Working), State: a2a.Working}, []style.Span{
			{Text: "200 ", Style: style.Good}, {Text: "… ", Style: style.Note}, {Text: "working", Style: style.Note},
		}},
		{load.Entry{Status: "200", Outcome: state(a2a.InputRequired), State: a2a.InputRequired}, []style.Span{
			{Text: "200 ", Style: style.Good}, {Text: "? ", Style: style.Warning}, {Text: "input-required", Style: style.Warning},
		}},
		{load.Entry{Status: "200", Outcome: state(a2a.Failed), State: a2a.Failed}, []style.Span{
			{Text: "200 ", Style: style.Good}, {Text: "✗ ", Style: style.Error}, {Text: "failed", Style: style.Error},
		}},
		{load.Entry{Status: "200", Outcome: state(a2a.Canceled), State: a2a.Canceled}, []style.Span{
			{Text: "200 ", Style: style.Good}, {Text: "⊘ ", Style: style.Warning}, {Text: "canceled", Style: style.Warning},
		}},
		{load.Entry{Status: "404", Outcome: []summary.Word{{Text: "-32001 TaskNotFound", Look: summary.Bad}}, Failed: true}, []style.Span{
			{Text: "404 ", Style: style.Warning},
			{Text: "✗ ", Style: style.Warning},
			{Text: "-32001 TaskNotFound", Style: style.Warning},
		}},
		{load.Entry{Status: "503", Failed: true}, []style.Span{{Text: "503 ", Style: style.Error}, {Text: "✗", Style: style.Warning}}},
		{load.Entry{Status: "–", Outcome: []summary.Word{
			{Text: "3 events", Look: summary.Dim}, comma, {Text: "open", Look: summary.Warn},
		}}, []style.Span{
			{Text: "  – ", Style: style.Dim},
			{Text: "3 events", Style: style.Dim},
			{Text: ", ", Style: style.Normal},
			{Text: "open", Style: style.Note},
		}},
	} {
		columns := panel.ColumnsOf(70, 8)
		got := columns.Add(style.Line{}, &c.e).Spans[2:]
		expect.Same(t, fmt.Sprintf("%+v", c.e), c.want, got, cmp.AllowUnexported(style.Span{}))
	}
}

// Where there is little room, the state matters more than which task it is; what failed matters more than what was said.
func TestOutcomesInLittleRoom(t *testing.T) {
	e := load.Entry{Outcome: []summary.Word{
		{Text: "5f0c8a6e…"},
		{Text: " "},
		{Text: "completed", Look: summary.OfState, State: a2a.Completed},
		{Text: ", "},
		{Text: "7 events", Look: summary.Dim},
	}, State: a2a.Completed}
	for room, want := range map[int]string{
		0: "✓ 5f0c8a6e… completed, 7 events", 31: "✓ 5f0c8a6e… completed, 7 events", 30: "✓ completed, 7 events",
	} {
		expect.Equal(t, fmt.Sprintf("in %d columns", room), want, panel.Outcome(&e, room).String())
	}
	open := load.Entry{Outcome: []summary.Word{
		{Text: "5f0c8a6e…"},
		{Text: ", "},
		{Text: "7 events", Look: summary.Dim},
		{Text: ", "},
		{Text: "open", Look: summary.Warn},
	}}
	if got, want := panel.Outcome(&open, 15).String(), "open, 7 events, 5f0c8a6e…"; got != want {
		t.Errorf("what is open: %q, want %q", got, want)
	}
	failed := load.Entry{Failed: true, Message: "two seats", Outcome: []summary.Word{
		{Text: "-32001 TaskNotFound: there is no such task here", Look: summary.Bad},
	}}
	columns := panel.ColumnsOf(147, 8)
	if got := columns.Add(style.Line{}, &failed).String(); !strings.HasSuffix(got, "✗ "+failed.Outcome[0].Text) {
		t.Errorf("a failure in a wide list: %q", got)
	}
}
