package outbound

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Configure makes a transport of net/http connect to agents as Dial does. A transport keeps its own proxy where there
// is none on the way.
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

// Explain returns an error of a connection to an agent at host:port with what there is to advise at its end, nil for
// nil. A nil Dialer has the advice of one without options.
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

// An advisedError is an error with what to do about it.
type advisedError struct {
	error
	advice string
}

// Error implements error.
func (e *advisedError) Error() string { return e.error.Error() + "; " + e.advice }

// Unwrap returns the error itself.
func (e *advisedError) Unwrap() error { return e.error }

// AdviceIn returns the advice that Explain has put into an error, empty if there is none.
func AdviceIn(err error) string {
	if e, ok := errors.AsType[*advisedError](err); ok {
		return e.advice
	}
	return ""
}

// Cause strips the prefix that package net adds to an error, which the caller's message says already. Advice stays.
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
