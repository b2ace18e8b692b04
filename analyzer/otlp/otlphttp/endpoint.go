package otlphttp

import (
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"a2atap/proxy/capture"
)

// tracesPath is the path at which a receiver accepts spans.
//
// Source: OTLP 1.10, "OTLP/HTTP Request".
const tracesPath = "/v1/traces"

// ParseURL reads the URL of a receiver. One that does not end in /v1/traces is that above it.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is not a URL; write http://127.0.0.1:4318", text)
	case u.User != nil:
		return nil, fmt.Errorf("the URL of a collector must not contain user and password; give --otlp-header " +
			"Authorization=@FILE instead")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("%q is not the URL of a collector; write http://127.0.0.1:4318, or https://HOST:PORT", text)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("the URL of a collector, %s://%s%s, must not have a query or a fragment; give --otlp-header "+
			"NAME=VALUE for request headers", u.Scheme, u.Host, u.Path)
	}
	if path := strings.TrimRight(u.Path, "/"); !strings.HasSuffix(path, tracesPath) {
		return u.JoinPath(tracesPath), nil
	}
	return u, nil
}

// ours are the fields of a request that are not the user's to set.
var ours = []string{
	"Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host", "Transfer-Encoding",
}

// ParseHeader parses NAME=VALUE. secret returns the secret that a value denotes.
func ParseHeader(to http.Header, text string, secret func(value string) (string, error)) error {
	name, value, ok := strings.Cut(text, "=")
	name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
	switch {
	case !ok:
		return fmt.Errorf("it has no =; write NAME=VALUE, such as Authorization=@FILE") // it may be a bare secret
	case !capture.IsToken(name):
		return fmt.Errorf("%q is not a valid header name; write NAME=VALUE, such as Authorization=@FILE", name)
	case slices.Contains(ours, name):
		return fmt.Errorf("%s is set by a2atap", name)
	}
	value, err := secret(value)
	if err != nil {
		return err
	}
	if value = strings.TrimSpace(value); value == "" || strings.ContainsFunc(value, control) {
		return fmt.Errorf("the value of %s is empty, or has characters that are invalid in a header", name)
	}
	to.Add(name, value)
	return nil
}

func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
