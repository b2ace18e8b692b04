package hostname

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// An Origin is a host and a port in normal form, for comparison. The scheme does not count: a card with https for an
// agent that is reached by http means the same agent.
type Origin struct{ Host, Port string }

// Loopback is the host of all spellings of this machine's loopback address.
const Loopback = "localhost"

// OriginOf returns the origin of an http or https URL.
func OriginOf(u *url.URL) Origin {
	host, port, _ := net.SplitHostPort(HostPort(u))
	return NewOrigin(host, port)
}

// SameOrigin reports whether two URLs have the same scheme and origin.
func SameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && OriginOf(a) == OriginOf(b)
}

// NewOrigin returns the origin of a host, in any spelling, and a port.
func NewOrigin(host, port string) Origin {
	host = Normal(host)
	if IsLoopbackSpelling(host) {
		host = Loopback
	}
	return Origin{host, port}
}

// IsLoopbackSpelling reports whether people and cards write a normal host for the loopback address: localhost,
// 127.0.0.1, ::1, and the wildcards 0.0.0.0 and ::, which servers put into their cards since they listen there. Other
// addresses of 127/8 are not meant: agents that share a port are distinguished by them.
func IsLoopbackSpelling(host string) bool {
	if host == Loopback {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	return ip == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || ip == netip.IPv6Loopback() || ip.IsUnspecified()
}

// ValidPort reports whether a text is a port that can be connected to.
func ValidPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// HostPort returns host:port of a URL, the port of its scheme if it names none.
func HostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
