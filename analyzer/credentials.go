package analyzer

import (
	"cmp"
	"hash/maphash"
	"net/url"
	"strings"

	"a2atap/proxy/capture/credential"
)

// A Principal stands for what a request carries to say on whose behalf it comes: the same number for the same fields
// and parameters, in any order; 0 if it carries none. Where secrets were replaced, equal ones are still equal. The
// numbers hold within this process only.
type Principal uint64

// principalSeed makes it impossible to choose credentials that give the number of others.
var principalSeed = maphash.MakeSeed()

// Principal returns who the request speaks for. It is worked out once for an exchange.
func (x *Exchange) Principal() Principal {
	if !x.principalKnown {
		x.principal, x.principalKnown = principalOf(x), true
	}
	return x.principal
}

// principalOf adds up the numbers of what the request carries, each on its own, so that their order says nothing.
func principalOf(x *Exchange) Principal {
	var sum uint64
	carries := false
	for i := range x.Request.Fields {
		if f := &x.Request.Fields[i]; credential.Header(f.Name).TellsCaller() {
			sum, carries = sum+credentialSum(f.Name, f.Value), true
		}
	}
	_, query, _ := strings.Cut(x.Request.Target, "?")
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		if credential.Param(unescaped(name)).TellsCaller() {
			sum, carries = sum+credentialSum(name, value), true
		}
	}
	if !carries {
		return 0
	}
	return Principal(cmp.Or(sum, 1))
}

// unescaped returns the name of a parameter without its escapes, if they are right.
func unescaped(name string) string {
	if !strings.ContainsAny(name, "%+") {
		return name
	}
	if text, err := url.QueryUnescape(name); err == nil {
		return text
	}
	return name
}

// credentialSum returns a number for a credential and its name, in any case.
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

// Bare reports whether a request carries nothing that could be a credential, and all of it is on record.
func (x *Exchange) Bare() bool { return x.HeadersKept() && x.Principal() == 0 }

// principal returns for whom a request comes, 0 also if what it carried may be missing in the record.
func (s *Session) principal(x *Exchange) Principal {
	if !x.HeadersKept() {
		return 0
	}
	return x.Principal()
}

// caller returns a number for the client of a request and for whom it comes.
func (s *Session) caller(x *Exchange) uint64 {
	return uint64(s.principal(x)) ^ s.hash(x.Link.Client)
}

// ToldEnd reports whether the end of the task that the exchange names was told to the same client, for the same
// credentials.
func (s *Session) ToldEnd(x *Exchange) bool { return x.Known != nil && x.Known.ending == s.caller(x) }

// FoundByAnother returns the first look at the task that the exchange names, if it had been delivered before the
// exchange began and was for other credentials than those of the exchange; else nil.
func (s *Session) FoundByAnother(x *Exchange) *Sighting {
	if x.Known == nil || x.Known.First == nil || x.Known.finder == 0 || !x.beganAfter(x.Known.First) {
		return nil
	}
	if asks := s.principal(x); asks == 0 || asks == x.Known.finder {
		return nil
	}
	return x.Known.First
}
