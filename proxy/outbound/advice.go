package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"a2atap/proxy/hostname"
	"a2atap/proxy/scheme"
)

// insecureHelps ends messages about certificates.
const insecureHelps = "; --insecure accepts any certificate"

// Advice suggests what to do about a connection error of an agent at host:port, and with which flag; empty if the only
// advice is to start the agent. The error may come from Dial, or from reading such a connection: in TLS 1.3, an agent
// reports a missing certificate after the handshake (RFC 8446 section 4.4.2.4).
func (d *Dialer) Advice(err error, address string) string {
	var (
		via     *ProxyError
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &via):
		return via.advice()
	case errors.As(err, &unknown):
		return "trust the authority that issued its certificate with --agent-ca FILE (PEM)" + insecureHelps
	case errors.As(err, &name):
		return nameAdvice(name) + insecureHelps
	case errors.As(err, &invalid):
		return invalidAdvice(invalid) + insecureHelps
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return scheme.SpeaksPlainHTTP
	case isTLSAnswer(err):
		return scheme.SpeaksTLS
	case isAlert(err):
		return d.alertAdvice(err)
	}
	host, _, splitErr := net.SplitHostPort(address)
	if splitErr != nil || d.Proxy != nil || hostname.IsLoopback(hostname.Normal(host)) || !isNetwork(err) {
		return ""
	}
	return "make sure that the agent runs and listens there; if a firewall lets only a proxy through, name the proxy with " +
		"--upstream-proxy URL, or --upstream-proxy env"
}

// advice suggests what to do about the proxy.
func (e *ProxyError) advice() string {
	switch {
	case e.Status == http.StatusProxyAuthRequired:
		return "give its credentials: --upstream-proxy @FILE, with http://USER:PASSWORD@HOST:PORT in the file"
	case e.Status != 0:
		return "check the proxy's log to see whether it may connect there, and that the agent runs"
	case e.untrusted:
		return "trust the authority that issued the proxy's certificate with --agent-ca FILE (PEM)"
	}
	return "make sure that the proxy of --upstream-proxy runs there and allows connections to the agent"
}

// nameAdvice lists the names in a certificate.
func nameAdvice(err x509.HostnameError) string {
	const most = 3
	var names []string
	for _, n := range err.Certificate.DNSNames {
		names = append(names, fmt.Sprintf("%q", n)) // the certificate's issuer chose the bytes
	}
	for _, ip := range err.Certificate.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "have the certificate issued for that host: it names none"
	}
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return "use a name that its certificate is for (" + strings.Join(names, ", ") +
		"), or have the certificate issued for that host"
}

// invalidAdvice explains why a certificate is invalid.
func invalidAdvice(err x509.CertificateInvalidError) string {
	if err.Reason != x509.Expired || err.Cert == nil {
		return "have a server certificate issued for the agent"
	}
	const date = "2 January 2006"
	return fmt.Sprintf("renew the agent's certificate, which is valid from %s to %s, or set this machine's clock",
		err.Cert.NotBefore.UTC().Format(date), err.Cert.NotAfter.UTC().Format(date))
}

// alertAdvice suggests what to do about a TLS alert from an agent. An alert that may be about the client certificate is
// interpreted that way only if the agent asked for one.
func (d *Dialer) alertAdvice(err error) string {
	var asked *askedError
	text := err.Error()
	switch {
	case errors.As(err, &asked), strings.Contains(text, "certificate required"):
		return "the agent requires a client certificate: provide one with --client-cert FILE (PEM, certificate and key)"
	case d.Certificate != nil && (strings.Contains(text, "certificate") || strings.Contains(text, "handshake failure") ||
		strings.Contains(text, "access denied")):
		return "the agent does not accept the certificate of --client-cert: provide one from an authority that the agent " +
			"trusts, for this purpose, that has not expired"
	case strings.Contains(text, "protocol version"):
		return "let the agent use TLS 1.2 or later"
	}
	return ""
}

// isAlert reports whether an error is a TLS alert from the peer: RFC 8446 section 6. Outside of QUIC, package tls has
// no type for such errors, and marks them only in this way.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// isTLSAnswer reports whether package http found a TLS record where an answer to a request without TLS was due. Its
// error is a text that quotes what came.
func isTLSAnswer(err error) bool {
	_, quoted, found := strings.Cut(err.Error(), "malformed HTTP response ")
	if !found {
		return false
	}
	came, unquoteErr := strconv.QuotedPrefix(quoted)
	if unquoteErr != nil {
		return false
	}
	text, unquoteErr := strconv.Unquote(came)
	return unquoteErr == nil && scheme.IsTLSRecord([]byte(text))
}
