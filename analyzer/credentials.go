package analyzer

import (
	"hash/maphash"
	"iter"
	"slices"
	"strings"
)

// credentials returns what a request carries to say on whose behalf it comes: fields and parameters whose names speak of
// it. Where secrets were replaced, equal ones are still equal.
func (x *Exchange) credentials() []string {
	var found []string
	for _, f := range x.Request.Fields {
		if secretive(f.Name) {
			found = append(found, strings.ToLower(f.Name)+"="+f.Value)
		}
	}
	for name, pair := range x.parameters() {
		if secretive(name) {
			found = append(found, pair)
		}
	}
	slices.Sort(found)
	return found
}

// Bare reports whether a request carries nothing that could be a credential, and all of it is on record.
func (x *Exchange) Bare() bool {
	if !x.HeadersKept() {
		return false
	}
	for _, f := range x.Request.Fields {
		if secretive(f.Name) {
			return false
		}
	}
	for name := range x.parameters() {
		if secretive(name) {
			return false
		}
	}
	return true
}

// parameters yields the names of the query's parameters, each with its pair as it stands there.
func (x *Exchange) parameters() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		_, query, _ := strings.Cut(x.Request.Target, "?")
		for query != "" {
			var pair string
			pair, query, _ = strings.Cut(query, "&")
			if name, _, _ := strings.Cut(pair, "="); !yield(name, pair) {
				return
			}
		}
	}
}

func secretive(name string) bool {
	for _, word := range [...]string{"auth", "cookie", "key", "secret", "token", "credential", "password", "jwt", "session", "dpop", "signature"} {
		if containsFold(name, word) && !strings.EqualFold(name, "pagetoken") {
			return true
		}
	}
	return false
}

// containsFold reports whether a word of lower-case letters is in a name, in any case.
func containsFold(name, word string) bool {
	for i := 0; i+len(word) <= len(name); i++ {
		if strings.EqualFold(name[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// principal returns a number for whom a request comes from: the same for equal credentials, 0 if it shows none.
func (s *Session) principal(x *Exchange) uint64 {
	if !x.HeadersKept() || x.Bare() {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, c := range x.credentials() {
		h.WriteString(c) //nolint:errcheck // a hash takes everything
		h.WriteByte(0)   //nolint:errcheck // the same
	}
	return h.Sum64()
}

// caller returns a number for the client of a request and for whom it comes.
func (s *Session) caller(x *Exchange) uint64 {
	return s.principal(x) ^ s.hash(x.Link.Client)
}

// ToldEnd reports whether the end of the task that the exchange names was told to the same client, for the same
// credentials.
func (s *Session) ToldEnd(x *Exchange) bool { return x.Known != nil && x.Known.ending == s.caller(x) }

// FoundByAnother returns the first look at the task that the exchange names, if it had been delivered before the exchange
// began and was for other credentials than those of the exchange; else nil.
func (s *Session) FoundByAnother(x *Exchange) *Sighting {
	if x.Known == nil || x.Known.First == nil || x.Known.finder == 0 || !x.beganAfter(x.Known.First) {
		return nil
	}
	if asks := s.principal(x); asks == 0 || asks == x.Known.finder {
		return nil
	}
	return x.Known.First
}
