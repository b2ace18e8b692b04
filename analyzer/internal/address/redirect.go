package address

import (
	"net/url"
	"strings"
)

// IsRedirect reports whether an HTTP status redirects a client to another URL (RFC 9110 §15.4).
func IsRedirect(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// Exact returns the URL that a request's target names at an agent: its origin in the form of Of, and its path and query
// as they are. A slash at the end counts.
func Exact(agentURL, requestTarget string) string {
	origin, path := Target(agentURL, requestTarget)
	_, query, has := strings.Cut(requestTarget, "?")
	if path == "" {
		path = "/"
	}
	if has && query != "" {
		path += "?" + query
	}
	return Of(origin) + path
}

// Redirect returns the URL to which a Location leads in the answer to a request, in the form of Exact; "" if it leads
// nowhere. Back reports whether a client that follows comes back on the same route: Location names no host, or the
// authority that the client has asked, which host is.
func Redirect(agentURL, requestTarget, host, location string) (to string, back bool) {
	origin, path := Target(agentURL, requestTarget)
	base, err := url.Parse(origin + path)
	if err != nil || location == "" {
		return "", false
	}
	named, err := url.Parse(location)
	if err != nil {
		return "", false
	}
	ref := base.ResolveReference(named)
	if ref.Host == "" {
		return "", false
	}
	target := ref.RequestURI()
	if isPath := named.Scheme == "" && named.Host == ""; isPath || sameAuthority(ref.Host, host) {
		return Exact(origin, target), true
	}
	return Exact(ref.Scheme+"://"+ref.Host, target), false
}

// Shown returns a Location as people read it: without its query, unless that is all of it.
func Shown(location string) string {
	if path, _, _ := strings.Cut(location, "?"); path != "" {
		return path
	}
	return location
}

// sameAuthority reports whether two hosts with their ports are the same.
func sameAuthority(a, b string) bool { return b != "" && Of("http://"+a) == Of("http://"+b) }
