package a2a

import (
	"net/url"
	"strings"
)

// Known has the facts from cards and earlier traffic about the URL of a request. The zero Known has none.
type Known struct {
	Bindings Bindings // used at this URL; HTTPJSON if its interface is known only from calls
	Dialects Dialects // declared for or used over JSON-RPC at this URL
	REST     Dialects // used over HTTP+JSON at the interface that RoutePrefix finds in this URL
	Bases    []Base   // HTTP+JSON interfaces of cards at this URL or above it
	Other    string   // escaped path of the longest interface of another binding at this URL or above it
	Card     bool     // an agent card was fetched from this URL
}

// A Base is an HTTP+JSON interface.
type Base struct {
	Path     string // escaped, without a trailing slash
	Dialects Dialects
	Tenant   string // declared by the card for this interface
}

// Add adds an interface of a card if its URL is the request's or, for HTTP+JSON, a parent of it. requestURL has no
// query.
func (k *Known) Add(i Interface, requestURL string) {
	at, asked := cleanURL(i.URL), cleanURL(requestURL)
	rest, above := strings.CutPrefix(asked, at)
	if i.Binding == JSONRPC && (i.URL == requestURL || above && rest == "") {
		k.Spoken(JSONRPC, i.Dialects)
	}
	if !above || rest != "" && rest[0] != '/' {
		return
	}
	path := urlPath(at)
	if i.Binding == HTTPJSON {
		k.Bases = append(k.Bases, Base{Path: path, Dialects: i.Dialects, Tenant: i.Tenant})
	} else if len(path) > len(k.Other) {
		k.Other = path
	}
}

// Spoken records that calls of the binding in one of the dialects have succeeded: for JSONRPC at the URL, for HTTPJSON
// at the part of it that RoutePrefix returns.
func (k *Known) Spoken(b Binding, in Dialects) {
	switch {
	case b == JSONRPC:
		k.Bindings |= BindingsOf(b)
		k.Dialects |= in
	case b == HTTPJSON && !in.Empty():
		k.Bindings |= BindingsOf(b)
		k.REST |= in
	}
}

// SameURL reports whether two URLs are the same address. It ignores the case of scheme and host, a default port, a
// trailing slash, query and fragment.
func SameURL(a, b string) bool { return a == b || cleanURL(a) == cleanURL(b) }

// cleanURL returns a URL in the form in which SameURL compares.
func cleanURL(raw string) string {
	raw, _, _ = strings.Cut(raw, "#")
	raw, _, _ = strings.Cut(raw, "?")
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return strings.TrimSuffix(raw, "/")
	}
	host, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], strings.TrimSuffix(rest[i:], "/")
	}
	scheme, host = strings.ToLower(scheme), strings.ToLower(host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return scheme + "://" + host + path
}

// urlPath returns the escaped path of a URL in its clean form.
func urlPath(clean string) string {
	_, rest, ok := strings.Cut(clean, "://")
	if !ok {
		return clean
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return ""
}

// splitTarget returns the escaped path and the query of a request target in origin or absolute form (RFC 9112 §3.2).
func splitTarget(target string) (path, query string) {
	path, query, _ = strings.Cut(target, "?")
	path, _, _ = strings.Cut(path, "#")
	if !strings.HasPrefix(path, "/") && strings.Contains(path, "://") {
		path = urlPath(path)
	}
	return path, query
}

// queryValue returns the first value of a query parameter, and whether there is one. Pairs with invalid escapes are
// used unchanged.
func queryValue(query, name string) (string, bool) {
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if unescapeQuery(key) == name {
			return unescapeQuery(value), true
		}
	}
	return "", false
}

func unescapeQuery(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	if text, err := url.QueryUnescape(s); err == nil {
		return text
	}
	return s
}

func unescapePath(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	if text, err := url.PathUnescape(s); err == nil {
		return text
	}
	return s
}
