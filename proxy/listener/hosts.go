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

// A hostList has the hosts that requests to a listener may name. A web page can make its own host name resolve to this
// machine (DNS rebinding); its requests then name a host that is not in the list.
//
// It allows the loopback names and addresses; the listening address, as requested and as opened; on a listener for all
// addresses, the one that the client has connected to; and the hosts that the user allows. A port counts only if the
// user names one, since a container or a tunnel may have mapped the listener's.
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

// has reports whether a client that has connected to local may name a host, in its normal form, and a port.
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
		return fmt.Errorf("the request names no host, and %s needs one (RFC 9110 section 15.5.20); let "+
			"the client name one in Host", l.what)
	case !ok || len(host) > 255 || strings.ContainsAny(host, "!$%&'()*+,;=~"):
		return fmt.Errorf("the request has an invalid host, and %s needs a valid one (RFC 9110 section "+
			"15.5.20)", l.what)
	case l.has(host, port, local):
		return nil
	}
	return fmt.Errorf("the request names the host %s, which does not belong to %s (RFC 9110 section 15.5.20); if clients are "+
		"to use it, start a2atap with --allow-host %s", hostname.Join(host, port), l.what, host)
}

// withoutZone removes the zone from an IPv6 address: it names a network interface of the client's machine.
func withoutZone(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.WithZone("").String()
	}
	return host
}

// CheckHosts returns a handler that, like a tap, passes a request to h only if it names a host of the listener, or one
// in allowed. Others get 421 with a2atap's mark; for the first of them, refused is called with a message for the user.
// Asked is the requested listening address, host:port; at is the actual one.
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
		if err != nil { // not HTTP/1.1, the only supported protocol
			http.Error(w, http.StatusText(http.StatusMisdirectedRequest), http.StatusMisdirectedRequest)
			return
		}
		relay.WriteFinal(conn, answer)
	})
}
