// Package address compares URLs: it extracts the part of a URL that locates an agent, in a normal form.
//
// Agents write any spelling of their address into cards, and are reached under another: upper case, default ports, a
// slash at the end, localhost for 127.0.0.1. [Of] removes these differences; the host has the form of package hostname.
// Normal forms are only for comparison and are never dialed or printed.
//
// It is a leaf of the analyzer: engine, readers, trackers and families of rules use it. All functions are safe for
// concurrent use.
package address

import (
	"net/url"
	"strings"

	"a2atap/proxy/hostname"
)

// Target returns the agent's origin and the escaped path that a request's target names there.
func Target(agentURL, requestTarget string) (origin, path string) {
	origin = Origin(agentURL)
	path = requestTarget
	if !strings.HasPrefix(path, "/") && strings.Contains(path, "://") { // absolute form, as a proxy gets it
		if u, err := url.Parse(requestTarget); err == nil && u.Host != "" {
			origin, path = u.Scheme+"://"+u.Host, u.RequestURI()
		}
	}
	path, _, _ = strings.Cut(path, "?")
	return origin, path
}

// Origin returns the scheme and authority of a URL as written, or "" if it has none.
func Origin(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return ""
	}
	return raw[:len(scheme)+len("://")+authorityLen(rest)]
}

func authorityLen(rest string) int {
	for i := range len(rest) {
		if c := rest[i]; c == '/' || c == '?' || c == '#' {
			return i
		}
	}
	return len(rest)
}

// Server returns the host and port in a URL, in a form in which equal ones are equal; the scheme too, if no port is named.
// It decides whether a tap leads to the server that a card names: gRPC's addresses do not mention TLS.
func Server(raw string) string {
	origin := Of(Origin(raw))
	_, authority, _ := strings.Cut(origin, "://")
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		return authority
	}
	return origin
}

// Of returns a URL in a form in which equal addresses are equal: scheme in lower case, the host as hostname.Normal has
// it, one spelling for this machine, no default port, no slash at the end, no query and no fragment. Agents write any
// spelling of the loopback address into their cards, and are reached under another.
func Of(raw string) string {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw
	}
	scheme = strings.ToLower(scheme)
	n := authorityLen(rest)
	host, port, path := rest[:n], "", rest[n:]
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && i > strings.LastIndexByte(host, ']') {
		host, port = host[:i], host[i:]
	}
	host = hostname.Normal(host)
	switch host {
	case "127.0.0.1", "::1", "0.0.0.0", "::":
		host = "localhost"
	}
	host = hostname.Join(host, "")
	if scheme == "http" && port == ":80" || scheme == "https" && port == ":443" {
		port = ""
	}
	return scheme + "://" + host + port + strings.TrimSuffix(path, "/")
}
