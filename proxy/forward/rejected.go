package forward

import (
	"errors"
	"net"
	"reflect"
	"sync"
)

// A rejection is a client, as far as CONNECT distinguishes it, and an agent for which it rejects our certificate.
// Clients that accept the certificate stay observed at the same agent.
type rejection struct {
	agent  string // host:port
	client string // its name, and the address of its machine
}

// maxRejections bounds the remembered rejections. The oldest is forgotten first: its client will reject again.
const maxRejections = 1000

// rejections remembers who does not take our certificates, and for which agents.
type rejections struct {
	mu    sync.Mutex
	known map[rejection]bool
	order []rejection // oldest first
}

func (r *rejections) has(one rejection) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[one]
}

func (r *rejections) add(one rejection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = make(map[rejection]bool)
	}
	if r.known[one] {
		return
	}
	if len(r.order) == maxRejections {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[one] = true
	r.order = append(r.order, one)
}

// The alerts by which a client rejects a certificate or its issuer: RFC 8446 section 6.2. Alerts about the handshake
// itself do not count, since they prove nothing about the certificate.
var certificateAlerts = map[uint64]bool{
	42: true, // bad_certificate: what Go and Firefox say
	43: true, // unsupported_certificate
	44: true, // certificate_revoked
	45: true, // certificate_expired
	46: true, // certificate_unknown: what Java and Chrome say
	48: true, // unknown_ca: sent by OpenSSL, and so by Python, Node.js and curl
}

// rejectsCertificate reports whether a handshake failed because the client rejected the proxy's certificate. Only an
// alert counts, since the client sends it on purpose. A client that hangs up or resets may have given up, been killed
// or lost its network. If that were proof, one impatient client would end the observation of an agent. Clients that pin
// a certificate and hang up without an alert need --tunnel, as the notice explains.
func rejectsCertificate(err error) bool {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return false
	}
	alert := reflect.ValueOf(op.Err) // crypto/tls does not export its type: RFC 8446 appendix B.2 numbers alerts
	return alert.Kind() == reflect.Uint8 && certificateAlerts[alert.Uint()]
}
