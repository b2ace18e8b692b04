package list

import (
	"fmt"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
)

// Exchanges that were being searched again when esc stopped the search are searched after it resumes.
func TestSearchThatGoesOnForgetsNothing(t *testing.T) {
	p := must.Get(find.Parse("kyoto"))(t)
	m := tuitest.Growing(t, 0)
	tuitest.Record(t, m, tuitest.Subscribed(1, "t-1"))
	s := &panel.Shared{Load: load.New(t.Context(), m.Reader(), nil), Info: capture.Info{Exchanges: 1}}
	h := newSearch(s, p, 1)
	defer func() { h.end() }()
	take := func(cmd tea.Cmd) bool {
		t.Helper()
		if cmd == nil {
			t.Fatal("nothing is searched")
		}
		return h.take(cmd().(exchangesSearched))
	}
	take(h.next(s))
	tuitest.Record(t, m, []capture.Step{tuitest.Says(1, 1, "kyoto")})
	tuitest.Record(t, m, tuitest.Call(2, "osaka", "TASK_STATE_COMPLETED"))
	s.Info.Exchanges = 2
	late := h.grow(s, []uint64{1})
	h.stop()
	if take(late) || h.has(1) {
		t.Error("an answer is taken after the search was stopped")
	}
	h.resume(s)
	take(h.next(s))
	take(h.grow(s, nil))
	expect.Same(t, "kyoto is found in", []uint64{1}, h.matches)
	if h.grow(s, nil) != nil {
		t.Error("what was searched again is searched once more")
	}
}

// Which exchanges were searched is known wherever the search began.
func TestSearchKnowsWhatItSearched(t *testing.T) {
	p := must.Get(find.Parse("x"))(t)
	const exchanges = 9
	for began := uint64(1); began <= exchanges; began++ {
		h := newSearch(&panel.Shared{Load: load.New(t.Context(), nil, nil)}, p, began)
		searched := make([]bool, exchanges+1)
		for range exchanges {
			if left := h.left(exchanges); h.up <= exchanges {
				searched[h.up] = true
				h.up++
			} else if left > 0 {
				searched[h.low] = true
				h.low++
			}
			for from := uint64(1); from <= exchanges; from++ {
				all := true
				for seq := from; seq <= exchanges; seq++ {
					all = all && searched[seq]
					if got := h.searchedAll(from, seq+1); got != all {
						t.Fatalf("began at %d, up to %d and %d: %d..%d are searched: %v", began, h.up, h.low, from, seq, got)
					}
				}
			}
		}
		expect.Equal(t, fmt.Sprintf("began at %d: left", began), 0, h.left(exchanges))
		h.end()
	}
}
