package main

import (
	"net"
	"net/http"

	"a2atap/proxy"
)

const allowHostHelp = "admit clients that use this `HOST` (or HOST:PORT, *.DOMAIN) as well as loopback names and the " +
	"listening address; repeatable"

// parseAllowedHosts reads the values of --allow-host.
func parseAllowedHosts(flags []string) (allowed []proxy.HostPattern, err error) {
	for _, flag := range flags {
		pattern, err := proxy.ParseAllowedHost(flag)
		if err != nil {
			return nil, usage("%w", err)
		}
		allowed = append(allowed, pattern)
	}
	return allowed, nil
}

// checkHosts keeps requests for hosts that are not the listener's away from a server.
func checkHosts(e env, h http.Handler, asked string, l net.Listener, allowed []proxy.HostPattern) http.Handler {
	return proxy.CheckHosts(h, asked, l.Addr(), allowed, e.notice)
}

// localOnly refuses an address that other machines can reach, unless that was asked for.
func localOnly(addr string, allowed bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usage("invalid address %q; write HOST:PORT, such as 127.0.0.1:9001", addr)
	}
	ip := net.ParseIP(host)
	if allowed || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return usage("%s can be reached from other machines; listen on 127.0.0.1, or give --allow-remote", addr)
}
