package present

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/expect"
	"a2atap/tui/text"
)

// rowOf returns the row of an exchange by itself.
func rowOf(x *capture.Exchange) *snapshot.Row {
	if x.Seq == 0 {
		x.Seq = 1
	}
	return &snapshot.Row{Summary: engine.Summarize(x)}
}

// The list counts the events that passed, whether they speak A2A or not, and no comments.
func TestOutcomeCountsEvents(t *testing.T) {
	x := &capture.Exchange{
		State:   capture.StateClosed,
		Request: capture.Request{Head: []byte("GET /ticks HTTP/1.1\r\nHost: a\r\n\r\n")},
		Response: &capture.Response{
			Head:   []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
			Stream: true,
			Events: []capture.Event{
				{Raw: []byte(": hello\n\n")},
				{K: 1, Raw: []byte("data: 1\n\n")},
				{K: 2, Raw: []byte("data: 2\n\n")},
			},
		},
	}
	expect.Equal(t, "", "2 events", paint(false, cameOf(&rowOf(x).Summary)...))
}

func TestOutcomeNamesFault(t *testing.T) {
	for want, fault := range map[string]capture.TransportFault{
		"reset by client": {Kind: "reset", Side: "client"},
		"failed":          {Kind: "failed"},
	} {
		x := &capture.Exchange{State: capture.StateClosed, Fault: &fault}
		expect.Equal(t, "", want, paint(false, cameOf(&rowOf(x).Summary)...))
	}
}

// Whatever the names are and however wide the terminal is, no line is wider, and the columns hold.
func TestListColumnsHold(t *testing.T) {
	names := []string{
		"", "a", "planner", "京都の旅行代理店", "an-agent-of-a-very-long-name-that-no-column-can-hold", "\x1b[31mred",
		"e\u0301\u0301", "👩‍🔬", "http://u:secret@host",
	}
	var seen Widths
	var list []*snapshot.Row
	for i, name := range names {
		x := &capture.Exchange{
			Seq: uint64(i + 1), State: capture.StateClosed, Ended: 12e6,
			Client: capture.Peer{Name: name}, Agent: capture.Peer{Name: names[len(names)-1-i]},
			Request: capture.Request{Head: []byte("GET /" + name + " HTTP/1.1\r\nHost: a\r\n\r\n")},
			Response: &capture.Response{
				Head: []byte("HTTP/1.1 404 Not Found\r\n\r\n"), Body: capture.Body{Complete: true},
			},
		}
		row := rowOf(x)
		seen.See(&row.Summary)
		list = append(list, row)
	}
	for width := range 161 {
		var out strings.Builder
		p := &ListPrinter{W: &out, Columns: seen.Columns(width)}
		for _, row := range list {
			if err := p.Print(&Shown{Row: row}); err != nil {
				t.Fatal(err)
			}
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != len(list)+1 || strings.Contains(out.String(), "secret") || strings.Contains(out.String(), "\x1b") {
			t.Fatalf("at %d:\n%s", width, out.String())
		}
		for _, line := range lines {
			if got := text.Columns(line); width > 0 && got > width {
				t.Errorf("at %d a line is %d wide: %q", width, got, line)
			}
			at := p.Columns.before()
			if width > 0 && width < at+len("OUTCOME") {
				continue
			}
			before, outcome := text.Clip(line+strings.Repeat(" ", at), at), line[strings.LastIndex(line, "  ")+2:]
			if !strings.HasPrefix(outcome, "404") && !strings.HasPrefix(outcome, "OUTCOME") ||
				text.Columns(strings.TrimSuffix(line, outcome)) != at {
				t.Errorf("at %d the outcome is not at %d: %q, %q", width, at, line, before)
			}
		}
	}
}

// With little room the columns that help least go first, and on a pipe no line is cut.
func TestListColumnsByWidth(t *testing.T) {
	seen := Widths{Link: 20, Asked: 20, exchanges: 8}
	for width, want := range map[int]listColumns{
		0:   {0, [...]int{5, 12, 20, 20, 4, 7}},
		120: {120, [...]int{5, 12, 20, 20, 4, 7}},
		100: {100, [...]int{5, 8, 20, 20, 4, 7}},
		80:  {80, [...]int{3, 0, 14, 20, 4, 7}},
		66:  {66, [...]int{3, 0, 14, 20, 0, 0}},
		40:  {40, [...]int{3, 0, 0, 10, 0, 0}},
		10:  {10, [...]int{3, 0, 0, 0, 0, 0}},
	} {
		expect.Equal(t, fmt.Sprintf("at %d", width), want, seen.Columns(width))
	}
}

// Errors come first in the outcome, and are named.
func TestOutcomeNamesErrors(t *testing.T) {
	call := []byte(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"h9"}}`)
	for _, tt := range []struct{ head, body, want string }{
		{
			"HTTP/1.1 200 OK", `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no\u0007 such task"}}`,
			"-32001 TaskNotFound: no� such task, task h9",
		},
		{"HTTP/1.1 200 OK", `{"jsonrpc":"2.0","id":1,"error":{"code":-7}}`, "-7, task h9"},
		{"HTTP/1.1 401 Unauthorized", "", "401 Unauthorized, no credentials were sent, task h9"},
		{"HTTP/1.1 599 Odd", "", "599, task h9"},
		{
			"HTTP/1.1 200 OK", `{"jsonrpc":"2.0","id":1,"result":{"id":"h9","status":{"state":"TASK_STATE_WORKING"}}}`,
			"h9 working",
		},
	} {
		x := &capture.Exchange{
			State: capture.StateClosed,
			Request: capture.Request{
				Head: []byte("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\n\r\n"),
				Body: capture.Body{Data: call, Complete: true},
			},
			Response: &capture.Response{
				Head: []byte(tt.head + "\r\nContent-Type: application/json\r\n\r\n"),
				Body: capture.Body{Data: []byte(tt.body), Complete: true},
			},
		}
		expect.Equal(t, "", tt.want, paint(false, cameOf(&rowOf(x).Summary)...))
	}
}

// The ids that the list prints are taken back by filters.
func TestShortIDsAreTakenBack(t *testing.T) {
	ids := []string{
		"t1", "task-2026-11-23-000001", "task-2026-11-23-000002", "2f1e9c04-5b1d-4c6e-9a52-0d6f1f0a7b11",
		"2f1e9c05-5b1d-4c6e-9a52-0d6f1f0a7b11", "2F1E9C06-5B1D-4C6E-9A52-0D6F1F0A7B11",
		"0190a5c4-0000-7000-8000-00009f3c2a1b", "0190a5c4-0000-7000-8000-00009f3c2a1c",
		"00000000-0000-4000-8000-000000000001", "1ec9414c-232a-6b00-b3c8-9e6bdeced846", strings.Repeat("é", 30),
	}
	for _, id := range ids {
		f, err := filter.Parse("task:" + summary.ShortID(id))
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		for _, other := range ids {
			facts := reading.Facts{Reading: &reading.Reading{Tasks: []string{other}}}
			expect.Equal(t, fmt.Sprintf("%s matches %s", f, other), id == other, f.Match(&capture.Exchange{}, facts))
		}
	}
}
