package signature

import (
	"bytes"
	"regexp"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/jws"
	"a2atap/proxy/a2a"
)

// keyAddress returns the URL of a key set in the form in which it is compared.
func keyAddress(url string) string {
	base, query, _ := strings.Cut(url, "?")
	return address.Of(base) + "?" + query
}

func requestAddress(x *analysis.Exchange) string {
	_, query, _ := strings.Cut(x.Request.Target, "?")
	return x.Address + "?" + query
}

// longNumber finds what may be a number that no double holds: some signers keep its digits, and some refuse it.
var longNumber = regexp.MustCompile(`[:,\[]\s*-?[0-9]{16}`)

// payloads returns what a signature of the card may be over, in canonical form: none if that cannot be told.
func payloads(card *a2a.Card) [][]byte {
	if _, err := jws.Canonical(card.Raw()); err != nil || longNumber.Match(card.Raw()) {
		return nil
	}
	var list [][]byte
	for text := range card.SignedTexts() {
		payload, err := jws.Canonical(text)
		if err != nil {
			continue
		}
		known := false
		for _, p := range list {
			known = known || bytes.Equal(p, payload)
		}
		if !known {
			list = append(list, payload)
		}
	}
	return list
}

// Verify says whether a signature of a card is over one of the readings of the card, by a key of the id that it names.
// It is Unusable if no such key can tell.
func Verify(card *a2a.Card, s a2a.Signature, keys jws.KeySet) jws.Verdict {
	alg, id := s.Header.Get("alg").Text(), s.Header.Get("kid").Text()
	if s.Bytes == nil || alg == "" || id == "" || s.Header.Has("crit") {
		return jws.Unusable
	}
	found, texts := keys.Find(id), payloads(card)
	result := jws.Unusable
	for i := range found[:min(len(found), maxCandidates)] {
		switch verifyAny(&found[i], alg, s, texts) {
		case jws.Valid:
			return jws.Valid
		case jws.Invalid:
			result = jws.Invalid
		}
	}
	return result
}

// verify verifies one signature. It returns false if no key that can tell is known.
func (m *Memory) verify(s a2a.Signature, payloads func() [][]byte, arrival uint64) (Check, bool) {
	alg, id := s.Header.Get("alg").Text(), s.Header.Get("kid").Text()
	if s.Bytes == nil || alg == "" || s.Header.Has("crit") { // an extension that we do not know (RFC 7515 §4.1.11)
		return Check{}, false
	}
	result, told := Check{KeyID: id}, false
	for _, c := range m.candidates(s.Header, id, arrival) {
		for i := range c.keys[:min(len(c.keys), maxCandidates)] {
			verdict := verifyAny(&c.keys[i], alg, s, payloads())
			switch {
			case verdict == jws.Valid:
				return Check{KeyID: id, Source: c.name, Valid: true}, true
			case verdict == jws.Invalid && (!told || result.Uncertain):
				told, result.Source, result.Uncertain = true, c.name, c.uncertain
			}
		}
	}
	return result, told
}

// verifyAny says whether a signature is over one of the payloads, by the key.
func verifyAny(key *jws.Key, alg string, s a2a.Signature, payloads [][]byte) jws.Verdict {
	verdict := jws.Unusable
	for _, payload := range payloads {
		verdict = key.Verify(alg, jws.SigningInput(s.Protected, payload), s.Bytes)
		if verdict != jws.Invalid {
			break
		}
	}
	return verdict
}

// candidates are keys that may have made a signature.
type candidates struct {
	keySource
	uncertain bool
}

// candidates returns the keys of an id: those of the set that the signature names first, then those given, then the one
// that the signature brings itself.
func (m *Memory) candidates(header a2a.Value, id string, arrival uint64) []candidates {
	var list []candidates
	add := func(source keySource, keys jws.KeySet, uncertain bool) {
		if len(keys) > 0 {
			source.keys = keys
			list = append(list, candidates{source, uncertain})
		}
	}
	url := header.Get("jku").Text()
	if url != "" && id != "" {
		if f, ok := m.fetched.Get(keyAddress(url)); ok {
			add(*f, f.keys.Find(id), f.arrival < arrival)
		}
	}
	for _, given := range m.given {
		if id != "" {
			add(given, given.keys.Find(id), url != "")
		}
	}
	if own := header.Get("jwk"); own.Kind() == a2a.Object {
		if key, err := jws.ParseKey(own.Raw()); err == nil {
			add(keySource{name: "its own header"}, jws.KeySet{key}, false)
		}
	}
	return list
}
