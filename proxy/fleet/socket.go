package fleet

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// Bounds of what a server sends. nats.go takes room for a message as long as the server says that it is, and ends the
// program where there cannot be so much.
const (
	maxReceived = 64 << 20 // bytes of a message: what servers can be set to at the most
	maxLine     = 1 << 20  // of a line between messages, such as INFO in a large cluster
)

// A dialer makes sockets that are closed when a context ends, for which nats.go waits, and that are guarded against the
// server. So that they can be, TLS is theirs, too.
type dialer struct {
	life     context.Context
	patience time.Duration
	secure   bool        // TLS is wanted, whatever the server wants
	config   *tls.Config // never nil
	host     string      // that the user named
}

// Dial implements nats.CustomDialer.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	by := net.Dialer{Timeout: d.patience}
	plain, err := by.DialContext(d.life, network, address)
	if err != nil {
		return nil, err
	}
	config := d.config.Clone()
	config.ServerName, _, _ = net.SplitHostPort(address)
	if net.ParseIP(config.ServerName) != nil && net.ParseIP(d.host) == nil { // another server of the cluster
		config.ServerName = d.host
	}
	stop := context.AfterFunc(d.life, func() { plain.Close() }) //nolint:errcheck // it is left
	return &socket{Conn: plain, stop: stop, secure: d.secure, config: config, patience: d.patience}, nil
}

// SkipTLSHandshake tells nats.go that TLS is the socket's.
func (d *dialer) SkipTLSHandshake() bool { return true }

// A socket is a connection to a server that fails where the server sends what nats.go cannot bear. Until the server has
// introduced itself it is read in the clear; then, before the first write, TLS begins if either side wants it.
type socket struct {
	net.Conn
	stop     func() bool
	secure   bool
	config   *tls.Config
	patience time.Duration // for a handshake of TLS
	broken   error         // why the handshake failed; nil if it has not
	guard    guard

	info  []byte // the line with which a server introduces itself, as far as it was read
	known bool   // it was read
}

// Read implements net.Conn.
func (s *socket) Read(p []byte) (int, error) {
	if s.known {
		n, err := s.Conn.Read(p)
		if wrong := s.guard.look(p[:n]); wrong != nil {
			s.Close() //nolint:errcheck // it is left
			return 0, wrong
		}
		return n, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := s.Conn.Read(p[:1]) // nothing that belongs to TLS
	if s.info = append(s.info, p[:n]...); len(s.info) > maxLine {
		return 0, errLongLine
	}
	if s.known = n > 0 && p[0] == '\n'; s.known {
		s.wantTLS()
	}
	return n, err
}

// wantTLS finds out whether the server wants TLS.
func (s *socket) wantTLS() {
	_, said, _ := bytes.Cut(s.info, []byte(" "))
	var info struct {
		Required bool `json:"tls_required"`
	}
	json.Unmarshal(said, &info) //nolint:errcheck // nats.go says what is wrong with it
	s.secure = s.secure || info.Required
	s.info = nil
}

// Write implements net.Conn.
func (s *socket) Write(p []byte) (int, error) {
	if s.broken != nil { // nats.go writes once more when it closes the connection
		return 0, s.broken
	}
	if s.secure {
		session := tls.Client(s.Conn, s.config)
		ctx, cancel := context.WithTimeout(context.Background(), s.patience)
		defer cancel()
		if err := session.HandshakeContext(ctx); err != nil {
			s.broken = fmt.Errorf("%w: %w", nats.ErrTLS, err)
			return 0, s.broken
		}
		s.Conn, s.secure = session, false
	}
	return s.Conn.Write(p)
}

// Close implements net.Conn.
func (s *socket) Close() error {
	s.stop()
	return s.Conn.Close()
}

var (
	errLongLine  = fmt.Errorf("the server sends a line of more than %d bytes, which is not NATS", maxLine)
	errNoMessage = errors.New("the server sends a message without its length, or without its end, which is not NATS")
)

// A guard follows what a server sends, and knows its lines and messages.
type guard struct {
	line    []byte // the beginning of one
	payload int    // bytes of a message that are to come
	ends    bool   // an empty line is to come: the end of a message
}

// look takes the next bytes, and returns why they must not be read.
func (g *guard) look(p []byte) error {
	for len(p) > 0 {
		if g.payload > 0 {
			n := min(g.payload, len(p))
			p, g.payload = p[n:], g.payload-n
			continue
		}
		end := bytes.IndexByte(p, '\n')
		whole := end >= 0
		if !whole {
			end = len(p) - 1
		}
		g.line = append(g.line, p[:end+1]...)
		if p = p[end+1:]; len(g.line) > maxLine {
			return errLongLine
		}
		if !whole {
			return nil
		}
		if err := g.take(g.line); err != nil {
			return err
		}
		g.line = g.line[:0]
	}
	return nil
}

// take takes a line.
func (g *guard) take(line []byte) error {
	if g.ends {
		if g.ends = false; string(line) != "\r\n" {
			return errNoMessage
		}
		return nil
	}
	words := bytes.Fields(line)
	if len(words) == 0 || !bytes.EqualFold(words[0], []byte("MSG")) && !bytes.EqualFold(words[0], []byte("HMSG")) {
		return nil
	}
	size, err := strconv.ParseUint(string(words[len(words)-1]), 10, 63)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return errNoMessage
	case err != nil || size > maxReceived:
		return fmt.Errorf("the server announces a message of %s bytes; %d is the most", words[len(words)-1], maxReceived)
	}
	g.payload, g.ends = int(size), true
	return nil
}
