// Package outbound makes the connections to agents: through an upstream proxy if configured, verified with the trusted
// authorities, and with a client certificate for agents that ask for one. If a connection fails, it suggests the flag
// that helps, so every command with the flags of [a2atap/replay/client/setup.ReachFlags] gives the same advice.
//
// # What will surprise
//
//   - Agents on this machine are reached directly, even if a proxy is named.
//   - Through an HTTP proxy each connection is a tunnel (CONNECT, RFC 9110 section 9.3.6), also one to an agent without
//     TLS: the bytes are those that would go to the agent itself.
//   - No environment variable is read unless the proxy is the environment's ([ParseProxy]).
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
	Certificate *tls.Certificate // for agents that ask for one; may be nil
	Proxy       *Proxy           // on the way to agents; may be nil

	// Asked is called when an agent asks for a certificate and Certificate is nil, Unverified when Insecure accepts an
	// invalid certificate, with the reason. Either may be nil. The address is the agent's host:port.
	Asked      func(address string)
	Unverified func(address string, why error)

	once     sync.Once
	sessions tls.ClientSessionCache
}

// Dial connects to an agent at host:port, with TLS for the name if secure. Before any byte is sent, check may return an
// error to reject the connection, which goes to the proxy if there is one; a nil check accepts all. The context bounds
// only connecting. Protocols are offered with TLS (RFC 7301), HTTP/1.1 if empty.
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
			if d.Certificate != nil { // even if the agent names other authorities: its error is more specific
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

// verify verifies a certificate like the handshake without Insecure.
func (d *Dialer) verify(chain []*x509.Certificate, name string) error {
	options := x509.VerifyOptions{Roots: d.Roots, DNSName: name, Intermediates: x509.NewCertPool()}
	for _, c := range chain[1:] {
		options.Intermediates.AddCert(c)
	}
	_, err := chain[0].Verify(options)
	return err
}

// An askedError is a handshake error after the agent had asked for a certificate, and got none.
type askedError struct{ error }

// Unwrap returns the error itself.
func (e *askedError) Unwrap() error { return e.error }

// A handshakeError is why the TLS handshake failed on a connection that was made.
type handshakeError struct{ error }

// Unwrap returns the error itself.
func (e *handshakeError) Unwrap() error { return e.error }

// InHandshake distinguishes the error from connection errors.
func (*handshakeError) InHandshake() bool { return true }

// isUntrusted reports whether a certificate was not taken.
func isUntrusted(err error) bool {
	var verify *tls.CertificateVerificationError
	return errors.As(err, &verify)
}

// isNetwork reports whether an error is from connecting: refused, unreachable, timed out, or an unknown host name.
func isNetwork(err error) bool {
	var op *net.OpError
	var ne net.Error
	return errors.As(err, &op) || errors.As(err, &ne)
}
