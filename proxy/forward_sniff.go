package proxy

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

// maxSniffPatience is how long a client that got its CONNECT may be silent, at most, before we take it that the agent is to
// speak first.
const maxSniffPatience = 5 * time.Second

// A replayed connection gives bytes again that were read from it.
type replayed struct {
	net.Conn
	early []byte
}

// Read implements net.Conn.
func (r *replayed) Read(p []byte) (int, error) {
	if len(r.early) == 0 {
		return r.Conn.Read(p)
	}
	n := copy(p, r.early)
	r.early = r.early[n:]
	return n, nil
}

// CloseWrite ends our sending.
func (r *replayed) CloseWrite() error { return closeWrite(r.Conn) }

// NetConn returns the connection below.
func (r *replayed) NetConn() net.Conn { return r.Conn }

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// more reads once and adds to what is given again.
func (r *replayed) more() error {
	var piece [4 << 10]byte
	n, err := r.Conn.Read(piece[:])
	r.early = append(r.early, piece[:n]...)
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// begins tells whether the bytes that are there begin so.
func (r *replayed) begins(prefix string) bool { return bytes.HasPrefix(r.early, []byte(prefix)) }

// mayBegin tells whether they do so as far as they are there.
func (r *replayed) mayBegin(prefix string) bool {
	n := min(len(r.early), len(prefix))
	return string(r.early[:n]) == prefix[:n]
}

// firstBytes reads from a client until it is certain whether it asks for CONNECT. A client that is silent, or slow to say
// so, is given as long as between requests, or for a head.
func (f *Forward) firstBytes(ctx context.Context, conn net.Conn) (*replayed, error) {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	client := &replayed{Conn: conn}
	for patience := f.proxy.opts.IdleTimeout; !client.begins("CONNECT ") && client.mayBegin("CONNECT "); patience = f.headTimeout() {
		if patience > 0 {
			conn.SetReadDeadline(time.Now().Add(patience))
		}
		if err := client.more(); err != nil {
			if err == io.EOF && len(client.early) > 0 {
				break // the relay records what there is
			}
			return nil, err
		}
	}
	return client, conn.SetReadDeadline(time.Time{})
}

// headTimeout is how long a head or a handshake may take.
func (f *Forward) headTimeout() time.Duration {
	if f.proxy.opts.HeadTimeout > 0 {
		return f.proxy.opts.HeadTimeout
	}
	return DefaultHeadTimeout
}

// sniffPatience is how long a client may be silent inside CONNECT.
func (f *Forward) sniffPatience() time.Duration { return min(maxSniffPatience, f.headTimeout()) }

var errHeadTooLong = errors.New("the head of CONNECT is too long")

// takeHead reads a head to its blank line, and takes it off what is given again. With an error it returns what there is.
func (r *replayed) takeHead(patience time.Duration) ([]byte, error) {
	r.SetReadDeadline(time.Now().Add(patience))
	for {
		if end := headEnd(r.early); end > 0 {
			head := r.early[:end:end]
			r.early = r.early[end:]
			return head, r.SetReadDeadline(time.Time{})
		}
		if len(r.early) > relay.DefaultHeadLimit {
			return r.early, errHeadTooLong
		}
		if err := r.more(); err != nil {
			return r.early, err
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

// What a client speaks inside CONNECT.
type speech int

const (
	speaksOther speech = iota
	speaksTLS
	speaksHTTP
	speaksHTTP2 // without TLS
	saysNothing
)

// tlsHandshake is the type of the record that TLS begins with: RFC 8446 section 5.1.
const tlsHandshake = "\x16"

// methods begin HTTP in the clear.
var methods = []string{"GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "PATCH ", "OPTIONS ", "TRACE "}

// preface begins HTTP/2: RFC 9113 section 3.4.
const preface = "PRI * HTTP/2.0\r\n"

// sniff reads from the client until it is certain what it speaks.
func (c *connect) sniff(ctx context.Context) (speech, error) {
	defer context.AfterFunc(ctx, func() { c.Close() })()
	c.SetReadDeadline(time.Now().Add(c.forward.sniffPatience()))
	defer c.SetReadDeadline(time.Time{})
	for {
		if len(c.early) > 0 {
			if kind, certain := c.speech(); certain {
				return kind, nil
			}
		}
		switch err := c.more(); {
		case errors.Is(err, os.ErrDeadlineExceeded) && len(c.early) == 0:
			return saysNothing, nil
		case errors.Is(err, os.ErrDeadlineExceeded), err == io.EOF && len(c.early) > 0:
			return speaksOther, nil
		case err != nil:
			return speaksOther, err
		}
	}
}

// speech judges the bytes that are there, and tells whether more could change it.
func (c *connect) speech() (kind speech, certain bool) {
	switch {
	case c.begins(tlsHandshake):
		return speaksTLS, true
	case c.begins(preface):
		return speaksHTTP2, true
	case slices.ContainsFunc(methods, c.begins):
		return speaksHTTP, true
	}
	return speaksOther, !c.mayBegin(preface) && !slices.ContainsFunc(methods, c.mayBegin)
}

// peekHello reads the client's hello, without taking it off what is given again. It is nil if it cannot be read; then the
// handshake says why.
func (c *connect) peekHello(ctx context.Context) (hello *tls.ClientHelloInfo) {
	ear := &listening{replayed: &replayed{Conn: c.Conn, early: c.early}}
	enough := errors.New("the hello is read")
	err := tls.Server(ear, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		hello = h
		return nil, enough
	}}).HandshakeContext(ctx)
	c.early = append(ear.heard, ear.early...)
	if !errors.Is(err, enough) {
		return nil
	}
	return hello
}

// A listening connection keeps what is read from it, and says nothing.
type listening struct {
	*replayed
	heard []byte
}

// Read implements net.Conn.
func (l *listening) Read(p []byte) (int, error) {
	n, err := l.replayed.Read(p)
	l.heard = append(l.heard, p[:n]...)
	return n, err
}

// Write implements net.Conn. It is told an alert, which nobody is to hear.
func (l *listening) Write(p []byte) (int, error) { return len(p), nil }

// speaksHTTP1 tells whether one of the protocols that a client offers is HTTP/1 (RFC 7301).
func speaksHTTP1(offered []string) bool {
	return slices.ContainsFunc(offered, func(p string) bool { return strings.HasPrefix(p, "http/1.") })
}
