package forward

import (
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"sync"

	"a2atap/proxy/capture"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
)

// A rejection is a client, as far as CONNECT tells it from others, and an agent for which it does not take a certificate
// of ours. Clients that do take it stay observed at the same agent.
type rejection struct {
	agent  string // host:port
	client string // its name, and the address of its machine
}

// maxRejections bounds what is remembered of them. The oldest is forgotten first: its client rejects us once more.
const maxRejections = 1000

// rejections remembers who does not take our certificates, and for which agents.
type rejections struct {
	mu    sync.Mutex
	known map[rejection]bool
	order []rejection // oldest first
}

func (r *rejections) has(one rejection) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[one]
}

func (r *rejections) add(one rejection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = make(map[rejection]bool)
	}
	if r.known[one] {
		return
	}
	if len(r.order) == maxRejections {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[one] = true
	r.order = append(r.order, one)
}

// rejection returns what is remembered if the client does not take our certificate.
func (c *connect) rejection() rejection {
	host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
	return rejection{agent: c.to.Authority(), client: c.clientName() + " " + host}
}

// clientName returns the name that the client has by its CONNECT.
func (c *connect) clientName() string {
	if user := proxyUser(c.head); user != "" {
		return user
	}
	name, _ := recording.ClientName(c.head)
	return name
}

func (c *connect) isRejected() bool { return c.forward.rejected.has(c.rejection()) }

// tunnelRejected passes on a connection of a client that has not taken our certificate for the agent.
func (c *connect) tunnelRejected() {
	c.tunnel("the client has rejected our certificate for "+c.to.Authority()+" before", false)
}

// The alerts by which a client says that it does not take a certificate, or does not know who has signed it: RFC 8446
// section 6.2. Not among them are those about the handshake itself, which say nothing of the certificate.
var certificateAlerts = map[uint64]bool{
	42: true, // bad_certificate: what Go and Firefox say
	43: true, // unsupported_certificate
	44: true, // certificate_revoked
	45: true, // certificate_expired
	46: true, // certificate_unknown: what Java and Chrome say
	48: true, // unknown_ca: what OpenSSL says, and with it Python, Node.js and curl
}

// rejectsCertificate reports whether a handshake failed since the client does not take our certificate. Only an alert
// that says so counts: it is the client's own word. A client that hangs up
// or resets may have given up, been killed or lost its network; were that proof, one impatient client would end the
// observation of an agent. Clients that pin a certificate and hang up without a word are for --tunnel, as the notice
// says.
func rejectsCertificate(err error) bool {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return false
	}
	alert := reflect.ValueOf(op.Err) // crypto/tls does not export its type: RFC 8446 appendix B.2 numbers alerts
	return alert.Kind() == reflect.Uint8 && certificateAlerts[alert.Uint()]
}

// tlsFailed records a TLS handshake that failed, and remembers a client that has rejected our certificate: its
// connections to that agent are tunnelled from then on, so that it goes on as it would without us.
func (c *connect) tlsFailed(err error) {
	detail, note := "TLS with the client failed: "+err.Error(), "not observed: TLS with the client failed"
	advice := "let it speak TLS 1.2 or later, or leave the host alone with --tunnel " + c.to.Host
	var op *net.OpError
	switch {
	case rejectsCertificate(err):
		detail = "the client rejected our certificate: " + err.Error()
		note = "not observed: the client did not take our certificate"
		c.forward.rejected.add(c.rejection())
		advice = fmt.Sprintf("connections of %s to %s are tunnelled from now on, and not observed; to observe them, let "+
			"it trust our authority (a2atap ca install, or a2atap ca env for one shell) and record again", c.clientName(),
			c.to.Authority())
	case errors.As(err, &op), errors.Is(err, io.EOF): // a reset, an end, or another alert
		detail = "the client ended the TLS handshake with us: " + err.Error()
		note = "not observed: the client ended the TLS handshake"
		advice = "if it does so each time, let it trust our authority (a2atap ca install, or a2atap ca env for one " +
			"shell), or leave the host alone with --tunnel " + c.to.Host
	}
	l := c.link()
	l.Request(0, c.head)
	l.RequestEnd(0, nil)
	l.Fact(0, capture.Fact{Note: note})
	l.Fault(0, relay.Fault{Kind: relay.KindTLS, Side: relay.SideClient, Detail: detail})
	l.Ended(0)
	c.forward.Notice(fmt.Sprintf("%s (%s): %s", strings.TrimPrefix(note, "not observed: "),
		c.to.Authority()+"; "+err.Error(), advice))
}
