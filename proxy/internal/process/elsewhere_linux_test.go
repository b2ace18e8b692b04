package process

import (
	"net/netip"
	"slices"
	"testing"
)

// Connections of descendants count, unless the process or they listen at the other end, or others have made them.
func TestElsewhere(t *testing.T) {
	program, other := newHelper(t), newHelper(t)
	elsewhere := func() []netip.AddrPort {
		t.Helper()
		list, shown := Elsewhere(program.pid)
		if !shown {
			t.Fatal("the system shows no sockets")
		}
		return list
	}
	first, second := other.do("listen"), other.do("listen")
	program.do("child dial " + program.do("listen").String())
	own := program.do("child listen")
	other.do("dial " + own.String())
	program.do("child dial " + own.String())
	program.do("dial " + first.String()) // the process itself is the proxy
	if list := elsewhere(); len(list) > 0 {
		t.Errorf("connections that are not elsewhere: %v", list)
	}
	program.do("child dial " + second.String())
	program.do("child child dial " + first.String())
	list := elsewhere()
	slices.SortFunc(list, netip.AddrPort.Compare)
	want := []netip.AddrPort{first, second}
	slices.SortFunc(want, netip.AddrPort.Compare)
	if !slices.Equal(list, want) {
		t.Errorf("got %v, want %v", list, want)
	}
}
