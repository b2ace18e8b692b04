package panel_test

import (
	"testing"

	"a2atap/proxy/expect"
	"a2atap/tui/internal/panel"
)

func TestOutline(t *testing.T) {
	o := panel.Outline{Window: panel.Window{Height: 10}}
	lines := []panel.OutlineLine{
		{Key: "a"},
		{Level: 1, Item: 1},
		{Key: "b", Level: 1, Closed: true},
		{Level: 2, Item: 2},
		{Level: 1, Item: 3},
		{Key: "c"},
		{Level: 1, Item: 4},
	}
	sees := func(what string, want ...int) {
		t.Helper()
		expect.Same(t, what, want, o.Shown)
	}
	o.Set(lines, 6)
	sees("at first b is folded", 0, 1, 2, 4, 5, 6)
	expect.Equal(t, "the cursor is in row", 5, o.Cursor)
	o.Move(2)
	o.Fold()
	sees("b unfolded", 0, 1, 2, 3, 4, 5, 6)
	o.FoldAll()
	sees("all folded", 0, 5)
	if o.Cursor != 0 || o.Under() != 1 {
		t.Errorf("the cursor is in row %d above line %d, want 0 above 1", o.Cursor, o.Under())
	}
	o.Reveal(3)
	sees("what is in b revealed", 0, 1, 2, 3, 4, 5)
	expect.Equal(t, "the cursor is in row", 3, o.Cursor)
	o.FoldAll()
	o.FoldAll()
	sees("all folded and unfolded", 0, 1, 2, 3, 4, 5, 6)
	o.Set(nil, -1)
	if o.Fold() || o.Under() != -1 || o.At(0) != nil {
		t.Error("an empty outline has lines")
	}
	o.FoldAll()
}
