package replay

import (
	"fmt"
	"testing"

	"a2atap/proxy/expect"
)

func TestNotes(t *testing.T) {
	var n notes
	for i := range 1000 {
		n.add("late", fmt.Sprintf("exchange %d was sent late", i))
		n.add("once", "once")
	}
	expect.Same(t, "", []string{"exchange 0 was sent late (and 999 more of this kind)", "once"}, n.texts())
}
