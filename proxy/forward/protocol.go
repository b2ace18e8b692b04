package forward

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/relay"
)

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

// begins reports whether the bytes so far begin with the prefix.
func (r *peekedConn) begins(prefix string) bool { return bytes.HasPrefix(r.peeked, []byte(prefix)) }

// mayBegin reports whether the bytes so far are consistent with the prefix.
func (r *peekedConn) mayBegin(prefix string) bool {
	n := min(len(r.peeked), len(prefix))
	return string(r.peeked[:n]) == prefix[:n]
}

var errHeadTooLong = errors.New("the CONNECT head is too long")

// takeHead reads a head up to its blank line, and removes it from the data to be read again. With an error it returns
// the data so far.
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

// headEnd returns the length of the head at the beginning of b, or 0 if it is incomplete.
func headEnd(b []byte) int {
	end := len(b) + 1
	for _, blank := range []string{"\n\r\n", "\n\n"} {
		if i := bytes.Index(b, []byte(blank)); i >= 0 {
			end = min(end, i+len(blank))
		}
	}
	return end % (len(b) + 1)
}

// A protocol is the protocol of a client inside CONNECT.
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

// A helloConn records the data read from it, and discards writes.
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

// Write implements net.Conn. Only alerts are written, and they must not be sent.
func (l *helloConn) Write(p []byte) (int, error) { return len(p), nil }

// offersHTTP1 reports whether one of the protocols that a client offers is HTTP/1 (RFC 7301).
func offersHTTP1(offered []string) bool {
	return slices.ContainsFunc(offered, func(p string) bool { return strings.HasPrefix(p, "http/1.") })
}
