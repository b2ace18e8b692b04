package relay

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"a2atap/proxy/scheme"
)

// The kinds of TransportError.
const (
	KindRefused     = "refused"     // HTTP whose framing is wrong or ambiguous; Detail cites the RFC
	KindNotHTTP     = "not-http"    // bytes that are not HTTP/1
	KindUnreachable = "unreachable" // no connection to the agent
	KindTLS         = "tls"         // a connection to the agent, but no TLS session on it, or TLS where none was asked for
	KindTimeout     = "timeout"     // an end was too slow to accept, to send a head, or to send anything in a tunnel
	KindReset       = "reset"       // one end reset its connection
	KindTruncated   = "truncated"   // one end closed its connection in the middle of a message, or before a message that was due
	KindClientLeft  = "client-left" // the client closed its connection before the answer was complete
	KindUnsolicited = "unsolicited" // bytes that belong to no request; forwarded unmodified
	KindShutdown    = "shutdown"    // the proxy was stopped
)

// The sides that a TransportError may come from.
const (
	SideClient = "client"
	SideAgent  = "agent"
	SideProxy  = "proxy"
)

// A TransportError describes how an exchange broke, or bytes that belong to no exchange. An HTTP status of 500 is not a
// fault. Bytes are valid during the call only.
type TransportError struct {
	Kind   string // one of the Kind constants
	Side   string // one of the Side constants: who did it
	Detail string // a description for people, with the RFC section that was violated, if any
	Status int    // status of the relay's own answer to the client, 0 without one
	// with exchange -1, the bytes that arrived; after a refused head, the bytes that followed it; at most the first 64
	// KiB
	Bytes []byte

	advice string // for the relay's own answer: what to do, if it does not follow from the rest
}

// Error returns the side, the kind and the detail.
func (f TransportError) Error() string {
	return f.Side + " " + f.Kind + ": " + f.Detail
}

// Advised returns the fault with advice on what to do, for the relay's own answer; an empty advice changes nothing.
func (f TransportError) Advised(advice string) TransportError {
	if advice != "" {
		f.advice = advice
	}
	return f
}

// stopped is the TransportError of exchanges in flight when the context of Serve ends.
var stopped = TransportError{Kind: KindShutdown, Side: SideProxy, Detail: "the proxy was stopped"}

// DialFault classifies an error of Config.Dial, and chooses the status that the client gets: RFC 9110 sections 15.6.3
// (502) and 15.6.5 (504).
//
// If this machine has no more file descriptors, the agent is not at fault: then the side is SideProxy and the status
// 503.
func DialFault(err error, authority string) TransportError {
	if why := Exhausted(err); why != "" {
		return TransportError{Kind: KindUnreachable, Side: SideProxy, Detail: why, Status: http.StatusServiceUnavailable}
	}
	f := TransportError{Kind: KindUnreachable, Side: SideAgent, Detail: "connect to the agent: " + Reason(err), Status: 502}
	if authority != "" {
		f.Detail = "connect to the agent at " + authority + ": " + Reason(err)
	}
	var ne net.Error
	switch {
	case isTLS(err):
		f.Kind = KindTLS
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		f.Kind, f.Status = KindTimeout, 504
	case isHandshake(err):
		f.Kind, f.Detail = KindTLS, strings.Replace(f.Detail, Reason(err), "TLS handshake: "+Reason(err), 1)
	}
	return f
}

// isHandshake reports whether an error of Config.Dial came from the TLS handshake on an established connection.
func isHandshake(err error) bool {
	var h interface{ InHandshake() bool }
	return errors.As(err, &h) && h.InHandshake()
}

// SpeaksTLS is the TransportError of an agent that answers a request without TLS with a TLS record.
func SpeaksTLS() TransportError {
	return TransportError{
		Kind: KindTLS, Side: SideAgent, Status: http.StatusBadGateway,
		Detail: scheme.SpeaksTLS + " (a plain request was answered with a TLS record)",
		advice: scheme.SpeaksTLS,
	}
}

// isTLS reports whether an error arose in the TLS handshake rather than in the connection beneath it.
func isTLS(err error) bool {
	var (
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &record) || isAlert(err) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}

// Reason explains briefly why a network operation failed, without the ephemeral ports that make equal errors differ.
func Reason(err error) string {
	var (
		op     *net.OpError
		sys    *os.SyscallError
		record tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &record):
		return record.Error() + ": " + scheme.SpeaksPlainHTTP
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "connection ended inside a TLS record or without its closing alert"
	case errors.Is(err, syscall.EPIPE):
		return "connection closed by peer"
	case errors.As(err, &sys):
		return sys.Err.Error()
	case errors.As(err, &op):
		return op.Err.Error()
	default:
		return err.Error()
	}
}

// isAlert reports whether the TLS peer has sent an alert (RFC 8446 section 6). Package tls offers no other way to
// detect one.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// Exhausted returns a message for the user if the error means that this machine is out of file descriptors, otherwise
// "".
func Exhausted(err error) string {
	switch {
	case isErrno(err, syscall.EMFILE):
		limit := ""
		if n := openFileLimit(); n > 0 {
			limit = fmt.Sprintf(" (%d open files)", n)
		}
		return "this machine allows no more connections for a2atap" + limit + "; raise ulimit -n"
	case isErrno(err, syscall.ENFILE):
		return "this machine allows no more connections (its table of open files is full); close other programs, or " +
			"raise its limit"
	}
	return ""
}

// isErrno reports whether an error comes from a system error. Errors of a resolver contain only the text.
func isErrno(err error, number syscall.Errno) bool {
	var dns *net.DNSError
	return errors.Is(err, number) || errors.As(err, &dns) && strings.Contains(dns.Err, number.Error())
}
