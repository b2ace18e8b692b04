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
// byte is sent, refuse may say why the connection must not be used.
func (p *Proxy) connect(ctx context.Context, address string, secure bool, name string,
	refuse func(net.Conn) error, protocols ...string,
) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.opts.DialTimeout)
	defer cancel()
	conn, err := p.dialer.Dial(ctx, address, secure, name, refuse, protocols...)
	if why := relay.Exhausted(err); why != "" {
		p.notice("agents cannot be reached for the moment: " + why)
	}
	return conn, err
}

// advise returns what to do about an error of a connection to an agent, and tells the user, too.
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

// certificateAsked tells the user of an agent that asks for a client certificate, of which there is none.
func (p *Proxy) certificateAsked(address string) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	p.notice(fmt.Sprintf("%s asks for a client certificate: if it insists, no request gets through until one is given "+
		"with --client-cert FILE; a forward proxy leaves the connection alone with --tunnel %s", address, host))
}

// unverified tells the user whom --insecure has let pass.
func (p *Proxy) unverified(address string, why error) {
	p.notice(fmt.Sprintf("INSECURE: %s is not known to be the agent, and is taken for it: %v", address, why))
}

// upgraded tells the user, once for an agent and a protocol, that a connection goes on unobserved.
func (p *Proxy) upgraded(agent, protocol string) {
	if protocol != "" {
		p.notice(fmt.Sprintf("a connection to %s was upgraded to %s: what follows on it passes, and is not observed",
			agent, protocol))
	}
}

// dialWebhook returns what connects to webhooks. What lets agents be taken for themselves, and us for their client, is
// not for these.
func (p *Proxy) dialWebhook() func(context.Context, relay.Target) (net.Conn, error) {
	dialer := &outbound.Dialer{Roots: p.opts.RootCAs, Proxy: p.opts.Upstream}
	return func(ctx context.Context, to relay.Target) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, p.opts.DialTimeout)
		defer cancel()
		return dialer.Dial(ctx, to.Authority(), to.Scheme == "https", to.Host, p.refuseLoop(to.Authority()))
	}
}

// refuseLoop refuses connections that would come back to us.
func (p *Proxy) refuseLoop(to string) func(net.Conn) error {
	return func(conn net.Conn) error {
		if self := p.isSelf(conn.LocalAddr(), conn.RemoteAddr()); self != "" {
			return fmt.Errorf("%s leads back to %s, which would be a loop", to, self)
		}
		return nil
	}
}
