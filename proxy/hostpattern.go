package proxy

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"

	"a2atap/proxy/hostname"
	"a2atap/proxy/relay"
)

// A HostPattern names hosts: one, all below a domain, or all. Hosts are compared in the form of package hostname.
type HostPattern struct {
	host string // for a domain with the dot that it begins with; "*" for all
	port string // "" for any
}

// ParseHostPattern reads the value of the flag --tunnel: HOST, *.DOMAIN or *, each with :PORT if only that one is
// meant.
func ParseHostPattern(flag string) (HostPattern, error) {
	pattern, ok := parseHostPattern(flag)
	if !ok {
		return HostPattern{}, fmt.Errorf("--tunnel %q is not a host; write HOST, HOST:PORT, *.DOMAIN or *, an IPv6 "+
			"host with a port in brackets", flag)
	}
	return pattern, nil
}

// ParseAllowedHost reads the value of the flag --allow-host: HOST or *.DOMAIN, each with :PORT if only that one is
// meant.
func ParseAllowedHost(flag string) (HostPattern, error) {
	pattern, ok := parseHostPattern(flag)
	switch {
	case pattern.host == "*":
		return HostPattern{}, fmt.Errorf("--allow-host %q would let in any page of the web that a browser here shows; "+
			"name the hosts that clients use, or a domain: HOST or *.DOMAIN", flag)
	case !ok:
		return HostPattern{}, fmt.Errorf("--allow-host %q is not a host; write HOST, HOST:PORT or *.DOMAIN, an IPv6 host "+
			"with a port in brackets", flag)
	}
	return pattern, nil
}

func parseHostPattern(flag string) (HostPattern, bool) {
	name := flag
	if ip, err := netip.ParseAddr(flag); err == nil && ip.Is6() {
		name = hostname.Join(flag, "")
	}
	name, wild := strings.CutPrefix(name, "*.")
	all := !wild && (name == "*" || strings.HasPrefix(name, "*:"))
	if all {
		name = "all" + name[1:]
	}
	host, port, ok := hostname.Split(name)
	if !ok || strings.Contains(host, "*") || strings.HasSuffix(name, ":") {
		return HostPattern{}, false
	}
	switch {
	case all:
		host = "*"
	case wild:
		host = "." + host
	}
	return HostPattern{host: host, port: port}, true
}

// matches reports whether a target is meant.
func (h HostPattern) matches(to relay.Target) bool { return h.names(hostname.Normal(to.Host), to.Port) }

// names reports whether a host in its normal form is meant, at a port. No port is that of http.
func (h HostPattern) names(host, port string) bool {
	named := h.host == "*" || h.host == host || strings.HasPrefix(h.host, ".") && strings.HasSuffix(host, h.host)
	return named && (h.port == "" || h.port == cmp.Or(port, "80"))
}
