package forward

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/relay"
)

// maxSniffTimeout is how long a client that got its CONNECT may be silent, at most, before we take it that the agent is
// to speak first.
const maxSniffTimeout = 5 * time.Second

// A peekedConn is a connection whose first bytes were read already, and are read again.
type peekedConn struct {
	net.Conn
	peeked []byte
}

// Read implements net.Conn.
func (r *peekedConn) Read(p []byte) (int, error) {
	if len(r.peeked) == 0 {
		return r.Conn.Read(p)
	}
	n := copy(p, r.peeked)
	r.peeked = r.peeked[n:]
	return n, nil
}

// CloseWrite ends our sending.
func (r *peekedConn) CloseWrite() error {
	relay.CloseWrite(r.Conn)
	return nil
}

// NetConn returns the connection below.
func (r *peekedConn) NetConn() net.Conn { return r.Conn }

// more reads once and adds to what is given again.
func (r *peekedConn) more() error {
	var piece [4 << 10]byte
	n, err := r.Conn.Read(piece[:])
	r.peeked = append(r.peeked, piece[:n]...)
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// begins reports whether the bytes that are there begin so.
func (r *peekedConn) begins(prefix string) bool { return bytes.HasPrefix(r.peeked, []byte(prefix)) }

// mayBegin reports whether they do so as far as they are there.
func (r *peekedConn) mayBegin(prefix string) bool {
	n := min(len(r.peeked), len(prefix))
	return string(r.peeked[:n]) == prefix[:n]
}

// firstBytes reads from a client until it is certain whether it asks for CONNECT. A client that is silent, or slow to
// say so, is given as long as between requests, or for a head.
func (f *Proxy) firstBytes(ctx context.Context, conn net.Conn) (*peekedConn, error) {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	client := &peekedConn{Conn: conn}
	const method = "CONNECT "
	timeout := f.IdleTimeout
	for ; !client.begins(method) && client.mayBegin(method); timeout = f.headTimeout() {
		if timeout > 0 {
			conn.SetReadDeadline(time.Now().Add(timeout))
		}
		if err := client.more(); err != nil {
			if err == io.EOF && len(client.peeked) > 0 {
				break // the relay records what there is
			}
			return nil, err
		}
	}
	return client, conn.SetReadDeadline(time.Time{})
}

// headTimeout is how long a head or a handshake may take.
func (f *Proxy) headTimeout() time.Duration {
	if f.HeadTimeout > 0 {
		return f.HeadTimeout
	}
	return DefaultHeadTimeout
}

// sniffTimeout is how long a client may be silent inside CONNECT.
func (f *Proxy) sniffTimeout() time.Duration { return min(maxSniffTimeout, f.headTimeout()) }

var errHeadTooLong = errors.New("the head of CONNECT is too long")

// takeHead reads a head to its blank line, and takes it off what is given again. With an error it returns what there
// is.
func (r *peekedConn) takeHead(timeout time.Duration) ([]byte, error) {
	r.SetReadDeadline(time.Now().Add(timeout))
	for {
		if end := headEnd(r.peeked); end > 0 {
			head := r.peeked[:end:end]
			r.peeked = r.peeked[end:]
			return head, r.SetReadDeadline(time.Time{})
		}
		if len(r.peeked) > relay.DefaultHeadLimit {
			return r.peeked, errHeadTooLong
		}
		if err := r.more(); err != nil {
			return r.peeked, err
		}
	}
}

// headEnd returns the length of the head that b begins with, 0 if its end is not there.
func headEnd(b []byte) int {
	end := len(b) + 1
	for _, blank := range []string{"\n\r\n", "\n\n"} {
		if i := bytes.Index(b, []byte(blank)); i >= 0 {
			end = min(end, i+len(blank))
		}
	}
	return end % (len(b) + 1)
}

// A protocol is what a client speaks inside CONNECT.
type protocol int

const (
	protocolOther protocol = iota
	protocolTLS
	protocolHTTP
	protocolHTTP2 // without TLS
	protocolSilent
)

// tlsHandshake is the type of the record that TLS begins with: RFC 8446 section 5.1.
const tlsHandshake = "\x16"

// methods begin HTTP in the clear.
var methods = []string{"GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "PATCH ", "OPTIONS ", "TRACE "}

// preface begins HTTP/2: RFC 9113 section 3.4.
const preface = "PRI * HTTP/2.0\r\n"

// sniff reads from the client until it is certain what it speaks.
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

// detectProtocol judges the bytes that are there, and reports whether more could change it.
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

// peekHello reads the client's hello, without taking it off what is given again. It is nil if it cannot be read; then
// the handshake says why.
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

// A helloConn keeps what is read from it, and discards what is written.
type helloConn struct {
	*peekedConn
	read []byte
}

// Read implements net.Conn.
func (l *helloConn) Read(p []byte) (int, error) {
	n, err := l.peekedConn.Read(p)
	l.read = append(l.read, p[:n]...)
	return n, err
}

// Write implements net.Conn. What is written is an alert, which must not be sent.
func (l *helloConn) Write(p []byte) (int, error) { return len(p), nil }

// offersHTTP1 reports whether one of the protocols that a client offers is HTTP/1 (RFC 7301).
func offersHTTP1(offered []string) bool {
	return slices.ContainsFunc(offered, func(p string) bool { return strings.HasPrefix(p, "http/1.") })
}
