package proxy

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"a2atap/proxy/relay"
)

// ParseForward reads the value of the flag --forward, [HOST:]PORT, and returns host:port. Without HOST it is 127.0.0.1.
func ParseForward(flag string) (string, error) {
	host, port := "127.0.0.1", flag
	if strings.Contains(flag, ":") {
		var err error
		if host, port, err = net.SplitHostPort(flag); err != nil || host == "" {
			return "", fmt.Errorf("--forward %q is no listening address; write PORT or HOST:PORT, an IPv6 host in "+
				"brackets", flag)
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", fmt.Errorf("--forward %q: %q is no port from 0 to 65535; write PORT or HOST:PORT", flag, port)
	}
	return net.JoinHostPort(host, port), nil
}

// A HostPattern names agents: a host, all hosts below a domain, or all.
type HostPattern struct {
	host string // in lower case; for a domain with the dot that it begins with; "*" for all
	port string // "" for any
}

// ParseHostPattern reads the value of the flag --tunnel: HOST, *.DOMAIN or *, each with :PORT if only that one is
// meant.
func ParseHostPattern(flag string) (HostPattern, error) {
	host, port := flag, ""
	if ip, err := netip.ParseAddr(flag); err == nil && ip.Is6() {
		host = "[" + flag + "]"
	} else if colon := strings.LastIndexByte(flag, ':'); colon > strings.LastIndexByte(flag, ']') {
		host, port = flag[:colon], flag[colon+1:]
	}
	name, wild := strings.CutPrefix(host, "*.")
	all := host == "*"
	if all {
		name = "all"
	}
	name, checked, err := relay.ParseAuthority(name + ":" + cmp.Or(port, "1"))
	if err != nil || strings.HasSuffix(flag, ":") && host == strings.TrimSuffix(flag, ":") {
		return HostPattern{}, fmt.Errorf("--tunnel %q is no host; write HOST, HOST:PORT, *.DOMAIN or *, an IPv6 "+
			"host with a port in brackets", flag)
	}
	name = rootless(name)
	switch {
	case all:
		name = "*"
	case wild:
		name = "." + name
	}
	if port != "" {
		port = checked
	}
	return HostPattern{host: name, port: port}, nil
}

// rootless returns a host without the dot of the root that may end it: "example.com." is "example.com" (RFC 3986 section
// 3.2.2).
func rootless(host string) string { return strings.TrimSuffix(host, ".") }

// matches reports whether a target is meant.
func (h HostPattern) matches(to relay.Target) bool {
	host := rootless(to.Host)
	named := h.host == "*" || h.host == host || strings.HasPrefix(h.host, ".") && strings.HasSuffix(host, h.host)
	return named && (h.port == "" || h.port == to.Port)
}

// Credentials are a user and a password of the clients of a forward proxy: RFC 7617.
type Credentials struct{ sum [sha256.Size]byte }

// ParseCredentials reads the value of the flag --proxy-auth, USER:PASS.
func ParseCredentials(flag string) (*Credentials, error) {
	user, password, found := strings.Cut(flag, ":")
	if !found || user == "" || password == "" {
		return nil, errors.New("--proxy-auth: a user or a password is missing; write --proxy-auth USER:PASS")
	}
	return &Credentials{sha256.Sum256([]byte(flag))}, nil
}

// match compares in constant time.
func (c *Credentials) match(user, password string) bool {
	sum := sha256.Sum256([]byte(user + ":" + password))
	return subtle.ConstantTimeCompare(sum[:], c.sum[:]) == 1
}

// proxyCredentials reads what a client gives in Proxy-Authorization, as it does for a proxy URL with user information.
func proxyCredentials(head []byte) (user, password string, ok bool) {
	scheme, text, _ := strings.Cut(string(fieldValue(head, "Proxy-Authorization")), " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(plain), ":")
}

// proxyUser returns the name that a client has given itself by the user part of its proxy's URL; "" if there is none.
func proxyUser(head []byte) string {
	user, _, ok := proxyCredentials(head)
	if !ok || !validName(user) || len(user) > 64 {
		return ""
	}
	return user
}

// admits reports whether a request comes with the credentials that are asked for.
func (f *Forward) admits(head []byte) bool {
	if f.spec.Auth == nil {
		return true
	}
	user, password, ok := proxyCredentials(head)
	return ok && f.spec.Auth.match(user, password)
}
