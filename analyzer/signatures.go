package analyzer

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"sync"

	"a2atap/analyzer/jws"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// Bounds of what is verified: a card with more has the rest unverified.
const (
	maxSignatures = 4       // of a card
	maxCandidates = 4       // keys of one id
	maxKeySets    = 100     // that were fetched, and that are waited for
	maxAwaiting   = 4       // cards that wait for one set
	maxChecked    = 500     // cards whose verdict is remembered
	maxSigned     = 1 << 20 // bytes of a card
)

// A SignatureCheck is what a known key says of one signature of a card.
type SignatureCheck struct {
	Index   int    // of the signature
	KeyID   string //
	Source  string // where the key comes from, as findings show it
	Valid   bool   // the signature is over one of the readings of the card, by one of the keys of that id
	Hearsay bool   // the key was not fetched where the signature says, or before the card: another one may have taken its place
}

// An EngineOption changes what it judges with.
type EngineOption func(*Engine)

// WithKeys gives the engine keys that agents sign their cards with. Name says where they come from.
func WithKeys(name string, keys jws.KeySet) EngineOption {
	return func(e *Engine) {
		e.session.keys.given = append(e.session.keys.given, keySource{name: name, keys: keys})
	}
}

// A keySource is a set of keys, and where it came from.
type keySource struct {
	name    string
	keys    jws.KeySet
	arrival uint64 // of the step that brought it; 0 if it was given
}

// A keyring holds the keys that are known, and the cards that wait for keys.
type keyring struct {
	given   []keySource
	fetched *recent[string, *keySource]     // by keyAddress
	awaited *recent[string, []*Observation] // the same: cards whose signatures name it
	checked *recent[[sha256.Size]byte, []SignatureCheck]
	changes uint64 // how often keys were fetched
}

func newKeyring() *keyring {
	return &keyring{
		fetched: newRecent[string, *keySource](maxKeySets),
		awaited: newRecent[string, []*Observation](maxKeySets),
		checked: newRecent[[sha256.Size]byte, []SignatureCheck](maxChecked),
	}
}

// keyAddress returns the URL of a key set in the form in which it is compared.
func keyAddress(url string) string {
	base, query, _ := strings.Cut(url, "?")
	return address(base) + "?" + query
}

func (x *Exchange) keyAddress() string {
	_, query, _ := strings.Cut(x.Request.Target, "?")
	return x.address + "?" + query
}

// signed verifies the signatures of a card as far as their keys are known, and remembers where the others are.
func (e *Engine) signed(in *intake, o *Observation) {
	if !o.Card.Modern || !o.Card.Signed || len(o.Card.Raw()) > maxSigned || credential.HasPlaceholder(o.Card.Raw()) {
		return
	}
	e.verified(in, o)
	for i, s := range o.Card.Signatures() {
		if i == maxSignatures {
			break
		}
		if url := s.Header.Get("jku").Text(); url != "" {
			kept := *o
			kept.Exchange = o.Exchange.bare()
			e.session.keys.await(keyAddress(url), &kept)
		}
	}
}

// await remembers a card that can be verified when keys are fetched from an address.
func (k *keyring) await(at string, card *Observation) {
	waiting, _ := k.awaited.get(at)
	if n := len(waiting); n > 0 && waiting[n-1].Place == card.Place { // another signature of it names the same
		return
	}
	if len(waiting) == maxAwaiting {
		waiting = slices.Delete(waiting, 0, 1)
	}
	k.awaited.put(at, append(waiting, card))
}

// verified observes what known keys say of a card's signatures.
func (e *Engine) verified(in *intake, card *Observation) {
	checks := e.session.keys.check(card.Card, card.Arrival)
	if len(checks) == 0 {
		return
	}
	o := *card
	o.Kind, o.Verified = CardVerified, checks
	e.observe(in, &o)
}

// awaitsKeys reports whether a card names the URL of a request as that of its keys.
func (s *Session) awaitsKeys(x *Exchange) bool {
	_, ok := s.keys.awaited.get(x.keyAddress())
	return ok
}

// keysFetched takes a set of keys that a client fetched, and verifies the cards that waited for it.
func (e *Engine) keysFetched(in *intake, s capture.Step) {
	x := in.x
	body, whole := content(&in.response, &x.Response)
	if !whole || !x.Answered || x.Cut || x.Response.Status != 200 {
		return
	}
	keys, err := jws.ParseKeySet(body)
	if err != nil {
		return
	}
	ring := e.session.keys
	at := x.keyAddress()
	source := &keySource{name: x.ResponsePlace().Body().String(), keys: keys, arrival: s.Arrival}
	ring.fetched.put(at, source)
	ring.changes++
	waiting, _ := ring.awaited.get(at)
	ring.awaited.put(at, nil) // the URL stays one of keys
	for _, card := range waiting {
		e.verified(in, card)
	}
}

// check verifies the signatures of a card whose keys are known. What it found is remembered, since clients fetch the same
// card again and again.
func (k *keyring) check(card *a2a.Card, arrival uint64) []SignatureCheck {
	hash := sha256.New()
	var state [8]byte
	hash.Write(binary.BigEndian.AppendUint64(state[:0], k.changes)) //nolint:errcheck // a hash takes everything
	hash.Write(card.Raw())                                          //nolint:errcheck // the same
	var sum [sha256.Size]byte
	hash.Sum(sum[:0])
	if known, ok := k.checked.get(sum); ok {
		return known
	}
	var checks []SignatureCheck
	payloads := sync.OnceValue(func() [][]byte { return payloads(card) })
	for i, s := range card.Signatures() {
		if i == maxSignatures {
			break
		}
		if c, ok := k.verify(s, payloads, arrival); ok {
			c.Index = i
			checks = append(checks, c)
		}
	}
	k.checked.put(sum, checks)
	return checks
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

// verify verifies one signature. It returns false if no key that can tell is known.
func (k *keyring) verify(s a2a.Signature, payloads func() [][]byte, arrival uint64) (SignatureCheck, bool) {
	alg, id := s.Header.Get("alg").Text(), s.Header.Get("kid").Text()
	if s.Bytes == nil || alg == "" || s.Header.Has("crit") { // an extension that we do not know (RFC 7515 §4.1.11)
		return SignatureCheck{}, false
	}
	result, told := SignatureCheck{KeyID: id}, false
	for _, c := range k.candidates(s.Header, id, arrival) {
		for i := range c.keys[:min(len(c.keys), maxCandidates)] {
			verdict := jws.Unusable
			for _, payload := range payloads() {
				verdict = c.keys[i].Verify(alg, jws.SigningInput(s.Protected, payload), s.Bytes)
				if verdict != jws.Invalid {
					break
				}
			}
			switch {
			case verdict == jws.Valid:
				return SignatureCheck{KeyID: id, Source: c.name, Valid: true}, true
			case verdict == jws.Invalid && (!told || result.Hearsay):
				told, result.Source, result.Hearsay = true, c.name, c.hearsay
			}
		}
	}
	return result, told
}

// candidates are keys that may have made a signature.
type candidates struct {
	keySource
	hearsay bool
}

// candidates returns the keys of an id: those of the set that the signature names first, then those given, then the one
// that the signature brings itself.
func (k *keyring) candidates(header a2a.Value, id string, arrival uint64) []candidates {
	var list []candidates
	add := func(source keySource, keys jws.KeySet, hearsay bool) {
		if len(keys) > 0 {
			source.keys = keys
			list = append(list, candidates{source, hearsay})
		}
	}
	url := header.Get("jku").Text()
	if url != "" && id != "" {
		if f, ok := k.fetched.get(keyAddress(url)); ok {
			add(*f, f.keys.Find(id), f.arrival < arrival)
		}
	}
	for _, given := range k.given {
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
