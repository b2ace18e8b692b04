package replay

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNotes(t *testing.T) {
	var n notes
	for i := range 1000 {
		n.add("late", fmt.Sprintf("exchange %d was sent late", i))
		n.add("once", "once")
	}
	want := []string{"exchange 0 was sent late (and 999 more of this kind)", "once"}
	if diff := cmp.Diff(want, n.texts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
