package analysis

import (
	"cmp"
	"hash/maphash"
	"net/url"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/grpc"
)

// A Principal identifies the credentials of a request: equal numbers for equal fields and parameters, in any order; 0
// without credentials. Secrets that were replaced with the same key remain comparable. The numbers are valid only
// within this process.
type Principal uint64

// keyBits of a Principal identify the keys with which secrets were replaced.
const keyBits Principal = 1<<16 - 1

// Unlike reports whether two principals certainly differ. This is unknown if their secrets were replaced with different
// keys, as in a capture by two users.
func (p Principal) Unlike(q Principal) bool { return p != q && p&keyBits == q&keyBits }

// principalSeed prevents a client from choosing credentials with the number of others.
var principalSeed = maphash.MakeSeed()

// principalOf adds up the hashes of a request's credentials, so that their order does not matter.
func principalOf(request *capture.Head) Principal {
	var sum, keys uint64
	carries := false
	add := func(name, value string) {
		sum, carries = sum+credentialSum(name, value), true
		if key, hidden := credential.Hidden(value); hidden {
			keys += maphash.String(principalSeed, key)
		}
	}
	for i := range request.Fields {
		if f := &request.Fields[i]; credential.Header(f.Name).TellsCaller() {
			add(f.Name, f.Value)
		}
	}
	_, query, _ := strings.Cut(request.Target, "?")
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		if credential.Param(unescaped(name)).TellsCaller() {
			add(name, value)
		}
	}
	if !carries {
		return 0
	}
	return cmp.Or(Principal(sum)&^keyBits|Principal(keys)&keyBits, keyBits+1)
}

// unescaped returns the name of a parameter with its escapes decoded, if they are valid.
func unescaped(name string) string {
	if !strings.ContainsAny(name, "%+") {
		return name
	}
	if text, err := url.QueryUnescape(name); err == nil {
		return text
	}
	return name
}

// credentialSum returns a number for a credential and its case-insensitive name.
func credentialSum(name, value string) uint64 {
	var h maphash.Hash
	h.SetSeed(principalSeed)
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		h.WriteByte(c) //nolint:errcheck // a hash takes everything
	}
	h.WriteByte('=')     //nolint:errcheck // the same
	h.WriteString(value) //nolint:errcheck // the same
	return h.Sum64()
}

// hashOf returns a number for a text, within this process.
func hashOf(text string) uint64 { return maphash.String(principalSeed, text) }

// CarriesKey reports whether a request carries an API key in a location that a scheme of a card names. Any cookie may
// be a key.
func (x *Exchange) CarriesKey(w a2a.Want) bool {
	switch {
	case w.Param == "":
		return true
	case w.In == "header":
		return x.Request.Fields.Has(w.Param)
	case w.In == "query":
		_, ok := x.Call.QueryValue(w.Param)
		return ok
	case w.In == "cookie":
		return x.Request.Fields.Has("Cookie")
	}
	return true
}

// CarriesKeyOf reports whether a request carries an API key by one of several schemes.
func (x *Exchange) CarriesKeyOf(schemes []a2a.Want) bool {
	for _, w := range schemes {
		if w.Type == a2a.APIKeyScheme && x.CarriesKey(w) {
			return true
		}
	}
	return false
}

// RefusesCredentials reports whether an answer refuses a call because of missing or wrong credentials: by its status,
// by the name of its error, or by the text of an error that the protocol does not define.
func (o *Observation) RefusesCredentials() bool {
	if o.Answer == nil || o.Answer.Err == nil && o.Exchange.Response.Status < 400 {
		return false
	}
	if o.Exchange.Call.Binding == a2a.GRPC {
		status, _ := o.Exchange.GRPCStatus()
		return status.Code == grpc.Unauthenticated || status.Code == grpc.PermissionDenied
	}
	switch status := o.Exchange.Response.Status; {
	case status == 401, status == 403:
		return true
	case o.Answer.Err == nil:
		return false
	}
	switch name := o.Answer.Err.Name; {
	case name == a2a.AuthenticationRequired, name == a2a.AuthorizationFailed:
		return true
	case name.A2A():
		return false
	}
	message := strings.ToLower(o.Answer.Err.Message)
	for _, words := range [...]string{
		"unauthenticated", "not authenticated", "unauthorized", "not authorized", "unauthorised", "authentication required",
		"authentication failed", "credentials", "token missing", "missing authorization", "authorization header", "bearer", "api key", "api-key",
		"apikey", "access token", "auth token", "missing token", "no token", "invalid token", "token required", "forbidden",
		"access denied",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}
