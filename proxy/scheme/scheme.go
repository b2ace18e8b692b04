// Package scheme recognizes agents whose URL has the wrong scheme: those that speak TLS where http:// was written, and
// those that do not where https:// was.
//
// It imports no other package of a2atap. All functions are safe for concurrent use.
package scheme

import (
	"slices"
	"strings"
)

// What messages and the details of faults say of an agent whose URL has the wrong scheme, and what to do.
const (
	SpeaksTLS       = "this agent speaks TLS; use https://"
	SpeaksPlainHTTP = "this agent speaks plain HTTP; use http://"
)

// IsTLSRecord reports whether bytes begin with a TLS record that a server sends to a client that does not speak TLS: an
// alert, or a handshake message.
//
// Source: RFC 8446 section 5.1.
func IsTLSRecord(b []byte) bool {
	const alert, handshake = 21, 22
	return len(b) >= 3 && (b[0] == alert || b[0] == handshake) && b[1] == 3 && b[2] <= 4
}

// refusals are the texts by which servers on TLS refuse a request without it, with HTTP status 400: those of Go, nginx,
// Apache httpd, Tomcat, Envoy and others.
var refusals = [...]string{
	"client sent an http request to an https server",
	"plain http request was sent to https port",
	"speaking plain http to an ssl-enabled server port",
	"this combination of host and port requires tls",
	"http request was sent to an https port",
}

// RefusesPlainHTTP reports whether the body of an HTTP response says that the server expects TLS.
func RefusesPlainHTTP(status int, body []byte) bool {
	const most = 4 << 10
	if status != 400 {
		return false
	}
	text := strings.ToLower(string(body[:min(len(body), most)]))
	return slices.ContainsFunc(refusals[:], func(refusal string) bool { return strings.Contains(text, refusal) })
}
