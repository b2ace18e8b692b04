package hold

import (
	"net"
	"slices"
	"testing"
	"testing/synctest"

	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
)

const deskRoom = 16 << 20

// deskWithRoom returns a desk with a room that it does not share with others.
func deskWithRoom() (*Desk, *budget.Pool) {
	d := NewDesk()
	d.room = budget.NewPool(deskRoom)
	return d, d.room
}

// If there is no room for another message, the oldest ones are released. Each returns its room once.
func TestOldestGoOn(t *testing.T) {
	d, room := deskWithRoom()
	w := &Want{Requests: true, Match: func(*capture.Exchange) bool { return true }}
	d.Set(w)
	const size, messages = 1 << 20, 100
	var went []int
	for i := range messages {
		room := room.Share()
		if !room.Take(size) {
			t.Fatalf("there is no room for message %d", i)
		}
		if d.take(w, Message{}, room, func(by decision) {
			if !by.full || by.drop || by.wire != nil {
				t.Errorf("message %d goes on by %+v", i, by)
			}
			went = append(went, i)
			room.Close()
		}) == nil {
			t.Fatal("it is not held")
		}
	}
	const held = deskRoom / size
	if got := d.State(); len(got.Held) != held || got.Held[0].ID != messages-held+1 || !slices.Equal(got.Passed, []string{noRoom}) {
		t.Errorf("%d are held, from %d on; passed %q", len(got.Held), got.Held[0].ID, got.Passed)
	}
	if len(went) != messages-held || !slices.IsSorted(went) {
		t.Errorf("%v went on", went)
	}
	if room.Share().Take(deskRoom + 1) {
		t.Error("there is room for more than there is")
	}
}

// A message takes room until its receiver has it. While the receiver of the oldest takes nothing, others pass.
func TestReceiverThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, all := deskWithRoom()
		w := &Want{}
		d.Set(w)
		room := all.Share()
		if !room.Take(deskRoom) || d.take(w, Message{}, room, func(decision) {}) == nil {
			t.Fatal("it is not held")
		}
		if all.Share().Take(1) || all.Free() != 0 {
			t.Errorf("there is room for another, and %d bytes", all.Free())
		}
	})
}

// An answer takes room until the client has read it, or the connection is closed.
func TestAnswersTakeRoomUntilTheyAreRead(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(*conn)
		free int64
	}{
		{"read in part", func(c *conn) { c.Read(make([]byte, 3)) }, deskRoom - 4},
		{"read whole", func(c *conn) { c.Read(make([]byte, 4)) }, deskRoom},
		{"closed", func(c *conn) { c.Close() }, deskRoom},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, room := deskWithRoom()
			below, other := net.Pipe()
			defer other.Close()
			c := d.Line(capture.Peer{}, nil, nil).Wrap(below, nil).(*conn)
			defer c.Close()
			c.gather = &gathering{of: &exchange{}, room: room.Share()}
			c.add([]byte("text"))
			c.pass()
			if test.do(c); room.Free() != test.free {
				t.Errorf("%d bytes are free, want %d", room.Free(), test.free)
			}
		})
	}
}
