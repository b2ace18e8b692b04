package relay

import (
	"fmt"
	"net"
	"slices"
	"syscall"
	"testing"

	"a2atap/proxy/expect"
)

// acknowledgeAtOnce lets the system acknowledge what is read from c at once.
func acknowledgeAtOnce(t *testing.T, c net.Conn) {
	raw, err := base(c).(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		if err := syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1); err != nil {
			t.Error(err)
		}
	})
}

// TestHalfClosedClientLeaves lets a client half-close its connection, read a part of the answer, and leave. What it took
// is known: it has left only if more came.
func TestHalfClosedClientLeaves(t *testing.T) {
	const sized = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
	for _, test := range []struct {
		name         string
		before, rest string // what the client reads before it leaves, and what comes after
		left         bool
	}{
		{"part of a body", sized + "hello", "again", true},
		{"a whole body", sized + "helloagain", "", false},
		{"a head", sized, "helloagain", true},
		{"part of a stream", silentStream + "5\r\nhello\r\n", "5\r\nagain\r\n0\r\n\r\n", true},
		{"a whole stream", silentStream + "5\r\nhello\r\n0\r\n\r\n", "", false},
	} {
		for _, secure := range []bool{false, true} {
			for _, how := range []string{EndClose, EndReset, "waits", "closing alert"} {
				if how == "closing alert" && (!secure || test.left) || secure && (how == EndReset || how == EndClose && test.left) {
					continue // its system need not acknowledge records before its client has left
				}
				t.Run(fmt.Sprintf("%s/tls %t/%s", test.name, secure, how), func(t *testing.T) {
					t.Parallel()
					w := newSideWire(t, secure)
					client, agent := w.begin(post)
					acknowledgeAtOnce(t, client.Conn)
					if how == "closing alert" { // without a FIN, which comes when the client leaves
						endings[how](client.Conn)
						how = EndClose
					} else {
						CloseWrite(client.Conn)
					}
					agent.receiveEnd()
					agent.tells(client, test.before)
					want := []string{"client fin", "client half-close"}
					switch how {
					case EndClose, EndReset:
						endings[how](client.Conn)
						agent.send(test.rest)
						agent.Close()
					default:
						agent.tells(client, test.rest)
						agent.Close()
						client.receiveEnd()
					}
					e := w.ended(0)
					e.Sides = slices.Compact(e.Sides)
					if !test.left || how == "waits" {
						expect.Equal(t, "fault", nil, e.Fault)
						expect.Same(t, "what is reported of the sides", want, e.Sides)
						return
					}
					wantFault(t, e.Fault, KindClientLeft, SideClient)
					expect.Same(t, "the first that is reported of the sides", want, e.Sides[:2])
					if last := e.Sides[len(e.Sides)-1]; last != "client close" && last != "client reset" {
						t.Errorf("last reported of the sides: %q", last)
					}
				})
			}
		}
	}
}
