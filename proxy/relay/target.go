package relay

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// A Target is the destination of a request of a forward proxy's client. Two targets are equal if they name the same
// origin: the scheme and the host are in lower case, and the port is always set.
type Target struct {
	Scheme string // "http" or "https"
	Host   string // without brackets
	Port   string // from "1" to "65535"
}

// Authority returns host:port, in the form that dialing accepts.
func (t Target) Authority() string { return net.JoinHostPort(t.Host, t.Port) }

// String returns the origin as a URL, without the port that its scheme implies.
func (t Target) String() string {
	authority := t.Authority()
	if t.Port == defaultPorts[t.Scheme] {
		authority = strings.TrimSuffix(authority, ":"+t.Port)
	}
	return t.Scheme + "://" + authority
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// ParseTarget reads a request target in absolute form (RFC 9112 section 3.2.2). It returns its origin, its authority as
// written, and the rest, which is the target in origin form but may lack the first slash.
//
// Its errors cite the violated section. User information is an error, as RFC 9110 section 4.2.4 advises.
func ParseTarget(s string) (t Target, authority, rest string, err error) {
	scheme, rest, found := strings.Cut(s, "://")
	t.Scheme = strings.ToLower(scheme)
	if !found || defaultPorts[t.Scheme] == "" {
		return Target{}, "", "", errNotAbsolute
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, rest = rest[:end], rest[end:]
	switch {
	case strings.Contains(authority, "@"):
		return Target{}, "", "", errUserInformation
	case strings.Contains(rest, "#"):
		return Target{}, "", "", errBadTarget
	}
	if t.Host, t.Port, err = splitAuthority(authority); err != nil {
		return Target{}, "", "", err
	}
	if t.Port == "" {
		t.Port = defaultPorts[t.Scheme]
	}
	return t, authority, rest, nil
}

// ParseAuthority reads the target of CONNECT, host:port. It has no default port: RFC 9110 section 9.3.6. The host is
// returned without brackets and in lower case.
func ParseAuthority(s string) (host, port string, err error) {
	host, port, err = splitAuthority(s)
	if err == nil && port == "" {
		err = errNoPort
	}
	if err != nil {
		return "", "", err
	}
	return host, port, nil
}

// splitAuthority reads host[:port]. An empty port is the same as none: RFC 3986 section 3.2.3.
func splitAuthority(s string) (host, port string, err error) {
	host = s
	if colon := strings.LastIndexByte(s, ':'); colon > strings.LastIndexByte(s, ']') {
		host, port = s[:colon], s[colon+1:]
	}
	if inside, ok := strings.CutPrefix(host, "["); ok {
		host, ok = strings.CutSuffix(inside, "]")
		ip, err := netip.ParseAddr(host)
		if !ok || err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", "", errBadTarget
		}
		host = ip.String() // of all spellings the one
	} else if !validName(host) {
		return "", "", errBadTarget
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return "", "", errBadTarget
		}
		port = strconv.FormatUint(n, 10)
	}
	return strings.ToLower(host), port, nil
}

// validName reports whether s can be a host name or an IPv4 address. Other names that URLs allow (RFC 3986 section
// 3.2.2) are not accepted by resolvers.
func validName(s string) bool {
	for _, c := range []byte(s) {
		if !nameChar[c] {
			return false
		}
	}
	return s != "" && s != "." && len(s) <= 255
}

var nameChar = charSet(alphanumeric + "-._")
