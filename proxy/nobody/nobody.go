// Package nobody has addresses of agents that are not there.
package nobody

import (
	"net"
	"testing"
)

// Address returns an address of this machine, 127.0.0.1:port, at which nobody listens. As long as the test runs, only who
// asks for it by its number can: that of a listener that was closed may soon be given to the next.
func Address(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, connect := range []func() (net.Conn, error){
		func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) }, l.Accept, // which holds the address
	} {
		conn, err := connect()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
	}
	return l.Addr().String()
}
