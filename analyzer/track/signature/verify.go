package signature

import (
	"bytes"
	"regexp"
	"slices"
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

// A payload is a form of a card that a signature may cover, in canonical form.
type payload struct {
	text     []byte
	stripped bool // this is the card's text without default values
}

// payloads returns the payloads that a signature of the card may cover; nil if they are unknown.
func payloads(card *a2a.Card) []payload {
	if _, err := jws.Canonical(card.Raw()); err != nil || longNumber.Match(card.Raw()) {
		return nil
	}
	var list []payload
	for text, stripped := range card.SignedTexts() {
		canonical, err := jws.Canonical(text)
		if err != nil {
			continue
		}
		i := slices.IndexFunc(list, func(p payload) bool { return bytes.Equal(p.text, canonical) })
		if i < 0 {
			list = append(list, payload{canonical, stripped})
		} else {
			list[i].stripped = list[i].stripped || stripped
		}
	}
	return list
}

// Verify reports whether a signature of a card is over one of the readings of the card, by a key of the id that it
// names. It is Unusable if no such key can tell.
func Verify(card *a2a.Card, s a2a.Signature, keys jws.KeySet) jws.Verdict {
	alg, id := s.Header.Get("alg").Text(), s.Header.Get("kid").Text()
	if s.Bytes == nil || alg == "" || id == "" || s.Header.Has("crit") {
		return jws.Unusable
	}
	found, texts := keys.Find(id), payloads(card)
	result := jws.Unusable
	for i := range found[:min(len(found), maxCandidates)] {
		switch verdict, _ := verifyAny(&found[i], alg, s, texts); verdict {
		case jws.Valid:
			return jws.Valid
		case jws.Invalid:
			result = jws.Invalid
		}
	}
	return result
}

// verify verifies one signature. It returns false if no key that can tell is known.
func (m *Memory) verify(s a2a.Signature, payloads func() []payload, arrival uint64) (Check, bool) {
	alg, id := s.Header.Get("alg").Text(), s.Header.Get("kid").Text()
	if s.Bytes == nil || alg == "" || s.Header.Has("crit") { // an unknown extension (RFC 7515 §4.1.11)
		return Check{}, false
	}
	result, told := Check{KeyID: id}, false
	for _, c := range m.candidates(s.Header, id, arrival) {
		for i := range c.keys[:min(len(c.keys), maxCandidates)] {
			verdict, over := verifyAny(&c.keys[i], alg, s, payloads())
			switch {
			case verdict == jws.Valid:
				return Check{KeyID: id, Source: c.name, Valid: true, Unstripped: !over.stripped}, true
			case verdict == jws.Invalid && (!told || result.Uncertain):
				told, result.Source, result.Uncertain = true, c.name, c.uncertain
			}
		}
	}
	return result, told
}

// verifyAny reports whether a signature is over one of the payloads, by the key, and which one that is.
func verifyAny(key *jws.Key, alg string, s a2a.Signature, payloads []payload) (verdict jws.Verdict, over payload) {
	for _, over = range payloads {
		verdict = key.Verify(alg, jws.SigningInput(s.Protected, over.text), s.Bytes)
		if verdict != jws.Invalid {
			break
		}
	}
	return verdict, over
}

// candidates are keys that may have made a signature.
type candidates struct {
	keySource
	uncertain bool
}

// candidates returns the keys of an id: first those of the set that the signature names, then the given ones, then the
// one embedded in the signature.
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
