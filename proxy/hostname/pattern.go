package hostname

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
)

// A Pattern names hosts: one, all below a domain, or all. Hosts are compared in the form of Normal.
type Pattern struct {
	host string // for a domain with the dot that it begins with; "*" for all
	port string // "" for any
}

// ParsePattern reads the value of the flag --tunnel: HOST, *.DOMAIN or *, each with :PORT to match only that port.
func ParsePattern(flag string) (Pattern, error) {
	pattern, ok := parseHostPattern(flag)
	if !ok {
		return Pattern{}, fmt.Errorf("--tunnel %q is not a host; write HOST, HOST:PORT, *.DOMAIN or *, an IPv6 "+
			"host with a port in brackets", flag)
	}
	return pattern, nil
}

// ParseAllowed reads the value of the flag --allow-host: HOST or *.DOMAIN, each with :PORT to match only that port.
func ParseAllowed(flag string) (Pattern, error) {
	pattern, ok := parseHostPattern(flag)
	switch {
	case pattern.host == "*":
		return Pattern{}, fmt.Errorf("--allow-host %q would admit every web page in a browser on this machine; "+
			"name the hosts that clients use, or a domain: HOST or *.DOMAIN", flag)
	case !ok:
		return Pattern{}, fmt.Errorf("--allow-host %q is not a host; write HOST, HOST:PORT or *.DOMAIN, an IPv6 host "+
			"with a port in brackets", flag)
	}
	return pattern, nil
}

func parseHostPattern(flag string) (Pattern, bool) {
	name := flag
	if ip, err := netip.ParseAddr(flag); err == nil && ip.Is6() {
		name = Join(flag, "")
	}
	name, wild := strings.CutPrefix(name, "*.")
	all := !wild && (name == "*" || strings.HasPrefix(name, "*:"))
	if all {
		name = "all" + name[1:]
	}
	host, port, ok := Split(name)
	if !ok || strings.Contains(host, "*") || strings.HasSuffix(name, ":") {
		return Pattern{}, false
	}
	switch {
	case all:
		host = "*"
	case wild:
		host = "." + host
	}
	return Pattern{host: host, port: port}, true
}

// Matches reports whether the pattern matches a host in its normal form, at a port. An empty port means http's.
func (h Pattern) Matches(host, port string) bool {
	named := h.host == "*" || h.host == host || strings.HasPrefix(h.host, ".") && strings.HasSuffix(host, h.host)
	return named && (h.port == "" || h.port == cmp.Or(port, "80"))
}
