package listener

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/hostname"
	"a2atap/proxy/must"
)

// A scantyListener has no descriptors at first.
type scantyListener struct {
	failures int
	conns    chan net.Conn
}

func (l *scantyListener) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	conn, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l *scantyListener) Close() error   { return nil }
func (l *scantyListener) Addr() net.Addr { return nil }

// The listener accepts connections again when there is room for them, and tells the user once what to do.
func TestAcceptGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noticed := make(map[string]bool)
		l := &scantyListener{failures: 12, conns: make(chan net.Conn, 1)}
		near, far := net.Pipe()
		defer near.Close()
		l.conns <- far
		begun := time.Now()
		served := make(chan time.Duration, 1)
		var group sync.WaitGroup
		tap := &Listener{what: "tap booker", listener: l}
		go tap.Accept(context.Background(), &group, func(text string) { noticed[text] = true }, func(_ context.Context, c net.Conn) {
			served <- time.Since(begun)
			c.Close()
		})
		if after := <-served; after > 10*time.Second {
			t.Errorf("accepted after %v", after)
		}
		close(l.conns)
		synctest.Wait()
		expect.Equal(t, noticed, 1, len(noticed))
		for text := range noticed {
			if !strings.HasPrefix(text, "tap booker currently cannot accept connections: this machine allows no "+
				"more connections for a2atap (") || !strings.HasSuffix(text, " open files); raise ulimit -n") {
				t.Errorf("noticed %q", text)
			}
		}
	})
}

func TestReaches(t *testing.T) {
	at := func(address string) *net.TCPAddr { return net.TCPAddrFromAddrPort(mustAddrPort(t, address)) }
	one, all := &Listener{addr: at("127.0.0.1:7001")}, &Listener{addr: at("0.0.0.0:7002")}
	tests := []struct {
		local, remote string
		want          bool
	}{
		{"127.0.0.1:40000", "127.0.0.1:7001", true},
		{"127.0.0.1:40000", "127.0.0.2:7001", false},
		{"127.0.0.1:40000", "127.0.0.2:7002", true},
		{"192.0.2.1:40000", "192.0.2.1:7002", true},
		{"192.0.2.1:40000", "192.0.2.9:7002", false},
		{"127.0.0.1:40000", "127.0.0.1:9000", false},
	}
	for _, test := range tests {
		from, to := at(test.local), at(test.remote)
		expect.Equal(t, "from "+test.local+" to "+test.remote,
			test.want, one.Reaches(from, to) || all.Reaches(from, to))
	}
}

func TestAuthority(t *testing.T) {
	tests := []struct{ listens, used, local, want string }{
		{"127.0.0.1:7001", "localhost:7001", "127.0.0.1:7001", "localhost:7001"},
		{"127.0.0.1:7001", "LOCALHOST:7001", "127.0.0.1:7001", "LOCALHOST:7001"},
		{"127.0.0.1:7001", "[::1]:7001", "127.0.0.1:7001", "[::1]:7001"},
		{"127.0.0.1:7001", "localhost:7002", "127.0.0.1:7001", "127.0.0.1:7001"},
		{"127.0.0.1:7001", "evil.example:7001", "127.0.0.1:7001", "127.0.0.1:7001"},
		{"127.0.0.1:7001", "", "127.0.0.1:7001", "127.0.0.1:7001"},
		{"127.0.0.1:7001", "a b", "127.0.0.1:7001", "127.0.0.1:7001"},
		{"127.0.0.1:80", "localhost", "127.0.0.1:80", "localhost"},
		{"127.0.0.2:7001", "127.0.0.2:7001", "127.0.0.2:7001", "127.0.0.2:7001"},
		{"[::1]:7001", "localhost:7001", "[::1]:7001", "localhost:7001"},
		{"192.0.2.1:7001", "tap.example:7001", "192.0.2.1:7001", "tap.example:7001"},
		{"192.0.2.1:7001", "tap.example", "192.0.2.1:7001", "192.0.2.1:7001"},
		{"0.0.0.0:7001", "tap.example:7001", "192.0.2.1:7001", "tap.example:7001"},
		{"0.0.0.0:7001", "", "192.0.2.1:7001", "192.0.2.1:7001"},
	}
	for _, test := range tests {
		allowed := must.Get(hostname.ParseAllowed("tap.example"))(t)
		tap := &Listener{addr: net.TCPAddrFromAddrPort(mustAddrPort(t, test.listens))}
		tap.hosts = newHostList("this tap", test.listens, tap.addr, []hostname.Pattern{allowed})
		local := net.TCPAddrFromAddrPort(mustAddrPort(t, test.local))
		expect.Equal(t, "tap "+test.listens+", Host "+test.used+", reached at "+test.local,
			test.want, tap.Authority(test.used, local))
	}
}

func mustAddrPort(t *testing.T, s string) netip.AddrPort {
	t.Helper()
	return must.Get(netip.ParseAddrPort(s))(t)
}
