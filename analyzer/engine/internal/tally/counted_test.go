package tally

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/expect"
)

// As which link one is counted does not depend on what was asked before, also when there are too many.
func TestCountedIsLookedUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	link := func() analysis.Link {
		if rnd.IntN(10) == 0 {
			return analysis.Link{}
		}
		return analysis.Link{Client: fmt.Sprint(rnd.IntN(100)), Agent: fmt.Sprint(rnd.IntN(1500))}
	}
	var n linkNames
	for range 20_000 {
		l := link()
		if rnd.IntN(5) == 0 {
			n.note(l)
		}
		for range 2 {
			if got, want := n.counted(l), n.lookUp(l); got != want {
				t.Fatalf("%v is counted as %v, want %v", l, got, want)
			}
		}
	}
	expect.Equal(t, "links are counted by themselves", maxLinks, len(n.named))
}
