package proxy

import (
	"bytes"
	"fmt"
	"strings"
)

// newProtocol returns what an answer with status 101 says that the connection goes on in, such as "websocket": RFC 9110
// section 7.8. It is "" for any other answer, and "another protocol" for one that does not say.
func newProtocol(answer []byte) string {
	line, _, _ := bytes.Cut(answer, lineFeed)
	if _, status, _ := bytes.Cut(line, []byte(" ")); !bytes.HasPrefix(status, []byte("101")) {
		return ""
	}
	name := strings.ToLower(string(fieldValue(answer, "Upgrade")))
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(c rune) bool {
		return c != '/' && c != ',' && c != ' ' && !isToken(c)
	}) {
		return "another protocol"
	}
	return name
}

// upgraded tells the user, once for an agent and a protocol, that a connection goes on unobserved.
func (p *Proxy) upgraded(agent, protocol string) {
	if protocol != "" {
		p.notice(fmt.Sprintf("a connection to %s was upgraded to %s: what follows on it passes, and is not observed",
			agent, protocol))
	}
}

// protocol returns what an exchange was upgraded to, "" if it was not, and the agent's name.
func (c *Conn) protocol(x int) (protocol, agent string) {
	c.lock()
	defer c.unlock()
	if e := c.open[x]; e != nil {
		return e.protocol, e.agent.Name
	}
	return "", ""
}

// Upgraded implements relay.Observer.
func (l *link) Upgraded(x int) {
	l.Conn.Upgraded(x)
	protocol, agent := l.protocol(x)
	l.tap.proxy.upgraded(agent, protocol)
}

// Upgraded implements relay.Observer.
func (l *forwardLink) Upgraded(x int) {
	l.Conn.Upgraded(x)
	protocol, agent := l.protocol(x)
	l.forward.proxy.upgraded(agent, protocol)
}
