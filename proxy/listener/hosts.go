package listener

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"a2atap/proxy/hostname"
	"a2atap/proxy/relay"
)

// A hostList holds the hosts that requests may name which a listener of ours answers or takes to its agent. A page of
// the web can make its own name lead to this machine (DNS rebinding); its requests then name a host that is not ours.
//
// Let in are the loopback names and addresses, the listening address, as it was asked for and as it is, on a listener
// for all addresses the one that the client has reached, and what the user names. A port counts only where the user
// names one, since a container or a tunnel may have mapped ours.
type hostList struct {
	what    string   // the listener, for people: "this tap"
	names   []string // in their normal form
	allowed []hostname.Pattern
	all     bool // it listens on all addresses
}

// newHostList returns the hosts of a listener that was asked to listen at an address, host:port, and does at another.
func newHostList(what, asked string, at *net.TCPAddr, allowed []hostname.Pattern) *hostList {
	l := &hostList{
		what: what, allowed: allowed, all: at.IP.IsUnspecified(), names: []string{hostname.Normal(at.IP.String())},
	}
	if host, _, err := net.SplitHostPort(asked); err == nil {
		l.names = append(l.names, withoutZone(hostname.Normal(host)))
	}
	return l
}

// has reports whether a host, in its normal form, at a port may be named by a client that has reached us at local.
func (l *hostList) has(host, port string, local net.Addr) bool {
	host = withoutZone(host)
	if hostname.IsLoopback(host) || slices.Contains(l.names, host) {
		return true
	}
	if at, ok := local.(*net.TCPAddr); ok && l.all && host == hostname.Normal(at.IP.String()) {
		return true
	}
	return slices.ContainsFunc(l.allowed, func(p hostname.Pattern) bool { return p.Matches(host, port) })
}

// check returns why a request must not name an authority, with what to do if it is to; nil if it may.
func (l *hostList) check(authority string, local net.Addr) error {
	host, port, ok := hostname.Split(authority)
	switch {
	case authority == "":
		return fmt.Errorf("the request names no host, and %s must know whom it is for (RFC 9110 section 15.5.20); let "+
			"the client name one in Host", l.what)
	case !ok || len(host) > 255 || strings.ContainsAny(host, "!$%&'()*+,;=~"):
		return fmt.Errorf("what the request names as its host is not a host, and %s must know whom it is for (RFC 9110 section "+
			"15.5.20)", l.what)
	case l.has(host, port, local):
		return nil
	}
	return fmt.Errorf("the request names the host %s, which is not one of %s (RFC 9110 section 15.5.20); if clients are "+
		"to use it, start a2atap with --allow-host %s", hostname.Join(host, port), l.what, host)
}

// withoutZone takes the zone off an address of IPv6: it says by which interface to go, on the machine of the client.
func withoutZone(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.WithZone("").String()
	}
	return host
}

// CheckHosts returns a handler that lets a request through to h only if it names a host of the listener, as a tap does:
// what it allows beyond that is in allowed. Others get 421 with our mark; with the first of them refused is called with what the user
// should know. The listener was to listen at an address, host:port, and does at another.
//
// A request in absolute form is checked by its target, which net/http puts in the place of Host.
func CheckHosts(h http.Handler, asked string, at net.Addr, allowed []hostname.Pattern, refused func(string)) http.Handler {
	addr, ok := at.(*net.TCPAddr)
	if !ok { // only networks have hosts
		return h
	}
	list := newHostList("this listener", asked, addr, allowed)
	var once sync.Once
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		err := list.check(r.Host, local)
		if err == nil || r.Host == "" && !r.ProtoAtLeast(1, 1) {
			h.ServeHTTP(w, r)
			return
		}
		once.Do(func() { refused("a request was refused: " + err.Error()) })
		answer := relay.OwnAnswer("", relay.TransportError{
			Kind: relay.KindRefused, Side: relay.SideClient, Status: http.StatusMisdirectedRequest, Detail: err.Error(),
		})
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil { // not HTTP/1.1, which is all that we listen for
			http.Error(w, http.StatusText(http.StatusMisdirectedRequest), http.StatusMisdirectedRequest)
			return
		}
		relay.WriteFinal(conn, answer)
	})
}
