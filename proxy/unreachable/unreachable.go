// Package unreachable provides addresses of agents that do not exist.
package unreachable

import (
	"net"
	"testing"
)

// Address returns an address of this machine, 127.0.0.1:port, without a listener. The port stays reserved while the
// test runs, unless another test requests it by number. The port of a closed listener would soon be given to the next
// one.
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
