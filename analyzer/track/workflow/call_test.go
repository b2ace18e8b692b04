package workflow

import (
	"math/rand/v2"
	"slices"
	"testing"

	"a2atap/analyzer/analysis"
)

// What goes to one agent only is passed over as a whole, and nothing else is.
func TestFramesBesides(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 200 {
		f := &frames{}
		agents := []string{"a", "b", "c"}[:1+rnd.IntN(3)]
		for n := range uint64(3 * maxFrames) {
			c := &call{n: n + 1, began: n + 1, agent: agents[rnd.IntN(len(agents))], sends: true}
			f.add(c)
			f.add(c)
			if rnd.IntN(3) > 0 {
				over := f.list[rnd.IntN(len(f.list))]
				over.ended = max(over.ended, n+2)
				over.settle()
			}
			x := &analysis.Exchange{Opened: n + 2}
			for _, agent := range []string{"a", "b", ""} {
				got, known := f.duringElsewhere(agent, x, func(c *call) bool { return c.n%2 == 0 })
				want, all := f.during(x, func(c *call) bool { return c.agent != agent && c.n%2 == 0 })
				if !slices.Equal(got.calls, want.calls) || known != all {
					t.Fatalf("besides %q: %d calls, %v; want %d, %v", agent, len(got.calls), known, len(want.calls), all)
				}
				found += len(got.calls)
			}
		}
	}
	if found == 0 {
		t.Error("nothing was there to find")
	}
}

// The room for the first of some calls holds it no longer than their list does.
func TestFramesLetGo(t *testing.T) {
	f := &frames{}
	for n := range uint64(maxFrames) {
		c := &call{n: n + 1, ended: n + 2}
		f.add(c)
		if held := f.first[0]; held != nil && !slices.Contains(f.list, held) {
			t.Fatalf("call %d is held, and not in the list", held.n)
		}
	}
}

// A call that is over has nothing to be compared by, and shares that with all others.
func TestLuggageIsLeft(t *testing.T) {
	a, b := &call{sends: true, luggage: &luggage{names: []string{"ORD-2026-0042"}}}, &call{}
	a.leave()
	a.knownBy("ORD-2026-0043")
	if l := a.packed(); l.more || len(l.ids) != 1 {
		t.Errorf("a call without a message has %d ids, more: %v; want what it is known by since", len(l.ids), l.more)
	}
	b.leave()
	b.knownBy("ORD-2026-0042")
	a.luggage = &leftLuggage
	a.knownBy("ORD-2026-0042")
	if l := a.packed(); !l.more || l.ids != nil || l.names != nil {
		t.Errorf("what was left is %v, want nothing but that it was more", l)
	}
	if l := b.packed(); l.more || l.ids != nil || l.names != nil {
		t.Errorf("what was never there is %v", l)
	}
}
