package present

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/tui/text"
)

// Whatever the names are and however deep it goes, each line has its number, both names, its outcome and what is wrong.
func TestTreeOfLongNames(t *testing.T) {
	var out strings.Builder
	p := NewTreePrinter(&out, false, 0)
	p.Links = &workflow.Index{}
	const depth = 30
	for n := uint64(1); n <= depth; n++ {
		p.Links.Put(workflow.Link{Exchange: n, Parent: n - 1, By: workflow.Nested})
		x := &capture.Exchange{
			Seq: n, State: capture.StateClosed, Fault: &capture.TransportFault{Kind: "reset", Side: "agent"},
			Client: capture.Peer{Name: "orchestrator" + strings.Repeat("-of-all", 9)},
			Agent:  capture.Peer{Name: "hotels\x1b[31m" + strings.Repeat("-of-all", 9)},
			Request: capture.Request{
				Head: []byte("GET /" + strings.Repeat("long", 50) + " HTTP/1.1\r\nHost: a\r\n\r\n"),
			},
		}
		row := rowOf(x)
		row.Tasks = []string{"0190a5c4-0000-7000-8000-000000000001"}
		must.Do(t, p.Print(&Shown{Row: row}))
	}
	must.Do(t, p.End())
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != depth || strings.Contains(out.String(), "\x1b") {
		t.Fatalf("%d lines:\n%s", len(lines), out.String())
	}
	if last := lines[depth-1]; !strings.HasPrefix(last, "…") || !strings.Contains(last, "└─ 30 ") {
		t.Errorf("the deepest is %q", last)
	}
	for _, line := range lines[1:] {
		for _, want := range []string{
			"orchestrator" + strings.Repeat("-of-all", 9) + " → hotels", "reset by agent, *00000001", "(inferred: made while answering)",
		} {
			if !strings.Contains(line, want) {
				t.Errorf("%q lacks %q", line, want)
			}
		}
	}
}

// Without a terminal, no two programs look the same.
func TestTreeTellsProgramsApart(t *testing.T) {
	long := "the-orchestrator-of-all-bookings-in-frankfurt-and-surroundings-"
	for _, names := range [][]string{
		{"127.0.0.1:28001", "127.0.0.1:28002"},
		{"[fe80::1:2:3:4%eth0]:28001", "[fe80::1:2:3:4%eth0]:28002"},
		{long + "a", long + "b"},
		{strings.Repeat("京都の旅行代理店", 12) + "一", strings.Repeat("京都の旅行代理店", 12) + "二"},
	} {
		var out strings.Builder
		p := NewTreePrinter(&out, false, 0)
		p.Links = &workflow.Index{}
		var want []string
		for i, client := range names {
			for j, agent := range names {
				n := uint64(2*i + j + 1)
				p.Links.Put(workflow.Link{Exchange: n})
				must.Do(t, p.Print(&Shown{Row: rowOf(&capture.Exchange{
					Seq: n, State: capture.StateClosed, Client: capture.Peer{Name: client}, Agent: capture.Peer{Name: agent},
					Request: capture.Request{Head: []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")},
				})}))
				want = append(want, client+" → "+agent+"  GET /")
			}
		}
		must.Do(t, p.End())
		for i, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
			if !strings.Contains(line, want[i]) {
				t.Errorf("line %d is %q, want %q", i+1, line, want[i])
			}
		}
	}
}

func TestLinkWords(t *testing.T) {
	for _, tt := range []struct{ client, agent, want string }{
		{"a", "b", "a → b"},
		{"traveller", "planner", "traveller → planner"},
		{"a", "an-agent-of-a-very-long-name", "a → an-agent-of-a-very-…"},
		{"a-client-of-a-very-long-name", "b", "a-client-of-a-very-… → b"},
		{"a-client-of-a-very-long-name", "an-agent-of-a-very-long-name", "a-client-… → an-agent-o…"},
		{"", "", " → "},
		{"127.0.0.1:28001", "127.0.0.1:28002", "…0.1:28001 → ….0.1:28002"},
	} {
		got := text.Link(tt.client, tt.agent, treeWidths[1])
		if got != tt.want || len([]rune(got)) > treeWidths[1] {
			t.Errorf("%s, %s: got %q, want %q", tt.client, tt.agent, got, tt.want)
		}
	}
}

// On a terminal of any width no line of a tree is wider, and each shows its rule while there is room.
func TestTreeFitsTheTerminal(t *testing.T) {
	for width := 1; width < 140; width++ {
		var out strings.Builder
		p := NewTreePrinter(&out, false, width)
		p.Links = &workflow.Index{}
		p.Links.Put(workflow.Link{Exchange: 1})
		x := &capture.Exchange{
			Seq: 1, State: capture.StateClosed, Client: capture.Peer{Name: "京都の旅行代理店"}, Agent: capture.Peer{Name: "planner"},
			Request: capture.Request{Head: []byte("GET /a/long/path/to/somewhere HTTP/1.1\r\nHost: a\r\n\r\n")},
		}
		row := rowOf(x)
		row.Found = []snapshot.Found{{Rule: "stream-closed", Severity: analysis.Warning}}
		must.Do(t, p.Print(&Shown{Row: row}))
		must.Do(t, p.End())
		line := strings.TrimSuffix(out.String(), "\n")
		if got := text.Columns(line); got > width {
			t.Errorf("at %d the line is %d wide: %q", width, got, line)
		}
		if width >= 80 && !strings.HasSuffix(line, " ? stream-closed") {
			t.Errorf("at %d the rule is missing: %q", width, line)
		}
	}
}

func TestBrokenRules(t *testing.T) {
	findings := []snapshot.Found{
		{Rule: "a-note", Severity: analysis.Note},
		{Rule: "an-error", Severity: analysis.Error},
		{Rule: "an-error", Severity: analysis.Error},
	}
	for n, want := range []string{"", " · a-note", " ! an-error +1", " ! an-error +1"} {
		if got, _ := brokenRules(findings[:n]); got != want {
			t.Errorf("%d findings: got %q, want %q", n, got, want)
		}
	}
}
