package list

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
)

func TestListForgetsWhatIsFarAway(t *testing.T) {
	l := New(&panel.Shared{
		Load: load.New(t.Context(), tuitest.Growing(t, 10).Reader(), nil), Opened: true, Info: capture.Info{Exchanges: 10},
	}, nil)
	l.Resize(80, 22)
	for seq := range uint64(maxCached) + 1 {
		l.entries[seq+1000] = load.Entry{Seq: seq + 1000}
	}
	l.store(entries{ticket: l.loading})
	if len(l.entries) > 100 {
		t.Errorf("%d entries are kept for a list of 10", len(l.entries))
	}
}

// However far one scrolls, the list keeps what is near, and at most so many rows.
func TestListKeepsFewRowsWhileScrolling(t *testing.T) {
	const calls = maxCached + 1000
	l := New(&panel.Shared{
		Load: load.New(t.Context(), tuitest.Growing(t, calls).Reader(), nil), Opened: true, Info: capture.Info{Exchanges: calls},
	}, nil)
	most := 0
	var run func(cmd tea.Cmd)
	run = func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				run(c)
			}
		default:
			run(l.Update(msg))
		}
		most = max(most, len(l.entries))
	}
	run(l.Resize(80, 402))
	for !l.AtEnd() {
		run(l.Update(keys.PageDown))
		if _, there := l.Entry(l.Selected()); !there {
			t.Fatalf("exchange %d is selected, and its row was not read", l.Selected())
		}
	}
	if l.Selected() != calls || most <= maxCached/2 || most > maxCached || len(l.entries) == most {
		t.Errorf("at exchange %d %d rows are kept, and %d were at most; want the end, %d at most, and fewer then",
			l.Selected(), len(l.entries), most, maxCached)
	}
}

// BenchmarkFrame draws the list of a large capture.
func BenchmarkFrame(b *testing.B) {
	l := New(&panel.Shared{
		Load: load.New(b.Context(), nil, nil), Opened: true, Info: capture.Info{Exchanges: 1_000_000},
	}, nil)
	for seq := uint64(999_900); seq <= 1_000_000; seq++ {
		l.entries[seq] = load.Entry{
			Seq: seq, Started: tuitest.Dawn, Client: "traveller", Agent: "booker", Request: "GetTask", Status: "200",
			Took: time.Millisecond,
		}
	}
	l.Choose(1_000_000)
	l.Resize(120, 38)
	for b.Loop() {
		for _, line := range l.View() {
			line.Paint(style.Dark)
		}
	}
}
