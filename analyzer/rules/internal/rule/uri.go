package rule

import (
	"net"
	"net/netip"
	"strings"

	"a2atap/proxy/hostname"
)

// IsAbsolute reports whether a text is a URL with a scheme and an authority.
func IsAbsolute(url string) bool {
	scheme, rest, ok := strings.Cut(url, "://")
	return ok && IsScheme(scheme) && rest != "" && !strings.ContainsRune("/?#", rune(rest[0]))
}

// IsURI reports whether a text begins like a URI: with a scheme, and something behind it.
func IsURI(text string) bool {
	scheme, rest, ok := strings.Cut(text, ":")
	return ok && IsScheme(scheme) && rest != "" && !strings.ContainsAny(text, " \t\r\n")
}

// IsScheme reports whether a text can be the scheme of a URI (RFC 3986 §3.1).
func IsScheme(text string) bool {
	for i := range len(text) {
		c := text[i] | 0x20
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || (text[i] < '0' || text[i] > '9') && strings.IndexByte("+-.", text[i]) < 0) {
			return false
		}
	}
	return text != ""
}

// SchemeOf returns the scheme of a URL in lower case, or "".
func SchemeOf(url string) string {
	scheme, _, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	return strings.ToLower(scheme)
}

// A Reach tells from where a host can be reached.
type Reach uint8

// The reaches, widest first.
const (
	FromAnywhere Reach = iota
	FromNetwork        // a private address, a name without a dot, a name that is reserved
	FromMachine        // loopback
)

// reservedEnds are the ends of names that no public server has: RFC 2606, RFC 6762, RFC 8375, and names of home
// networks.
var reservedEnds = [...]string{
	".example", ".test", ".invalid", ".example.com", ".example.net", ".example.org", ".local", ".internal", ".intranet",
	".home.arpa", ".lan", ".home", ".corp", ".private", ".localdomain", ".svc", ".onion", ".alt",
}

// HostOf returns the host of a URL in the form of hostname.Normal, without port.
func HostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	host := rest[strings.LastIndexByte(rest, '@')+1:]
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return hostname.Normal(host)
}

// IsIP reports whether a host is an IP address.
func IsIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// ReachOf returns from where the host of a URL can be reached.
func ReachOf(url string) Reach {
	host := HostOf(url)
	if ip, ok := addrOf(host); ok {
		switch ip = ip.Unmap(); {
		case ip.IsLoopback(), ip.IsUnspecified():
			return FromMachine
		case ip.IsPrivate(), ip.IsLinkLocalUnicast(), sharedAddresses.Contains(ip), isDocumentation(ip):
			return FromNetwork
		}
		return FromAnywhere
	}
	switch {
	case host == "localhost", strings.HasSuffix(host, ".localhost"):
		return FromMachine
	case !strings.Contains(host, "."):
		return FromNetwork
	}
	for _, end := range reservedEnds {
		if strings.HasSuffix("."+host, end) {
			return FromNetwork
		}
	}
	return FromAnywhere
}

var (
	sharedAddresses = netip.MustParsePrefix("100.64.0.0/10") // RFC 6598
	inDocuments     = [...]netip.Prefix{                     // RFC 5737, RFC 3849
		netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.0/24"),
		netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("2001:db8::/32"),
	}
)

// addrOf returns the IP address in a host, and whether it is one.
func addrOf(host string) (netip.Addr, bool) {
	if host == "" || (host[0] < '0' || host[0] > '9') && !strings.Contains(host, ":") {
		return netip.Addr{}, false // a name: an error need not be made for it
	}
	ip, err := netip.ParseAddr(host)
	return ip, err == nil
}

func isDocumentation(ip netip.Addr) bool {
	for _, p := range inDocuments {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
