package outbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"

	"golang.org/x/net/http/httpproxy"
	socks "golang.org/x/net/proxy"

	"a2atap/proxy/hostname"
)

// A Proxy stands on the way to agents. A nil one is none.
type Proxy struct {
	choose func(*url.URL) (*url.URL, error)
	fixed  *url.URL // nil for that of the environment
}

// ports are those of proxies whose URL names none.
var ports = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}

// errProxyURL says how a proxy is named. It does not repeat what was given, which may hold a password.
var errProxyURL = errors.New("it is not the URL of a proxy; write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT, " +
	"with credentials as USER:PASSWORD@HOST:PORT, or env for that of the environment")

// ParseProxy reads the URL of a proxy: http, https or socks5 (RFC 1928; socks5h is the same), with user and password if
// it asks for them. The word env is what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say, in capitals or not. Errors hold
// nothing of the value.
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
		return "that of the environment"
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

// A ProxyError says what went wrong with the proxy on the way to an agent. It holds no credentials. It does not unwrap:
// what a proxy did is not to be taken for what the agent did.
type ProxyError struct {
	Status int // with which an HTTP proxy refused; 0 if it did not get to answer

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

// proxyError says what went wrong with a proxy.
func proxyError(via *url.URL, what string, err error) *ProxyError {
	var ne net.Error
	return &ProxyError{
		text:      fmt.Sprintf("the upstream proxy %s: %s: %v", via.Host, what, cause(err)),
		timeout:   errors.Is(err, context.DeadlineExceeded) || errors.As(err, &ne) && ne.Timeout(),
		untrusted: isUntrusted(err),
	}
}

// cause strips what package net says of addresses that the caller names.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// through connects to an agent by way of a proxy.
func (d *Dialer) through(
	ctx context.Context, via *url.URL, address string, check func(net.Conn) error,
) (net.Conn, error) {
	at := via.Host
	if via.Port() == "" {
		at = net.JoinHostPort(via.Hostname(), ports[via.Scheme])
	}
	refused := error(nil)
	conn, err := dialTCP(ctx, at, func(c net.Conn) error {
		if check != nil {
			refused = check(c)
		}
		return refused
	})
	switch {
	case refused != nil:
		return nil, refused
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return nil, err // no fault of the proxy
	case err != nil:
		return nil, proxyError(via, "connect", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	over, err := d.tunnel(ctx, conn, via, address)
	if !stop() && err == nil {
		err = proxyError(via, "connect to "+address, ctx.Err())
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return over, nil
}

// tunnel has a proxy connect to the agent.
func (d *Dialer) tunnel(ctx context.Context, conn net.Conn, via *url.URL, address string) (net.Conn, error) {
	if strings.HasPrefix(via.Scheme, "socks5") {
		if err := d.socks(ctx, conn, via, address); err != nil {
			return nil, proxyError(via, "connect to "+address, orTimeout(ctx, err))
		}
		return conn, nil
	}
	if via.Scheme == "https" {
		toProxy := &Dialer{Roots: d.Roots, Insecure: d.Insecure}
		session, err := toProxy.secure(ctx, conn, via.Host, via.Hostname())
		if err != nil {
			return nil, proxyError(via, "TLS", orTimeout(ctx, err))
		}
		conn = session
	}
	if err := connect(conn, via, address); err != nil {
		var known *ProxyError
		if errors.As(err, &known) {
			return nil, known
		}
		return nil, proxyError(via, "connect to "+address, orTimeout(ctx, err))
	}
	return conn, nil
}

// orTimeout returns why the context has ended, which then is why a connection was closed, or the error.
func orTimeout(ctx context.Context, err error) error { return cmp.Or(ctx.Err(), err) }

// socks asks a SOCKS proxy for a connection, by the name of the agent: the proxy resolves it. RFC 1928, RFC 1929.
func (d *Dialer) socks(ctx context.Context, conn net.Conn, via *url.URL, address string) error {
	var auth *socks.Auth
	if via.User != nil {
		password, _ := via.User.Password()
		auth = &socks.Auth{User: via.User.Username(), Password: password}
	}
	dialer, err := socks.SOCKS5("tcp", via.Host, auth, there{conn})
	if err != nil {
		return err
	}
	_, err = dialer.(socks.ContextDialer).DialContext(ctx, "tcp", address)
	return err
}

// there is a dialer whose connection is there.
type there struct{ net.Conn }

// Dial implements proxy.Dialer.
func (t there) Dial(string, string) (net.Conn, error) { return t.Conn, nil }

// DialContext implements proxy.ContextDialer.
func (t there) DialContext(context.Context, string, string) (net.Conn, error) { return t.Conn, nil }
