package hostname_test

import (
	"net/netip"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/hostname"
)

func TestNormal(t *testing.T) {
	tests := []struct{ host, want string }{
		{"agent.example", "agent.example"},
		{"Agent.EXAMPLE.", "agent.example"},
		{"agent.example..", "agent.example.."}, // an empty label
		{".", "."},
		{"", ""},
		{"a_b.example", "a_b.example"},
		{"BÜCHER.example", "xn--bcher-kva.example"},
		{"bu\u0308cher.example", "xn--bcher-kva.example"}, // the same letter in two
		{"XN--BCHER-KVA.example", "xn--bcher-kva.example"},
		{"bücher。example", "xn--bcher-kva.example"}, // a full stop of another script
		{"faß.example", "xn--fa-hia.example"},
		{"a b.Example", "a b.example"}, // no host, and only itself
		{"127.0.0.1", "127.0.0.1"},
		{"127.0.0.1.", "127.0.0.1"},
		{"１２７.0.0.1", "127.0.0.1"},
		{"127.1", "127.1"},
		{"0177.0.0.1", "0177.0.0.1"},
		{"::1", "::1"},
		{"[::1]", "::1"},
		{"[0:0:0:0:0:0:0:1]", "::1"},
		{"[2001:DB8::0:1]", "2001:db8::1"},
		{"[::ffff:127.0.0.1]", "127.0.0.1"},
		{"::ffff:7f00:1", "127.0.0.1"},
		{"[fe80::1%25eth0]", "fe80::1%eth0"},
		{strings.Repeat("ü", 600) + ".Example", strings.Repeat("ü", 600) + ".example"}, // longer than any name
		{"[127.0.0.1]", "[127.0.0.1]"}, // no host
		{"[agent.example]", "[agent.example]"},
	}
	for _, test := range tests {
		expect.Equal(t, test.host, test.want, hostname.Normal(test.host))
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		authority, host, port string
		ok                    bool
	}{
		{"Agent.example", "agent.example", "", true},
		{"agent.example.:080", "agent.example", "80", true},
		{"agent.example:", "agent.example", "", true},
		{"[::1]:7001", "::1", "7001", true},
		{"[::FFFF:127.0.0.1]", "127.0.0.1", "", true},
		{"bücher.example:1", "xn--bcher-kva.example", "1", true},
		{"", "", "", false},
		{":80", "", "", false},
		{".", "", "", false},
		{"::1", "", "", false}, // no brackets: it may be a port
		{"[::1", "", "", false},
		{"[agent.example]", "", "", false},
		{"agent.example:0", "", "", false},
		{"agent.example:65536", "", "", false},
		{"agent.example:http", "", "", false},
		{"user@agent.example", "", "", false},
		{"agent.example/x", "", "", false},
		{"a b", "", "", false},
	}
	for _, test := range tests {
		host, port, ok := hostname.Split(test.authority)
		if ok != test.ok || ok && (host != test.host || port != test.port) {
			t.Errorf("%q: got %q, %q, %v", test.authority, host, port, ok)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for _, host := range []string{"localhost", "agent.localhost", "127.0.0.1", "127.255.0.9", "::1"} {
		if !hostname.IsLoopback(host) {
			t.Errorf("%s is not", host)
		}
	}
	for _, host := range []string{
		"", "localhost.example", "notlocalhost", "127.0.0.1.example", "0.0.0.0", "::", "10.0.0.1", "127.1",
	} {
		if hostname.IsLoopback(host) {
			t.Errorf("%s is", host)
		}
	}
}

// A host in its form keeps it, costs no memory to compare, and means the same behind a port and in any letter case.
func FuzzNormal(f *testing.F) {
	for _, seed := range []string{
		"agent.example.", "BÜCHER.example", "[::1]", "::ffff:1.2.3.4", "a..", "１.2.3.4.", "fe80::1%eth0", "[v1.x]", "xn--",
		"\u0130.example", "a\xffb", "ⅠⅠ.", "[::1%25]", "0x7f.1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		normal := hostname.Normal(host)
		if again := hostname.Normal(normal); again != normal {
			t.Errorf("%q: %q becomes %q", host, normal, again)
		}
		if ip, err := netip.ParseAddr(host); err == nil {
			if got, err := netip.ParseAddr(normal); err != nil || got != ip.Unmap() {
				t.Errorf("address %s becomes %q", ip, normal)
			}
		}
		name, port, ok := hostname.Split(host)
		if !ok {
			return
		}
		if name2, port2, ok := hostname.Split(hostname.Join(name, port)); !ok || name2 != name || port2 != port {
			t.Errorf("%q: %q %q becomes %q %q, %v", host, name, port, name2, port2, ok)
		}
		if upper, _, ok := hostname.Split(strings.ToUpper(name)); isASCII(name) && !strings.Contains(name, ":") &&
			(!ok || upper != name) {
			t.Errorf("%q and its upper case differ: %q", name, upper)
		}
	})
}

func isASCII(s string) bool { return strings.IndexFunc(s, func(c rune) bool { return c >= 0x80 }) < 0 }

func TestNormalAllocatesNothing(t *testing.T) {
	for _, host := range []string{"agent.example", "127.0.0.1"} {
		if n := testing.AllocsPerRun(100, func() { hostname.Normal(host) }); n > 0 {
			t.Errorf("%v allocations for %s, which is in its form", n, host)
		}
	}
}
