package card

import (
	"net/url"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/hostname"
)

// IsGRPC reports whether the address is for gRPC, whose clients also accept addresses that are not URLs.
func (u URL) IsGRPC() bool { return strings.EqualFold(u.Transport, a2a.GRPC.String()) }

// String returns the address for people, without user information, query and fragment, which may hold secrets. An address
// of gRPC is marked, since few look like a URL.
func (u URL) String() string {
	text := u.Text
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		text = text[:i]
	}
	lead, rest, isURL := strings.Cut(text, "//")
	if !isURL {
		lead, rest = "", text
	} else {
		lead += "//"
	}
	authority, path, hasPath := strings.Cut(rest, "/")
	text = lead + authority[strings.LastIndexByte(authority, '@')+1:]
	if hasPath {
		text += "/" + path
	}
	if u.IsGRPC() {
		text += " (gRPC)"
	}
	return text
}

// IsPath reports whether the address is only a path, relative to the server of the card.
func (u URL) IsPath() bool {
	at, err := url.Parse(u.Text)
	return err == nil && !u.IsGRPC() && at.Scheme == "" && at.Host == "" && strings.HasPrefix(u.Text, "/")
}

// Agent returns the target of the address: scheme, which is http, https, or empty if the client must know whether to
// use TLS; host, and port. It returns false if no tap can be put there.
//
// A gRPC address must have a port, since gRPC's default differs from the scheme's. Without a scheme, port 443 suggests
// TLS, so Agent returns false.
func (u URL) Agent() (*url.URL, bool) {
	f, ok := u.form()
	if !ok || !u.IsGRPC() {
		at, err := url.Parse(u.Text)
		return at, ok && err == nil && at.Hostname() != ""
	}
	_, port, ok := hostname.Split(f.authority)
	return &url.URL{Scheme: f.scheme, Host: f.authority}, ok && port != "" && (f.scheme != "" || port != "443")
}

// Through replaces the authority of the address, in its own form and without TLS, as for taps. User information, path,
// query and fragment stay unchanged.
func (u URL) Through(authority string) string {
	f, _ := u.form()
	return f.lead + authority + f.rest
}

// A form has the parts of an address.
type form struct {
	scheme    string // http, https, or empty
	lead      string // the text before the authority of an address without TLS
	authority string
	rest      string
}

// form splits an address. It returns false if the address has no known form.
//
// A2A asks for a URL (0.3 §5.6.1, 1.0 §4.4.6) and gRPC's clients for a name to resolve (gRPC Name Resolution), so cards
// name gRPC by URLs of http, https, grpc and grpcs, by host:port, and by the schemes dns and passthrough.
func (u URL) form() (f form, ok bool) {
	written, rest, isURL := strings.Cut(u.Text, "://")
	switch scheme := strings.ToLower(written); {
	case !isURL:
		return u.target()
	case scheme == "http", scheme == "https":
		f.scheme, f.lead = scheme, "http://"
	case scheme == "grpc" && u.IsGRPC():
		f.scheme, f.lead = "http", written+"://"
	case scheme == "grpcs" && u.IsGRPC():
		f.scheme, f.lead = "https", written[:len("grpc")]+"://"
	default:
		return u.target()
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@') + 1
	f.lead, f.authority, f.rest = f.lead+rest[:at], rest[at:end], rest[end:]
	return f, true
}

// target is form for addresses that only gRPC clients accept. Addresses with a name server stay unchanged, since it
// does not know taps.
func (u URL) target() (f form, ok bool) {
	f.authority = u.Text
	for _, scheme := range []string{"dns:", "passthrough:"} {
		for _, lead := range []string{scheme + "///", scheme} {
			if rest, ok := strings.CutPrefix(u.Text, lead); ok && f.lead == "" {
				f.lead, f.authority = lead, rest
			}
		}
	}
	return f, u.IsGRPC()
}
