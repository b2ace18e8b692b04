package cli

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"time"

	"a2atap/proxy/hostname"
	"a2atap/proxy/listener"
	"a2atap/proxy/outbound"
	"a2atap/replay/client/setup"
)

// Serve serves HTTP/1.1, and HTTP/2 with prior knowledge, until the context ends. It then closes open connections,
// including streams.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return ServeProtocols(ctx, l, h, protocols)
}

// ServeProtocols is Serve with other protocols.
func ServeProtocols(ctx context.Context, l net.Listener, h http.Handler, protocols *http.Protocols) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, Protocols: protocols}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	server.Close()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// AllowHostHelp is the help of --allow-host.
const AllowHostHelp = "admit clients that use this `HOST` (or HOST:PORT, *.DOMAIN) as well as loopback names and the " +
	"listening address; repeatable"

// ParseAllowedHosts reads the values of --allow-host.
func ParseAllowedHosts(flags []string) ([]hostname.Pattern, error) {
	return ParseAll(flags, hostname.ParseAllowed)
}

// ParseAll parses the values of a repeatable flag. An invalid value is a usage error.
func ParseAll[T any](values []string, parse func(string) (T, error)) (all []T, err error) {
	for _, value := range values {
		v, err := parse(value)
		if err != nil {
			return nil, Usage("%w", err)
		}
		all = append(all, v)
	}
	return all, nil
}

// CheckHosts returns a handler that rejects requests for hosts other than the listener's and the allowed ones.
func CheckHosts(e Env, h http.Handler, asked string, l net.Listener, allowed []hostname.Pattern) http.Handler {
	return listener.CheckHosts(h, asked, l.Addr(), allowed, e.Notice)
}

// LocalOnly returns an error for an address that other machines can reach, unless allowed is set.
func LocalOnly(addr string, allowed bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return Usage("invalid address %q; write HOST:PORT, such as 127.0.0.1:9001", addr)
	}
	ip := net.ParseIP(host)
	if allowed || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return Usage("other machines can reach %s; listen on 127.0.0.1, or add --allow-remote", addr)
}

// World returns the environment for parsing the flags of clients.
func (e Env) World(d *outbound.Dialer) setup.World {
	return setup.World{Getenv: e.Getenv, Secret: e.Secret, Version: Tool().Version, Dialer: d}
}

// Dialer returns the dialer for the flags about connecting to agents. It prints warnings about dangerous flags.
func (e Env) Dialer(f *setup.ReachFlags) (*outbound.Dialer, error) {
	d, err := f.Dialer(e.World(nil), e.Now)
	var path *fs.PathError
	var known *Exit
	switch {
	case errors.As(err, &path), errors.As(err, &known):
		return nil, err
	case err != nil:
		return nil, Usage("%w", err)
	}
	if f.Insecure {
		e.Notice("INSECURE: agents on TLS are not verified: anyone on the network path can impersonate them")
	}
	return d, nil
}
