package print

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/sequence"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui/document"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

func step(ms int, from, to, label string) sequence.Arrow {
	return sequence.Arrow{At: time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond), Exchange: 1, From: from, To: to, Label: label}
}

func printed(t *testing.T, width int, theme style.Theme, print func(*Printer) error) string {
	t.Helper()
	var out strings.Builder
	must.Do(t, print(New(&out, width, theme)))
	return out.String()
}

// Consecutive arrows share one ladder, until a new participant appears.
func TestPrintedArrows(t *testing.T) {
	failed := step(20, "b", "a", "-32001 TaskNotFound")
	failed.Failed, failed.Findings, failed.Severities = true, []string{"one"}, []analysis.Severity{analysis.Warning}
	got := printed(t, 0, "", func(p *Printer) error {
		for _, arrows := range [][]sequence.Arrow{
			{step(0, "a", "b", "x"), failed}, nil, {step(30, "a", "b", "y")}, {step(40, "b", "c", "z")},
		} {
			if err := p.Arrows(arrows); err != nil {
				return err
			}
		}
		return nil
	})
	want := `
                   a                                               b
  0.000s    1      │─x────────────────────────────────────────────▶│
  0.020s    1      │◀──────────────────────────-32001 TaskNotFound─│
               ? one
  0.030s    1      │─y────────────────────────────────────────────▶│
                   a                                     b                                     c
  0.040s    1      │                                     │─z──────────────────────────────────▶│
`
	expect.Same(t, "", strings.TrimPrefix(want, "\n"), got)
}

// No line of a ladder is wider than the terminal, however many take part.
func TestPrintedArrowsFit(t *testing.T) {
	arrows := []sequence.Arrow{step(0, "京都", "b", "x"), step(1, "b", "c", "y"), step(2, "c", "d", "z"), step(3, "d", "京都", "w")}
	arrows[1].Findings = []string{strings.Repeat("long-", 40)}
	for columns := 1; columns < 120; columns++ {
		got := printed(t, columns, "", func(p *Printer) error { return p.Arrows(arrows) })
		if lines := strings.Split(got, "\n"); len(lines) != 7 {
			t.Errorf("at %d there are %d lines", columns, len(lines))
		}
		for line := range strings.Lines(got) {
			if n := text.Width(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("at %d a line is %d wide: %q", columns, n, line)
			}
		}
	}
}

func TestPrintedExchange(t *testing.T) {
	script := must.Get(transcript.ReadFile("../testdata/journey.txtar"))(t)
	x := script.Exchanges[4]
	rule := &analysis.Rule{ID: "a-rule"}
	found := []analysis.Finding{{
		Rule: rule, Severity: analysis.Warning, Seen: strings.Repeat("the code is odd ", 20) + "indeed",
		Expected: "expected one",
		Place:    analysis.Place{Exchange: 5, Response: true}.Body().At("/error/code"),
	}}
	got := printed(t, 40, "", func(p *Printer) error {
		return p.Exchange(x, reading.Read(x), found, document.Section{Side: document.ResponseSide})
	})
	want := `
← HTTP/1.1 200 OK
Content-Type: application/json

{
  "jsonrpc": "2.0",
  "id": 8,
  "error": {
    "code": -32001,
? ` + strings.Repeat("the code is odd ", 20) + `indeed; expected one [a-rule]
    "message": "no such task",
    "data": [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "TASK_NOT_FOUND",
        "domain": "a2a-protocol.org"
      }
    ]
  }
}

ended after 100.0ms
`
	expect.Same(t, "", want, got)
	painted := printed(t, 0, style.Dark, func(p *Printer) error { return p.Exchange(x, reading.Read(x), nil, document.Section{}) })
	if !strings.Contains(painted, "\x1b[33m-32001\x1b[0m") || !strings.Contains(painted, "→ POST") {
		t.Errorf("on a terminal it is not coloured:\n%s", painted)
	}
}

// Of a stream every event is printed, or the one that is asked for, and nothing of it acts on a terminal.
func TestPrintedStream(t *testing.T) {
	x := &capture.Exchange{
		Seq: 1, State: capture.StateClosed, Ended: 3e9, Client: capture.Peer{Name: "a"}, Agent: capture.Peer{Name: "b"},
		Request: capture.Request{Head: []byte("GET / HTTP/1.1\r\nX: \x1b[2J\r\n\r\n")},
		Response: &capture.Response{
			Head: []byte("HTTP/1.1 200 OK\r\n\r\n"), Stream: true, Events: []capture.Event{
				{At: 1e6, Raw: []byte(": \x1b]0;comment\n\n")},
				{K: 1, At: 1e9, Raw: []byte("event: \x9btick\ndata: {\"a\":[1,\"\x07\"]}\n\n"), Dropped: 7},
				{K: 2, At: capture.NotKnown, Raw: []byte("data: end"), Unterminated: true},
			},
		},
	}
	all := printed(t, 0, "", func(p *Printer) error { return p.Exchange(x, reading.Read(x), nil, document.Section{}) })
	acts := func(r rune) bool { return r != '\n' && unicode.IsControl(r) }
	if !utf8.ValidString(all) || strings.ContainsFunc(all, acts) {
		t.Errorf("it acts on a terminal: %q", all)
	}
	for _, want := range []string{
		"← comment  +1.0ms\n", "← event 1  +1.000s  cut: 7 more bytes were not recorded\n", "event: \\x9btick\n",
		"    1,\n", "← event 2  unterminated\nend\n", "ended after 3.000s\n",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	one := printed(t, 0, "", func(p *Printer) error {
		return p.Exchange(x, reading.Read(x), nil, document.Section{Side: document.ResponseSide, Event: 2})
	})
	expect.Equal(t, "of event 2 it prints", "← event 2  unterminated\nend\n", one)
}
