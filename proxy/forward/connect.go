package forward

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"a2atap/proxy/hostname"
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
	to      relay.Target // as it is named; https until the first bytes show it

	certificate *x509.Certificate // that the client has shown inside; nil if none was asked for, or shown
}

type connectKey struct{}

// connectOf returns what a request that the front decides about belongs to.
func connectOf(r *http.Request) *connect { return r.Context().Value(connectKey{}).(*connect) }

// readConnect reads the head of CONNECT. One that cannot be read is refused and recorded.
func (f *Proxy) readConnect(ctx context.Context, client *peekedConn) (*connect, error) {
	stop := context.AfterFunc(ctx, func() { client.Close() })
	head, err := client.takeHead(f.headTimeout())
	stop() // what refuses it takes no longer than the client needs to read that
	c := &connect{peekedConn: client, forward: f, head: head, ctx: ctx}
	refused := relay.Fault{
		Kind: relay.KindRefused, Side: relay.SideClient,
		Detail: "malformed head of CONNECT (RFC 9112 section 3)", Status: 400,
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		refused.Kind, refused.Status = relay.KindTimeout, 408
		refused.Detail = "head of CONNECT was not complete in time (RFC 9110 section 15.5.9)"
	case errors.Is(err, errHeadTooLong):
		refused.Detail, refused.Status = "head of CONNECT is too long (RFC 6585 section 5)", 431
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

// A connectWriter lets the front take over a connection whose CONNECT we have read. It writes nothing by itself.
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

// refuse answers CONNECT with a status of ours, and records it.
func (c *connect) refuse(f relay.Fault) {
	l := c.link()
	l.Request(0, c.head)
	l.RequestEnd(0, nil)
	l.Fault(0, f)
	l.Ended(0)
	relay.WriteFinal(c, relay.OwnAnswer("", f))
}

// challenge asks for the credentials that are missing or wrong.
func (c *connect) challenge() {
	c.refuse(relay.Fault{
		Kind: relay.KindRefused, Side: relay.SideClient, Status: http.StatusProxyAuthRequired,
		Detail: "proxy credentials are missing or wrong (RFC 9110 section 15.5.8)",
	})
}

// loop refuses to connect to the forward proxy itself.
func (c *connect) loop() {
	c.refuse(relay.Fault{
		Kind: relay.KindRefused, Side: relay.SideClient, Status: http.StatusForbidden,
		Detail: "CONNECT to this forward proxy itself, which would be a loop",
	})
}

// tunnelAsAsked passes a connection on that the user wants left alone.
func (c *connect) tunnelAsAsked() { c.tunnel("as --tunnel asks", false) }

// intercept opens a connection: what passes in it is relayed and recorded, request by request. What cannot be opened is
// tunnelled.
func (c *connect) intercept() {
	if _, err := io.WriteString(c.Conn, established); err != nil {
		return
	}
	switch kind, err := c.sniff(c.ctx); {
	case err != nil: // the client has closed without sending anything
	case kind == protocolTLS:
		c.interceptTLS()
	case kind == protocolHTTP:
		c.to.Scheme = "http"
		c.relay(c.peekedConn, "")
	case kind == protocolHTTP2:
		c.tunnel("it is HTTP/2 from the start, which a2atap does not open", true)
	case kind == protocolSilent:
		c.tunnel(fmt.Sprintf("the client waited %v for the agent to begin, which no HTTP does",
			c.forward.sniffTimeout()), true)
	default:
		c.tunnel("it is neither TLS nor HTTP", true)
	}
}

// interceptTLS ends the client's TLS here, where HTTP/1.1 can be negotiated.
func (c *connect) interceptTLS() {
	ctx, cancel := context.WithTimeout(c.ctx, c.forward.headTimeout())
	defer cancel()
	hello := c.peekHello(ctx)
	if hello != nil && len(hello.SupportedProtos) > 0 && !offersHTTP1(hello.SupportedProtos) {
		c.tunnel("the client speaks "+strings.Join(hello.SupportedProtos, ", ")+" and not HTTP/1.1", true)
		return
	}
	session := tls.Server(c.peekedConn, c.config())
	if err := session.HandshakeContext(ctx); err != nil {
		c.tlsFailed(err)
		return
	}
	if shown := session.ConnectionState().PeerCertificates; len(shown) > 0 {
		c.certificate = shown[0]
	}
	c.relay(session, session.ConnectionState().ServerName)
}

// config is how we play the agent towards a client. It takes the certificate for the name that the client means: that
// in its hello (RFC 6066 section 3), else that of CONNECT.
func (c *connect) config() *tls.Config {
	ask := tls.NoClientCert
	if c.forward.Recorder.AsksForCertificates() {
		ask = tls.RequestClientCert // which names the client, and lets it in or not no more than a User-Agent does
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1", "http/1.0"}, SessionTicketsDisabled: true,
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

// session returns the session of an opened connection. All its requests go to the target of CONNECT, whatever their Host
// says.
func (c *connect) session(l *link, client net.Conn, sni string) relay.Session {
	name := c.to.Host
	if sni != "" {
		name = sni
	}
	if sni != "" && hostname.Normal(sni) != hostname.Normal(c.to.Host) {
		l.sni = sni
	}
	return c.forward.session(l, client, relay.Config{
		Dial: func(ctx context.Context) (net.Conn, error) {
			return c.forward.dial(ctx, c.to, name)
		},
		Advise: func(err error, _ string) string { return c.forward.Advise(err, c.to.Authority()) },
	})
}
