package list

import (
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/tui/load"
	"a2atap/tui/panel"
	"a2atap/tui/style"
	"a2atap/tui/tuitest"
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
	l.Newest()
	l.Resize(120, 38)
	for b.Loop() {
		for _, line := range l.View() {
			line.Paint(style.Dark)
		}
	}
}
