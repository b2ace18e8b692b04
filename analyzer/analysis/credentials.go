package analysis

import (
	"cmp"
	"hash/maphash"
	"net/url"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// A Principal stands for what a request carries to say on whose behalf it comes: the same number for the same fields
// and parameters, in any order; 0 if it carries none. Where secrets were replaced with the same key, equal ones are
// still equal. The numbers hold within this process only.
type Principal uint64

// keyBits of a Principal say with which keys secrets were replaced.
const keyBits Principal = 1<<16 - 1

// Unlike reports whether two principals are certainly not the same. Nobody can tell if they carry secrets that were
// replaced with different keys, as in a capture that two users have recorded into, one after the other.
func (p Principal) Unlike(q Principal) bool { return p != q && p&keyBits == q&keyBits }

// principalSeed makes it impossible to choose credentials that give the number of others.
var principalSeed = maphash.MakeSeed()

// principalOf adds up the numbers of what a request carries, each on its own, so that their order says nothing.
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

// hashOf returns a number for a text, within this process.
func hashOf(text string) uint64 { return maphash.String(principalSeed, text) }
