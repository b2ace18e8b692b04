package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"

	"a2atap/proxy/outbound"
	"a2atap/proxy/relay"
)

// connect connects to an agent, with TLS for the name if that is asked for, where protocols are offered. Before any
// byte is sent, refuse may return an error if the connection must not be used.
func (p *Proxy) connect(ctx context.Context, address string, secure bool, name string,
	refuse func(net.Conn) error, protocols ...string,
) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.opts.DialTimeout)
	defer cancel()
	if p.opts.Connect != nil {
		if conn, err := p.opts.Connect(ctx, address, secure, protocols); conn != nil || err != nil {
			return conn, err
		}
	}
	conn, err := p.dialer.Dial(ctx, address, secure, name, refuse, protocols...)
	if why := relay.Exhausted(err); why != "" {
		p.notice("agents are currently unreachable: " + why)
	}
	return conn, err
}

// advise returns advice about an error of a connection to an agent, and also reports it to the user.
func (p *Proxy) advise(err error, address string) string {
	f, ok := errors.AsType[relay.TransportError](err)
	if ok {
		p.notice("the agent at " + address + ": " + f.Detail)
		return ""
	}
	advice := p.dialer.Advice(err, address)
	if advice != "" {
		p.notice(relay.Message(relay.DialFault(err, address).Advised(advice)))
	}
	return advice
}

// certificateAsked tells the user that an agent requires a client certificate, which is missing.
func (p *Proxy) certificateAsked(address string) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	p.notice(fmt.Sprintf("%s asks for a client certificate: if it is required, requests fail until you provide one "+
		"with --client-cert FILE; with --tunnel %s a forward proxy does not intercept the connection", address, host))
}

// unverified tells the user which server --insecure has accepted.
func (p *Proxy) unverified(address string, why error) {
	p.notice(fmt.Sprintf("INSECURE: %s is treated as the agent without proof: %v", address, why))
}

// upgraded tells the user, once for an agent and a protocol, that a connection continues unobserved.
func (p *Proxy) upgraded(agent, protocol string) {
	if protocol != "" {
		p.notice(fmt.Sprintf("a connection to %s was upgraded to %s: further traffic on it is forwarded, not observed",
			agent, protocol))
	}
}

// dialWebhook returns the function that connects to webhooks. Webhooks get neither the settings that accept unverified
// agents nor the client certificate.
func (p *Proxy) dialWebhook() func(context.Context, relay.Target) (net.Conn, error) {
	dialer := &outbound.Dialer{Roots: p.opts.RootCAs, Proxy: p.opts.Upstream}
	return func(ctx context.Context, to relay.Target) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, p.opts.DialTimeout)
		defer cancel()
		return dialer.Dial(ctx, to.Authority(), to.Scheme == "https", to.Host, p.refuseLoop(to.Authority()))
	}
}

// refuseLoop refuses connections that would come back to the proxy.
func (p *Proxy) refuseLoop(to string) func(net.Conn) error {
	return func(conn net.Conn) error {
		if self := p.isSelf(conn.LocalAddr(), conn.RemoteAddr()); self != "" {
			return fmt.Errorf("%s leads back to %s, which would be a loop", to, self)
		}
		return nil
	}
}
