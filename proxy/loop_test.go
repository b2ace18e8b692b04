package proxy

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/recording"
)

// newUnservedProxy returns a proxy that is not served.
func newUnservedProxy(t *testing.T) *Proxy {
	t.Helper()
	recorder := recording.New(recording.Options{Sink: new(capture.Memory)})
	p, err := New(Options{Recorder: recorder, AllowRemote: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if err := recorder.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// An address that only the resolver knows to be the tap's is found out when the connection is made.
func TestDialRefusesLoop(t *testing.T) {
	p := newUnservedProxy(t)
	tap, err := p.listen(TapSpec{
		Name: "booker", Agent: &url.URL{Scheme: "http", Host: "agent.example"},
		Listen: "127.0.0.1:0",
	})
	if err != nil {
		t.Fatal(err)
	}
	p.taps = append(p.taps, tap)
	tap.spec.Agent.Host = tap.Addr() // as if the name led here
	conn, err := tap.dial(context.Background())
	if err == nil {
		conn.Close()
		t.Fatal("connected")
	}
	if !strings.Contains(err.Error(), "back to the tap of booker") || !strings.Contains(err.Error(), "loop") {
		t.Errorf("got %q", err)
	}
}

func TestIsSelf(t *testing.T) {
	at := func(address string) *net.TCPAddr { return net.TCPAddrFromAddrPort(mustAddrPort(t, address)) }
	p := newUnservedProxy(t)
	p.taps = []*Tap{
		{addr: at("127.0.0.1:7001"), listener: noListener{}},
		{addr: at("0.0.0.0:7002"), listener: noListener{}},
	}
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
		if got := p.isSelf(at(test.local), at(test.remote)) != ""; got != test.want {
			t.Errorf("from %s to %s: got %v", test.local, test.remote, got)
		}
	}
}

type noListener struct{ net.Listener }

func (noListener) Close() error { return nil }

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
		tap := &Tap{addr: net.TCPAddrFromAddrPort(mustAddrPort(t, test.listens))}
		tap.hosts = newHostList("this tap", test.listens, tap.addr, []hostname.Pattern{{Host: "tap.example"}})
		local := net.TCPAddrFromAddrPort(mustAddrPort(t, test.local))
		if got := tap.authority(test.used, local); got != test.want {
			t.Errorf("tap %s, Host %q, reached at %s: got %s, want %s", test.listens, test.used, test.local, got,
				test.want)
		}
	}
}

func mustAddrPort(t *testing.T, s string) netip.AddrPort {
	t.Helper()
	at, err := netip.ParseAddrPort(s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
