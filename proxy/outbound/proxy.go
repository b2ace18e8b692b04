package outbound

import (
	"cmp"
	"errors"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"a2atap/proxy/hostname"
)

// A Proxy is a proxy on the way to agents. A nil Proxy means none.
type Proxy struct {
	choose func(*url.URL) (*url.URL, error)
	fixed  *url.URL // nil for the environment's
}

// ports are the default ports of proxies.
var ports = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// errProxyURL explains the format of proxy URLs. It does not repeat the input, which may have a password.
var errProxyURL = errors.New("it is not the URL of a proxy; write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT, " +
	"with credentials as USER:PASSWORD@HOST:PORT, or env for the proxy of the environment")

// ParseProxy reads the URL of a proxy: http, https or socks5 (RFC 1928; socks5h is the same), with user and password if
// it asks for them. The word env means HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in upper or lower case. Errors have no
// part of the value.
func ParseProxy(value string, getenv func(string) string) (*Proxy, error) {
	if value == "env" {
		return environment(getenv)
	}
	u, err := parseProxyURL(value)
	if err != nil {
		return nil, err
	}
	return &Proxy{fixed: u, choose: func(*url.URL) (*url.URL, error) { return u, nil }}, nil
}

func parseProxyURL(value string) (*url.URL, error) {
	u, err := url.Parse(value)
	if err != nil || ports[u.Scheme] == "" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" || u.Fragment != "" {
		return nil, errProxyURL
	}
	return u, nil
}

// environment returns the proxy that the environment names.
func environment(getenv func(string) string) (*Proxy, error) {
	first := func(name string) string { return cmp.Or(getenv(name), getenv(strings.ToLower(name))) }
	config := httpproxy.Config{
		HTTPProxy: first("HTTP_PROXY"), HTTPSProxy: first("HTTPS_PROXY"), NoProxy: first("NO_PROXY"),
	}
	if all := first("ALL_PROXY"); all != "" {
		config.HTTPProxy, config.HTTPSProxy = cmp.Or(config.HTTPProxy, all), cmp.Or(config.HTTPSProxy, all)
	}
	if config.HTTPProxy == "" && config.HTTPSProxy == "" {
		return nil, errors.New("env: neither HTTPS_PROXY nor HTTP_PROXY is set in the environment")
	}
	choose := config.ProxyFunc()
	return &Proxy{choose: func(agent *url.URL) (*url.URL, error) {
		u, err := choose(agent)
		if err != nil || u == nil {
			return nil, err
		}
		return parseProxyURL(u.String())
	}}, nil
}

// String names the proxy without its credentials.
func (p *Proxy) String() string {
	switch {
	case p == nil:
		return "none"
	case p.fixed == nil:
		return "the proxy of the environment"
	}
	return (&url.URL{Scheme: p.fixed.Scheme, Host: p.fixed.Host}).String()
}

// For returns the proxy for an agent's URL, credentials included; nil if the way is direct, as it is to this machine.
func (p *Proxy) For(agent *url.URL) (*url.URL, error) {
	if p == nil || hostname.IsLoopback(hostname.Normal(agent.Hostname())) {
		return nil, nil
	}
	u, err := p.choose(agent)
	if err != nil {
		return nil, &ProxyError{text: "the proxy that the environment names cannot be used: " + errProxyURL.Error()}
	}
	return u, nil
}

func (p *Proxy) of(address string, secure bool) (*url.URL, error) {
	u := &url.URL{Scheme: "http", Host: address}
	if secure {
		u.Scheme = "https"
	}
	return p.For(u)
}

// A ProxyError is an error of the proxy on the way to an agent. It has no credentials. It does not unwrap, so that a
// proxy's failure is not mistaken for the agent's.
type ProxyError struct {
	Status int // with which an HTTP proxy refused; 0 without an answer

	text      string
	timeout   bool
	untrusted bool // its certificate is not
}

// Error implements error.
func (e *ProxyError) Error() string { return e.text }

// Timeout implements net.Error.
func (e *ProxyError) Timeout() bool { return e.timeout }

// Temporary implements net.Error.
func (e *ProxyError) Temporary() bool { return false }
