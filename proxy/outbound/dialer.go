// Package outbound makes the connections to agents: through another proxy if there is one on the way, verified by the
// authorities that are trusted, and with a client certificate for agents that ask for one. It says which flag helps
// where a connection fails, so every command with the flags of [a2atap/replay/client/setup.ReachFlags] gives the same
// advice.
//
// # What will surprise
//
//   - Agents on this machine are reached directly, whatever proxy is named.
//   - Through an HTTP proxy each connection is a tunnel (CONNECT, RFC 9110 section 9.3.6), also one to an agent without
//     TLS: the bytes are those that would go to the agent itself.
//   - No variable of the environment is read unless the proxy is that of the environment ([ParseProxy]).
package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"sync"
)

// A Dialer connects to agents. The zero Dialer connects directly and verifies certificates by the system's authorities.
// It is safe for concurrent use; its fields must not be changed once it is used.
type Dialer struct {
	Roots       *x509.CertPool   // that certificates are verified against; nil is the system's
	Insecure    bool             // certificates are not verified
	Certificate *tls.Certificate // shown to agents that ask for one; nil is none
	Proxy       *Proxy           // on the way to agents; nil is none

	// Asked is called when an agent asks for a certificate and there is none, Unverified where Insecure takes a
	// certificate that is not valid, with the reason. Either may be nil. The address is host:port of the agent.
	Asked      func(address string)
	Unverified func(address string, why error)

	once     sync.Once
	sessions tls.ClientSessionCache
}

// Dial connects to an agent at host:port, with TLS for the name if secure. Before any byte is sent, check may say why
// the connection, which is one to the proxy if there is one on the way, must not be used; nil lets all pass. The context
// bounds connecting alone. Protocols are what is offered with TLS (RFC 7301), HTTP/1.1 if there are none.
//
// Errors about the proxy are of [*ProxyError].
func (d *Dialer) Dial(
	ctx context.Context, address string, secure bool, name string, check func(net.Conn) error, protocols ...string,
) (net.Conn, error) {
	conn, err := d.reach(ctx, address, secure, check)
	if err != nil || !secure {
		return conn, err
	}
	if len(protocols) == 0 {
		protocols = []string{"http/1.1"}
	}
	session, err := d.secure(ctx, conn, address, name, protocols)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return session, nil
}

// reach returns a connection on which the agent is, in the clear.
func (d *Dialer) reach(ctx context.Context, address string, secure bool, check func(net.Conn) error) (net.Conn, error) {
	via, err := d.Proxy.of(address, secure)
	if err != nil {
		return nil, err
	}
	if via != nil {
		return d.through(ctx, via, address, check)
	}
	return dialTCP(ctx, address, check)
}

// dialTCP connects, and asks check.
func dialTCP(ctx context.Context, address string, check func(net.Conn) error) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil || check == nil {
		return conn, err
	}
	if err := check(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// secure begins TLS.
func (d *Dialer) secure(
	ctx context.Context, conn net.Conn, address, name string, protocols []string,
) (net.Conn, error) {
	d.once.Do(func() { d.sessions = tls.NewLRUClientSessionCache(256) })
	asked := false
	config := &tls.Config{
		RootCAs: d.Roots, ServerName: name, MinVersion: tls.VersionTLS12, ClientSessionCache: d.sessions,
		NextProtos:         protocols,
		InsecureSkipVerify: d.Insecure,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if d.Certificate != nil { // also if the agent names other authorities: it says more of that than we could
				return d.Certificate, nil
			}
			asked = true
			if d.Asked != nil {
				d.Asked(address)
			}
			return new(tls.Certificate), nil
		},
	}
	if d.Insecure {
		config.VerifyConnection = func(s tls.ConnectionState) error {
			if err := d.verify(s.PeerCertificates, name); err != nil && d.Unverified != nil {
				d.Unverified(address, err)
			}
			return nil
		}
	}
	session := tls.Client(conn, config)
	if err := session.HandshakeContext(ctx); err != nil {
		if asked {
			err = &askedError{err}
		}
		return nil, &handshakeError{err}
	}
	return session, nil
}

// verify does what the handshake does without Insecure.
func (d *Dialer) verify(chain []*x509.Certificate, name string) error {
	options := x509.VerifyOptions{Roots: d.Roots, DNSName: name, Intermediates: x509.NewCertPool()}
	for _, c := range chain[1:] {
		options.Intermediates.AddCert(c)
	}
	_, err := chain[0].Verify(options)
	return err
}

// An askedError is how a handshake failed after the agent had asked for a certificate, and got none.
type askedError struct{ error }

// Unwrap returns the error itself.
func (e *askedError) Unwrap() error { return e.error }

// A handshakeError is why the TLS handshake failed on a connection that was made.
type handshakeError struct{ error }

// Unwrap returns the error itself.
func (e *handshakeError) Unwrap() error { return e.error }

// InHandshake tells the error from those of connecting.
func (*handshakeError) InHandshake() bool { return true }

// isUntrusted reports whether a certificate was not taken.
func isUntrusted(err error) bool {
	var verify *tls.CertificateVerificationError
	return errors.As(err, &verify)
}

// isNetwork reports whether an error is of connecting: refused, unreachable, too slow, or a name that nobody knows.
func isNetwork(err error) bool {
	var op *net.OpError
	var ne net.Error
	return errors.As(err, &op) || errors.As(err, &ne)
}
