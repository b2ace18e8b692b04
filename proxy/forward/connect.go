package forward

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
)

// established is our answer to CONNECT. RFC 9110 section 9.3.6.
const established = "HTTP/1.1 200 Connection established\r\n\r\n"

// A connect is a client connection that asks for CONNECT. It begins with the bytes after the head.
type connect struct {
	*peekedConn
	forward *Proxy
	ctx     context.Context // of the connection
	request *http.Request
	head    []byte
	to      relay.Target // as named; https until the first bytes show the scheme

	certificate *x509.Certificate // that the client has shown inside; nil if none was asked for, or shown

	agent net.Conn // dialed early, to learn its protocol; usually nil, and nil once used
	err   error    // why it could not be
}

type connectKey struct{}

// connectOf returns the CONNECT of a request that the front decides about.
func connectOf(r *http.Request) *connect { return r.Context().Value(connectKey{}).(*connect) }

// readConnect reads the head of CONNECT. An unreadable head is refused and recorded.
func (f *Proxy) readConnect(ctx context.Context, client *peekedConn) (*connect, error) {
	stop := context.AfterFunc(ctx, func() { client.Close() })
	head, err := client.takeHead(f.headTimeout())
	stop() // safe, since a refusal takes only as long as the client needs to read it
	c := &connect{peekedConn: client, forward: f, head: head, ctx: ctx}
	refused := relay.TransportError{
		Kind: relay.KindRefused, Side: relay.SideClient,
		Detail: "malformed CONNECT head (RFC 9112 section 3)", Status: 400,
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		refused.Kind, refused.Status = relay.KindTimeout, 408
		refused.Detail = "the CONNECT head was not complete in time (RFC 9110 section 15.5.9)"
	case errors.Is(err, errHeadTooLong):
		refused.Detail, refused.Status = "the CONNECT head is too long (RFC 6585 section 5)", 431
	}
	if err != nil {
		c.refuse(refused)
		return nil, err
	}
	c.request, err = http.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
	if err == nil {
		host, port, bad := relay.ParseAuthority(c.request.RequestURI)
		if err = bad; bad != nil {
			refused.Detail = bad.Error()
		}
		c.to = relay.Target{Scheme: "https", Host: host, Port: port}
	}
	if err != nil {
		c.to = relay.Target{}
		c.refuse(refused)
		return nil, err
	}
	c.request = c.request.WithContext(context.WithValue(ctx, connectKey{}, c))
	return c, nil
}

// A connectWriter lets the front take over a connection whose CONNECT the proxy has read. It writes nothing by itself.
type connectWriter struct{ c *connect }

func (connectWriter) Header() http.Header         { return http.Header{} }
func (connectWriter) Write(p []byte) (int, error) { return len(p), nil }
func (connectWriter) WriteHeader(int)             {}

// Hijack implements http.Hijacker.
func (w connectWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.c, nil, nil }

// link returns the recording of what passes inside CONNECT.
func (c *connect) link() *link {
	to := &c.to
	if c.to == (relay.Target{}) {
		to = nil
	}
	l := c.forward.newLink(c.Conn, to, proxyUser(c.head))
	if c.certificate != nil {
		l.Conn.Certificate = c.certificate.Subject.CommonName
	}
	return l
}

// refuse answers CONNECT with an error status, and records it.
func (c *connect) refuse(f relay.TransportError) {
	l := c.link()
	l.Request(0, c.head)
	l.RequestEnd(0, nil)
	l.Fault(0, f)
	l.Ended(0)
	relay.WriteFinal(c, relay.OwnAnswer("", f))
}

// challenge asks for the credentials that are missing or wrong.
func (c *connect) challenge() {
	c.refuse(relay.TransportError{
		Kind: relay.KindRefused, Side: relay.SideClient, Status: http.StatusProxyAuthRequired,
		Detail: "proxy credentials are missing or wrong (RFC 9110 section 15.5.8)",
	})
}

// loop refuses to connect to the forward proxy itself.
func (c *connect) loop() {
	c.refuse(relay.TransportError{
		Kind: relay.KindRefused, Side: relay.SideClient, Status: http.StatusForbidden,
		Detail: "CONNECT to this forward proxy itself, which would be a loop",
	})
}

// tunnelAsAsked passes a connection on that the user wants left alone.
func (c *connect) tunnelAsAsked() { c.tunnel("as --tunnel asks", false) }

// intercept opens a connection: its traffic is relayed and recorded, request by request. If that is impossible, the
// connection is tunneled.
func (c *connect) intercept() {
	if _, err := io.WriteString(c.Conn, established); err != nil {
		return
	}
	switch kind, err := c.sniff(c.ctx); {
	case err != nil: // the client has closed without sending anything
	case kind == protocolTLS:
		c.interceptTLS()
	case kind == protocolHTTP, kind == protocolHTTP2:
		c.to.Scheme = "http"
		c.relay(c.peekedConn, "")
	case kind == protocolSilent:
		c.tunnel(fmt.Sprintf("the client waited %v for the agent to send first, which HTTP never does",
			c.forward.sniffTimeout()), true)
	default:
		c.tunnel("it is neither TLS nor HTTP", true)
	}
}

// interceptTLS terminates the client's TLS with a known protocol: HTTP/2 if both client and agent support it (RFC
// 7301), otherwise HTTP/1.1.
func (c *connect) interceptTLS() {
	ctx, cancel := context.WithTimeout(c.ctx, c.forward.headTimeout())
	defer cancel()
	hello := c.peekHello(ctx)
	speaks := overHTTP1
	if hello != nil && len(hello.SupportedProtos) > 0 {
		offered := hello.SupportedProtos
		speaks = c.mirror(hello)
		defer c.closeAgent()
		if len(speaks) == 0 {
			c.closeAgent()
			why := "the client uses " + strings.Join(offered, ", ") + " instead of HTTP/1.1"
			if slices.Contains(offered, overHTTP2) {
				why = capture.HTTP2 + ": " + why
			}
			c.tunnel(why, true)
			return
		}
	}
	session := tls.Server(c.peekedConn, c.config(speaks))
	if err := session.HandshakeContext(ctx); err != nil {
		c.tlsFailed(err)
		return
	}
	if shown := session.ConnectionState().PeerCertificates; len(shown) > 0 {
		c.certificate = shown[0]
	}
	c.relay(session, session.ConnectionState().ServerName)
}

// The protocols of a session: RFC 9113 section 3.2, RFC 7301 section 6.
const overHTTP2 = "h2"

var overHTTP1 = []string{"http/1.1", "http/1.0"}

// mirror returns the protocol for a client: HTTP/2 if the client offers it, and the agent, dialed for this, chooses it
// among the client's offers. It returns nil if the agent chooses an unknown protocol.
func (c *connect) mirror(hello *tls.ClientHelloInfo) []string {
	both := offersHTTP1(hello.SupportedProtos)
	if slices.Contains(hello.SupportedProtos, overHTTP2) {
		offer := []string{overHTTP2}
		if both {
			offer = append(offer, "http/1.1")
		}
		c.agent, c.err = c.forward.dial(c.ctx, c.to, c.named(hello.ServerName), offer...)
		if session, ok := c.agent.(*tls.Conn); ok && session.ConnectionState().NegotiatedProtocol == overHTTP2 {
			return offer[:1]
		}
	}
	if both {
		return overHTTP1
	}
	return nil
}

// closeAgent closes a connection to the agent that was not used.
func (c *connect) closeAgent() {
	if c.agent != nil {
		c.agent.Close()
		c.agent = nil
	}
}

// dial connects to the agent, or returns the existing connection, once.
func (c *connect) dial(ctx context.Context, name string) (net.Conn, error) {
	agent, err := c.agent, c.err
	c.agent, c.err = nil, nil
	if agent == nil && err == nil {
		return c.forward.dial(ctx, c.to, name)
	}
	return agent, err
}

// named returns whom the certificate of the agent must be for.
func (c *connect) named(sni string) string { return cmp.Or(sni, c.to.Host) }

// config is the TLS configuration for impersonating the agent. The certificate is for the name in the client's hello
// (RFC 6066 section 3), or else for CONNECT's.
func (c *connect) config(protocols []string) *tls.Config {
	ask := tls.NoClientCert
	if c.forward.Recorder.AsksForCertificates() {
		ask = tls.RequestClientCert // which names the client, and authorizes it no more than a User-Agent does
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: protocols, SessionTicketsDisabled: true,
		ClientAuth: ask,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			name := hello.ServerName
			if name == "" {
				name = c.to.Host
			}
			return c.forward.Leaf(name)
		},
	}
}

// relay relays an opened connection.
func (c *connect) relay(client net.Conn, sni string) {
	l := c.link()
	c.forward.relay(c.ctx, l, c.session(l, client, sni))
}

// session returns the session of an opened connection. All its requests go to the target of CONNECT, regardless of
// their Host.
func (c *connect) session(l *link, client net.Conn, sni string) relay.Session {
	if sni != "" && hostname.Normal(sni) != hostname.Normal(c.to.Host) {
		l.sni = sni
	}
	return c.forward.session(l, client, relay.Config{
		Dial: func(ctx context.Context) (net.Conn, error) {
			agent, err := c.dial(ctx, c.named(sni))
			return c.forward.dialed(client, agent, err)
		},
		Advise: func(err error, _ string) string { return c.forward.Advise(err, c.to.Authority()) },
	})
}

// sniff reads from the client until the protocol is certain.
func (c *connect) sniff(ctx context.Context) (protocol, error) {
	defer context.AfterFunc(ctx, func() { c.Close() })()
	c.SetReadDeadline(time.Now().Add(c.forward.sniffTimeout()))
	defer c.SetReadDeadline(time.Time{})
	for {
		if len(c.peeked) > 0 {
			if kind, certain := c.detectProtocol(); certain {
				return kind, nil
			}
		}
		switch err := c.more(); {
		case errors.Is(err, os.ErrDeadlineExceeded) && len(c.peeked) == 0:
			return protocolSilent, nil
		case errors.Is(err, os.ErrDeadlineExceeded), err == io.EOF && len(c.peeked) > 0:
			return protocolOther, nil
		case err != nil:
			return protocolOther, err
		}
	}
}

// detectProtocol returns the protocol that the bytes so far show, and reports whether more bytes could change it.
func (c *connect) detectProtocol() (kind protocol, certain bool) {
	switch {
	case c.begins(tlsHandshake):
		return protocolTLS, true
	case c.begins(preface):
		return protocolHTTP2, true
	case slices.ContainsFunc(methods, c.begins):
		return protocolHTTP, true
	}
	return protocolOther, !c.mayBegin(preface) && !slices.ContainsFunc(methods, c.mayBegin)
}

// peekHello reads the client's hello without consuming it. It returns nil if it cannot; the handshake then reports why.
func (c *connect) peekHello(ctx context.Context) (hello *tls.ClientHelloInfo) {
	conn := &helloConn{peekedConn: &peekedConn{Conn: c.Conn, peeked: c.peeked}}
	enough := errors.New("the hello is read")
	err := tls.Server(conn, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		hello = h
		return nil, enough
	}}).HandshakeContext(ctx)
	c.peeked = append(conn.read, conn.peeked...)
	if !errors.Is(err, enough) {
		return nil
	}
	return hello
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
	c.tunnel("the client rejected a2atap's certificate for "+c.to.Authority()+" before", false)
}

// tlsFailed records a failed TLS handshake, and remembers a client that has rejected the certificate: its connections
// to that agent are tunneled from then on, so that it works as without the proxy.
func (c *connect) tlsFailed(err error) {
	detail, note := "TLS with the client failed: "+err.Error(), capture.NotObserved+"TLS with the client failed"
	advice := "let it use TLS 1.2 or later, or exclude the host with --tunnel " + c.to.Host
	var op *net.OpError
	switch {
	case rejectsCertificate(err):
		detail = "the client rejected a2atap's certificate: " + err.Error()
		note = capture.NotObserved + "the client did not accept a2atap's certificate"
		c.forward.rejected.add(c.rejection())
		advice = fmt.Sprintf("further connections of %s to %s are tunneled and not observed; to observe them, let "+
			"the client trust a2atap's authority (a2atap ca install, or a2atap ca env for one shell) and record again", c.clientName(),
			c.to.Authority())
	case errors.As(err, &op), errors.Is(err, io.EOF): // a reset, an end, or another alert
		detail = "the client ended the TLS handshake with a2atap: " + err.Error()
		note = capture.NotObserved + "the client ended the TLS handshake"
		advice = "if that happens each time, let it trust a2atap's authority (a2atap ca install, or a2atap ca env for one " +
			"shell), or exclude the host with --tunnel " + c.to.Host
	}
	l := c.link()
	l.Request(0, c.head)
	l.RequestEnd(0, nil)
	l.Fact(0, capture.Fact{Note: note})
	l.Fault(0, relay.TransportError{Kind: relay.KindTLS, Side: relay.SideClient, Detail: detail})
	l.Ended(0)
	c.forward.Notice(fmt.Sprintf("%s (%s): %s", strings.TrimPrefix(note, capture.NotObserved),
		c.to.Authority()+"; "+err.Error(), advice))
}

// tunnel forwards a connection's bytes without opening it. It is recorded as one exchange, with the number of bytes but
// not the bytes, so that unobserved traffic does not count as clean. The client may already have its answer to CONNECT.
func (c *connect) tunnel(why string, answered bool) {
	to := c.to
	to.Scheme = "http" // the bytes pass unchanged in any case
	l := c.link()
	l.isTunnel = true
	l.Request(0, c.head)
	defer l.Ended(0)
	l.RequestEnd(0, nil)
	l.Fact(0, capture.Fact{Note: capture.Tunnelled + why})
	agent, err := c.forward.dial(c.ctx, to, "")
	if err != nil {
		f := relay.DialFault(err, to.Authority()).Advised(c.forward.Advise(err, to.Authority()))
		if answered {
			f.Status = 0
			relay.Reset(c)
		}
		l.Fault(0, f)
		if !answered {
			relay.WriteFinal(c, relay.OwnAnswer("", f))
		}
		return
	}
	defer agent.Close()
	l.Answer(0, []byte(established))
	l.Upgraded(0)
	if !answered {
		if _, err := io.WriteString(c.Conn, established); err != nil {
			l.Fault(0, relay.TransportError{
				Kind: relay.KindClientLeft, Side: relay.SideClient,
				Detail: "connection closed before CONNECT was answered",
			})
			return
		}
	}
	both := splice{
		client: c, agent: agent, idle: c.forward.TunnelTimeout,
		request: func(p []byte) { l.RequestBody(0, p) }, answer: func(p []byte) { l.AnswerBody(0, p) },
	}
	if f := both.run(c.ctx); f != nil {
		l.Fault(0, *f)
		return
	}
	l.AnswerEnd(0, nil)
}
