package proxy

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"a2atap/proxy/hostname"
)

// An origin is a host and a port in the form in which they are compared. The scheme does not count: a card that says
// https where the agent is reached by http means the same agent.
type origin struct{ host, port string }

// loopback is the host of all spellings of this machine's loopback address.
const loopback = "localhost"

// originOf returns the origin of an http or https URL.
func originOf(u *url.URL) origin {
	host, port, _ := net.SplitHostPort(hostPort(u))
	return newOrigin(host, port)
}

func newOrigin(host, port string) origin {
	host = hostname.Normal(host)
	if isLoopbackSpelling(host) {
		host = loopback
	}
	return origin{host, port}
}

// isLoopbackSpelling reports whether people and cards write a normal host for the loopback address: localhost,
// 127.0.0.1, ::1, and the wildcards 0.0.0.0 and ::, which servers put into their cards since they listen there. Other
// addresses of 127/8 are not meant: agents that share a port are distinguished by them.
func isLoopbackSpelling(host string) bool {
	if host == loopback {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	return ip == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || ip == netip.IPv6Loopback() || ip.IsUnspecified()
}

// parseAuthority reads host[:port] as it stands in a Host field of plain HTTP.
func parseAuthority(s string) (host, port string, ok bool) {
	host, port, ok = hostname.Split(s)
	return host, cmp.Or(port, "80"), ok
}

// replaceOrigin puts another authority into an absolute URL, with the scheme http that taps speak. User information,
// path, query and fragment stay as they are written.
func replaceOrigin(raw, authority string) string {
	_, rest, _ := strings.Cut(raw, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	user := ""
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		user = rest[:at+1]
	}
	return "http://" + user + authority + rest[end:]
}
