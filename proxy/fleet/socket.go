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

// Bounds on the data from a server. nats.go allocates as much for a message as the server announces, and crashes the
// program if that is too much.
const (
	maxReceived = 64 << 20 // bytes of a message: the maximum that servers can be configured for
	maxLine     = 1 << 20  // bytes of a line between messages, such as INFO in a large cluster
)

// A dialer makes sockets that are closed when a context ends and that protect nats.go from the server. For that, the
// sockets also do TLS.
type dialer struct {
	life     context.Context
	patience time.Duration
	secure   bool        // TLS is required even if the server does not want it
	config   *tls.Config // never nil
	host     string      // from the user's address
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
	if net.ParseIP(config.ServerName) != nil && net.ParseIP(d.host) == nil { // a different server of the cluster
		config.ServerName = d.host
	}
	stop := context.AfterFunc(d.life, func() { plain.Close() }) //nolint:errcheck // it is left
	return &socket{Conn: plain, stop: stop, secure: d.secure, config: config, patience: d.patience}, nil
}

// SkipTLSHandshake tells nats.go that the socket does TLS.
func (d *dialer) SkipTLSHandshake() bool { return true }

// A socket is a connection that fails if the server sends something that nats.go cannot handle. The server's
// introduction is read in clear text; before the first write, TLS begins if either side wants it.
type socket struct {
	net.Conn
	stop     func() bool
	secure   bool
	config   *tls.Config
	patience time.Duration // for a handshake of TLS
	broken   error         // why the handshake failed; nil if it did not fail
	guard    guard

	info  []byte // the server's INFO line, as far as it was read
	known bool   // info is complete
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
	n, err := s.Conn.Read(p[:1]) // byte by byte: the next bytes may belong to TLS
	if s.info = append(s.info, p[:n]...); len(s.info) > maxLine {
		return 0, errLongLine
	}
	if s.known = n > 0 && p[0] == '\n'; s.known {
		s.wantTLS()
	}
	return n, err
}

// wantTLS sets secure if the server requires TLS.
func (s *socket) wantTLS() {
	_, said, _ := bytes.Cut(s.info, []byte(" "))
	var info struct {
		Required bool `json:"tls_required"`
	}
	json.Unmarshal(said, &info) //nolint:errcheck // nats.go reports what is wrong
	s.secure = s.secure || info.Required
	s.info = nil
}

// Write implements net.Conn.
func (s *socket) Write(p []byte) (int, error) {
	if s.broken != nil { // nats.go writes again when it closes the connection
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
	errLongLine  = fmt.Errorf("the server sends a line of more than %d bytes, so it is not a NATS server", maxLine)
	errNoMessage = errors.New("the server sends a message without its length or its end, so it is not a NATS server")
)

// A guard parses a server's lines and messages.
type guard struct {
	line    []byte // the beginning of an incomplete line
	payload int    // bytes of the message that are still to come
	ends    bool   // the empty line that ends a message is still to come
}

// look parses the next bytes, and returns an error if nats.go must not read them.
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

// take parses a line.
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
		return fmt.Errorf("the server announces a message of %s bytes; the limit is %d", words[len(words)-1], maxReceived)
	}
	g.payload, g.ends = int(size), true
	return nil
}
