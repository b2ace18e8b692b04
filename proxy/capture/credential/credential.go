// Package credential recognizes the names of header fields, parameters, cookie attributes and JSON members that carry
// credentials. Redaction hides values by these names, and rules use them to identify the user behind a request. One
// vocabulary for both ensures that nothing counts as a credential in one place and as harmless in the other. The
// package also handles the placeholders that replace secrets in a record.
//
// Names are read in one pass, ignoring case, and without allocation if they are ASCII. All functions are safe for
// concurrent use. The package imports no other package of a2atap.
package credential

import "strings"

// A Kind classifies the value of a name, and its syntax.
type Kind uint8

// The kinds. All except Plain may identify the user behind a request.
const (
	Plain         Kind = iota
	Identity           // not a secret, but may identify the user behind a request
	Secret             // a credential
	Authorization      // a field whose value is a scheme and credentials (RFC 9110 section 11.6.2)
	Cookie             // the field of the cookies of a request (RFC 6265 section 4.2)
	SetCookie          // a field that sets a cookie (RFC 6265 section 4.1)
	Challenge          // a field that asks for credentials; its parameters may hold some (RFC 9110 section 11.6.1)
)

// TellsCaller reports whether the name's value may identify the user behind a request. It returns true in doubt: rules
// that compare callers are then silent.
func (k Kind) TellsCaller() bool { return k != Plain }

// Hidden reports whether the name's value is hidden in a record, completely or in part.
func (k Kind) Hidden() bool { return k > Identity }

// Header returns the kind of the value of the header field with that name.
//
// A name denotes a secret if it contains key, token, secret, auth, bearer, cookie, session, password or a synonym,
// credential, jwt or signature, or if it has sid, otp, totp, pin or pwd as a separate word, or if it is DPoP (RFC
// 9449). Other names with dpop only distinguish callers.
func Header(name string) Kind {
	switch name { // nearly all fields have these names, in one of these spellings
	case "Host", "host", "Accept", "accept", "Accept-Encoding", "accept-encoding", "User-Agent", "user-agent",
		"Content-Type", "content-type", "Content-Length", "content-length", "Transfer-Encoding", "transfer-encoding",
		"Connection", "connection", "Cache-Control", "cache-control", "Date", "date", "Server", "server",
		"A2A-Version", "a2a-version", "A2A-Extensions", "a2a-extensions":
		return Plain
	case "Authorization", "authorization":
		return Authorization
	}
	return headerByWords(name)
}

func headerByWords(name string) Kind {
	name = ascii(name)
	w := wordsOf(name, false)
	switch {
	case w == 0:
		return Plain
	case hasPrefix(name, "set-cookie"):
		return SetCookie
	case equal(name, "cookie"), equal(name, "cookie2"):
		return Cookie
	case hasSuffix(name, "-authenticate"):
		return Challenge
	case hasSuffix(name, "authorization"):
		return Authorization
	case equal(name, "dpop"):
		return Secret
	case w&inHeaders == 0, isPublic(name):
		return Identity
	}
	return Secret
}

// publicHeaders have names like secrets but are public. An idempotency key distinguishes retries from new requests, a
// WebSocket handshake's key is a nonce, and a signature's covered components are not secret (RFC 9421 sections 4.1 and
// 5.1).
var publicHeaders = [...]string{
	"idempotency-key", "x-idempotency-key", "sec-websocket-key", "authority", ":authority", "author",
	"signature-input", "accept-signature",
}

func isPublic(name string) bool {
	for _, public := range publicHeaders {
		if equal(name, public) {
			return true
		}
	}
	return hasPrefix(name, "access-control-") || contains(name, "ratelimit")
}

// Param returns the kind of the value of a query or form parameter with that name. The name is without its escapes;
// "_", "-" and "." in it are ignored. Page tokens never carry a credential.
func Param(name string) Kind {
	name = ascii(name)
	var short normalised
	if normal, ok := normalise(&short, name); ok {
		switch paramNames[string(normal)] {
		case pageParam:
			return Plain
		case publicParam:
			return Identity
		case secretParam:
			return Secret
		}
	}
	switch w := wordsOf(name, true); {
	case w == 0:
		return Plain
	case w&inParams == 0:
		return Identity
	}
	return Secret
}

type paramKind uint8

const (
	pageParam   paramKind = iota + 1
	publicParam           // would be taken for a secret by its parts
	secretParam           // would not
)

// paramNames are the parameters that their words do not explain, normalised.
//
// Source: RFC 6749 sections 4 and 5, RFC 7521 section 4, RFC 7636 section 4, RFC 8628 section 3.
var paramNames = table(map[paramKind]string{
	pageParam: "pagetoken nextpagetoken",
	publicParam: "keyword keywords keyid author authority authorizationuri authuser maxtokens " +
		"tokentype tokentypehint subjecttokentype actortokentype requestedtokentype tokenendpointauthmethod",
	secretParam: "code codeverifier devicecode assertion clientassertion samlresponse sig pwd pass",
})

// PageToken reports whether a parameter or member with that name is the token of a list's next page, which is not a
// secret and must not be hidden even on request.
func PageToken(name string) bool {
	var short normalised
	normal, ok := normalise(&short, ascii(name))
	return ok && paramNames[string(normal)] == pageParam
}

// ChallengeParam reports whether a parameter of a challenge could be a secret. The end of its name decides, so that
// authorization_uri and token_type are not secrets.
func ChallengeParam(name string) bool {
	name = Normal(name)
	return strings.HasSuffix(name, "token") || strings.HasSuffix(name, "secret") || strings.HasSuffix(name, "password")
}

// CookieAttribute reports whether a name is an attribute of a cookie, which is not a secret.
//
// Source: RFC 6265 section 4.1.1 and its successors.
func CookieAttribute(name string) bool {
	for _, attribute := range cookieAttributes {
		if equal(name, attribute) {
			return true
		}
	}
	return false
}

var cookieAttributes = strings.Fields("expires max-age domain path secure httponly samesite partitioned priority " +
	"version comment")
