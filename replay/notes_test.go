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
	want := []string{"exchange 0 was sent late (and 999 more of this kind)", "once"}
	expect.Same(t, "", want, n.texts())
}
