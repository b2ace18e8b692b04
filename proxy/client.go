package proxy

import "bytes"

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
	if c := x.conn.caller; c != nil {
		r.q.hold(c.done, c.until)
		select {
		case <-c.done:
			if c.name != "" && c.name != x.agent.Name {
				return c.name, c.how
			}
		default:
		}
	}
	return clientName(head)
}

// nameNow returns the name of the client of a request as far as it is known; empty if it has none.
func (c *Conn) nameNow(head []byte) string {
	for i := range c.r.opts.Clients {
		if p := &c.r.opts.Clients[i]; p.fits(head, c) {
			return p.Name
		}
	}
	if c.caller != nil {
		select {
		case <-c.caller.done:
			if name := c.caller.name; name != "" && name != c.agent.Name {
				return name
			}
		default:
		}
	}
	if name, how := clientName(head); how != byDefault {
		return name
	}
	return ""
}

// clientName names the client after the first product of its User-Agent, without the version: RFC 9110 section 10.1.5.
// What is no product there, or a number alone (it may be a process id or a port), names nobody.
func clientName(head []byte) (name, how string) {
	product := fieldValue(head, "User-Agent")
	if end := bytes.IndexFunc(product, func(c rune) bool { return !isToken(c) }); end >= 0 {
		product = product[:end]
	}
	if len(bytes.Trim(product, "0123456789.-_")) == 0 || len(product) > 64 {
		return "client", byDefault
	}
	return string(product), byUserAgent
}

// isToken reports whether c may be in a token: RFC 9110 section 5.6.2.
func isToken(c rune) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c < 0x80 && bytes.ContainsRune([]byte("!#$%&'*+-.^_`|~"), c)
}
