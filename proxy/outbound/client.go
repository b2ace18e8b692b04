package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"a2atap/proxy/hostname"
	"a2atap/proxy/scheme"
)

// Configure makes a transport of net/http connect to agents as Dial does. A transport keeps its own proxy if the Dialer
// has none.
func (d *Dialer) Configure(t *http.Transport) {
	t.TLSClientConfig = &tls.Config{
		RootCAs: d.Roots, InsecureSkipVerify: d.Insecure, MinVersion: tls.VersionTLS12,
	}
	if d.Certificate != nil {
		t.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return d.Certificate, nil
		}
	}
	if d.Proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) { return d.Proxy.For(r.URL) }
	}
}

// Explain appends advice to a connection error of an agent at host:port; nil for nil. A nil Dialer advises like one
// without options.
func (d *Dialer) Explain(err error, address string) error {
	if err == nil {
		return nil
	}
	if d == nil {
		d = &Dialer{}
	}
	if advice := d.Advice(err, address); advice != "" {
		return &advisedError{err, advice}
	}
	return err
}

// ExplainSilence adds to an error of a plain connection that the agent of a URL closed before it answered whether the
// agent speaks TLS. It opens one more connection for that, and trusts any certificate, since it sends only a handshake.
func (d *Dialer) ExplainSilence(ctx context.Context, err error, agent *url.URL) error {
	if d == nil {
		d = &Dialer{}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) || agent.Scheme != "http" ||
		!d.speaksTLS(ctx, hostname.HostPort(agent)) {
		return err
	}
	return &advisedError{err, scheme.SpeaksTLS}
}

func (d *Dialer) speaksTLS(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := d.reach(ctx, address, true, nil)
	if err != nil {
		return false
	}
	defer conn.Close()
	err = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) //nolint:gosec // see above
	return err == nil || isAlert(err)
}

// An advisedError is an error with what to do about it.
type advisedError struct {
	error
	advice string
}

// Error implements error.
func (e *advisedError) Error() string { return e.error.Error() + "; " + e.advice }

// Unwrap returns the error itself.
func (e *advisedError) Unwrap() error { return e.error }

// AdviceIn returns the advice that Explain has put into an error; may be empty.
func AdviceIn(err error) string {
	if e, ok := errors.AsType[*advisedError](err); ok {
		return e.advice
	}
	return ""
}

// Cause strips the prefix that package net adds to an error, which the caller's message already has. Advice stays.
func Cause(err error) error {
	advice := AdviceIn(err)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if sys, ok := errors.AsType[*os.SyscallError](err); ok {
		err = sys.Err
	}
	if advice != "" && !strings.HasSuffix(err.Error(), advice) {
		return fmt.Errorf("%w; %s", err, advice)
	}
	return err
}

// OnlyHTTP2 lets a transport speak HTTP/2 alone: with prior knowledge in the clear, and chosen by ALPN on TLS.
//
// Source: RFC 9113 section 3.
func OnlyHTTP2(t *http.Transport) {
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP2(true)
	t.Protocols.SetUnencryptedHTTP2(true)
}
