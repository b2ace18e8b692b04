// Package hostname has the normal form for comparing the hosts of taps and their clients, tunnels, certificates and
// agent cards.
//
// Two spellings of a host have the same form. That form is for comparison, not for dialling: the dot of the root, which
// it leaves out, keeps a resolver from its list of domains.
//
// # What will surprise
//
//   - Text that is not a host keeps its spelling, in lower case, so that it equals itself and no host.
//   - Of addresses, IPv4 in four decimal numbers and IPv6 in each of its spellings are known. 127.1 and 0x7f000001,
//     which some resolvers take, are names here; what sends such a one in HTTP has written it out before.
package hostname

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// maxUnicode is how many bytes a name in Unicode may have. DNS knows none whose 253 characters would be longer, and the
// conversion takes the square of the length.
const maxUnicode = 4 * 253

// Normal returns a host, with or without brackets, in the form in which equal hosts are equal: a name in lower case, in
// ASCII (RFC 5890 section 2.3.2.1) and without the dot of the root; an address in the form of RFC 5952, without
// brackets, an IPv4-mapped IPv6 address as IPv4. A host in normal form stays unchanged.
func Normal(host string) string {
	if isNormalName(host) {
		return host
	}
	if inside, ok := bracketed(host); ok {
		if ip, err := netip.ParseAddr(strings.Replace(inside, "%25", "%", 1)); err == nil && ip.Is6() { // RFC 6874
			return ip.Unmap().String()
		}
		return lower(host)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Is4() { // which has one spelling only
			return host
		}
		return ip.Unmap().String()
	}
	name := host
	if !isASCII(name) {
		if len(name) > maxUnicode {
			return lower(host)
		}
		ascii, err := idna.Lookup.ToASCII(name)
		if err != nil {
			return lower(host)
		}
		name = ascii
	}
	name = withoutRoot(lower(name))
	if ip, err := netip.ParseAddr(name); err == nil { // it had a dot at the end, or digits of another script
		return ip.Unmap().String()
	}
	return name
}

// Split splits host[:port] from a URL or Host field, and returns the host in the form of Normal. An empty port is the
// same as none (RFC 3986 section 3.2.3). It returns false if the host is missing, or not valid in a URL.
func Split(authority string) (host, port string, ok bool) {
	host = authority
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		host, port = authority[:colon], authority[colon+1:]
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return "", "", false
		}
		port = strconv.FormatUint(n, 10)
	}
	if _, ok := bracketed(host); ok {
		normal := Normal(host)
		return normal, port, normal != "" && normal[0] != '['
	}
	if strings.ContainsAny(host, "@:/?#[]\\<>\"^`{|} \t\r\n\x00") {
		return "", "", false
	}
	host = Normal(host)
	return host, port, host != "" && host != "."
}

// Join returns host[:port] in the form of URLs: an IPv6 address in brackets, which it may already have. An empty port
// is the same as none.
func Join(host, port string) string {
	if strings.IndexByte(host, ':') >= 0 && host[0] != '[' {
		host = "[" + strings.Replace(host, "%", "%25", 1) + "]" // a zone: RFC 6874 section 2
	}
	if port == "" {
		return host
	}
	return host + ":" + port
}

// IsLoopback reports whether a host in the form of Normal is this machine by its spelling alone: localhost and all
// below it (RFC 6761 section 6.3), 127.0.0.0/8 and ::1.
func IsLoopback(normal string) bool {
	if normal == "localhost" || strings.HasSuffix(normal, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(normal)
	return err == nil && ip.IsLoopback()
}

// isNormalName reports whether a host is a name in its form already, without a look at each rule: most are.
func isNormalName(host string) bool {
	letter := false
	for _, c := range []byte(host) {
		switch {
		case 'a' <= c && c <= 'z':
			letter = true
		case '0' <= c && c <= '9', c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	return letter && host[len(host)-1] != '.'
}

// bracketed returns the text between the brackets of a host.
func bracketed(host string) (inside string, ok bool) {
	if len(host) < 2 || host[0] != '[' || host[len(host)-1] != ']' {
		return "", false
	}
	return host[1 : len(host)-1], true
}

// withoutRoot takes the dot of the root off. What ends with two has an empty label, and is not a name.
func withoutRoot(name string) string {
	short := strings.TrimSuffix(name, ".")
	if short == "" || strings.HasSuffix(short, ".") {
		return name
	}
	return short
}

// lower puts ASCII letters into lower case, and leaves all other bytes alone.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c >= 0x80 })
}
