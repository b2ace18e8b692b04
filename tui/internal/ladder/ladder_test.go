package ladder

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
)

// Of a stream of very many events a ladder has the request, so many rows from each end, and one for what is between.
func TestLadderOfLongStreams(t *testing.T) {
	const events = 3000
	for _, streams := range []uint64{1, 2} {
		m := capture.NewMemory(capture.Info{Name: "long.a2atap"})
		for seq := uint64(1); seq <= streams; seq++ {
			steps := tuitest.Subscribed(seq, "t-1")
			for k := range events {
				steps = append(steps, tuitest.Status(seq, k+1, "t-1", "TASK_STATE_WORKING"))
			}
			tuitest.Record(t, m, steps)
		}
		f := New(&panel.Shared{
			Load: load.New(t.Context(), m.Reader(), nil), Opened: true, Info: capture.Info{Exchanges: streams},
		}, 1)
		f.Resize(100, 30)
		run(f, f.Begin())
		if f.err != nil || !f.ready {
			t.Fatalf("%d streams: ready %v, %v", streams, f.ready, f.err)
		}
		gaps := 0
		for i := range f.content.arrows {
			if f.content.arrows[i].Label == "·401–2600 not drawn" {
				gaps++
			}
		}
		if uint64(gaps) != streams {
			t.Errorf("%d streams have %d gaps", streams, gaps)
		}
		least, most := int(streams)*2*maxLadderEvents, int(streams)*(2*maxLadderEvents+4)
		if got := len(f.rows); got < least || got > most {
			t.Errorf("%d streams have %d rows, want %d to %d", streams, got, least, most)
		}
		f.Leave()
	}
}

// run runs a command, and those that come of its message, on a panel.
func run(p panel.Panel, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			run(p, c)
		}
	default:
		run(p, p.Update(msg))
	}
}
