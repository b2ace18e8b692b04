package hold

import (
	"slices"
	"testing"

	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
)

// The oldest messages go on where there is no room for another; each gives its room back once.
func TestOldestGoOn(t *testing.T) {
	d := NewDesk()
	w := &Want{Requests: true, Match: func(*capture.Exchange) bool { return true }}
	d.Set(w)
	const size, messages = 1 << 20, 100
	var went []int
	for i := range messages {
		room := d.room.Share()
		if !d.takeRoom(room, size) {
			t.Fatalf("there is no room for message %d", i)
		}
		if d.take(w, Message{}, room, func(by decision) {
			if !by.full || by.drop || by.wire != nil {
				t.Errorf("message %d goes on by %+v", i, by)
			}
			went = append(went, i)
		}) == nil {
			t.Fatal("it is not held")
		}
	}
	const held = budget.DeskBytes / size
	if got := d.State(); len(got.Held) != held || got.Held[0].ID != messages-held+1 || !slices.Equal(got.Passed, []string{noRoom}) {
		t.Errorf("%d are held, from %d on; passed %q", len(got.Held), got.Held[0].ID, got.Passed)
	}
	if len(went) != messages-held || !slices.IsSorted(went) {
		t.Errorf("%v went on", went)
	}
	if other := d.room.Share(); d.takeRoom(other, budget.DeskBytes+1) {
		t.Error("there is room for more than there is")
	}
}
