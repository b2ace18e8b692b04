package recording

import (
	"bytes"

	"a2atap/proxy/internal/rawhead"
)

// How a client's name was found out.
const (
	byProxyUser = "proxy-user"
	byUserAgent = "user-agent"
	byDefault   = "default"
)

// nameClient returns the name of an exchange's client, and how it was found out. What its process is can come from a
// search that goes on: the record waits for it, the traffic does not.
func (r *Recorder) nameClient(x *exchange, head []byte) (name, how string) {
	switch {
	case x.delivers:
		return x.client, byWebhook
	case x.client != "":
		return x.client, byProxyUser
	}
	for i := range r.opts.Clients {
		if p := &r.opts.Clients[i]; p.fits(head, x.conn) {
			return p.Name, p.how()
		}
	}
	if c := x.conn.Caller; c != nil {
		r.q.hold(c.Done, c.Until)
		select {
		case <-c.Done:
			if c.Name != "" && c.Name != x.agent.Name {
				return c.Name, c.How
			}
		default:
		}
	}
	return ClientName(head)
}

// NameNow returns the name of the client of a request as far as it is known; empty if it has none.
func (c *Conn) NameNow(head []byte) string {
	for i := range c.r.opts.Clients {
		if p := &c.r.opts.Clients[i]; p.fits(head, c) {
			return p.Name
		}
	}
	if c.Caller != nil {
		select {
		case <-c.Caller.Done:
			if name := c.Caller.Name; name != "" && name != c.agent.Name {
				return name
			}
		default:
		}
	}
	if name, how := ClientName(head); how != byDefault {
		return name
	}
	return ""
}

// ClientName names the client after the first product of its User-Agent, without the version: RFC 9110 section 10.1.5.
// What is no product there, or a number alone (it may be a process id or a port), names nobody.
func ClientName(head []byte) (name, how string) {
	product := rawhead.Value(head, "User-Agent")
	if end := bytes.IndexFunc(product, func(c rune) bool { return !rawhead.IsToken(c) }); end >= 0 {
		product = product[:end]
	}
	if len(bytes.Trim(product, "0123456789.-_")) == 0 || len(product) > 64 {
		return "client", byDefault
	}
	return string(product), byUserAgent
}

// byWebhook says how a client's name was found out: it uses the address that it was given for a webhook.
const byWebhook = "webhook"
