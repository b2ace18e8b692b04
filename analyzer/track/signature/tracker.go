// Package signature tracks the signatures of agent cards and the keys that verify them: given by the user, fetched by a
// client, or in the signature itself.
package signature

import (
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"slices"
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/jws"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
)

// Tracker verifies the signatures of cards as keys become known.
var Tracker = &analysis.Tracker{
	Name:  "signature",
	Doc:   "the keys that verify agent cards, and the cards that wait for keys",
	On:    analysis.RequestRead | analysis.CardSeen | analysis.BodySeen,
	Makes: analysis.CardVerified,
	New:   newMemory,
}

// WithKeys gives the engine keys with which agents sign their cards. Name describes their source.
func WithKeys(name string, keys jws.KeySet) engine.Option {
	return engine.Give(Tracker, keySource{name: name, keys: keys})
}

// Checks returns the verification results for the card that a CardVerified is about.
func Checks(p *analysis.Pass) []Check { return p.Detail.([]Check) }

func newMemory(s *analysis.Setup) analysis.State {
	m := &Memory{
		fetched: recent.New[string, *keySource](maxKeySets),
		awaited: recent.New[string, []analysis.Observation](maxKeySets),
		checked: recent.New[[sha256.Size]byte, []Check](maxChecked),
	}
	for _, given := range s.Given() {
		m.given = append(m.given, given.(keySource))
	}
	return m
}

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	switch p.Kind {
	case analysis.RequestRead:
		if x := p.Exchange; !x.Judged() && x.Request.Method == http.MethodGet && m.awaited.Len() > 0 {
			_, x.Gather = m.awaited.Get(requestAddress(x))
		}
	case analysis.CardSeen:
		m.signed(p)
	case analysis.BodySeen:
		m.keysFetched(p)
	}
}

// Forgotten implements analysis.State. Keys are not counted.
func (m *Memory) Forgotten() int { return 0 }

// signed verifies the signatures of a card as far as their keys are known, and remembers where the others are.
func (m *Memory) signed(p *analysis.Pass) {
	o := p.Observation
	if !o.Card.Modern || !o.Card.Signed || len(o.Card.Raw()) > maxSigned || credential.HasPlaceholder(o.Card.Raw()) {
		return
	}
	m.verified(p, o)
	for i, s := range o.Card.Signatures() {
		if i == maxSignatures {
			break
		}
		if url := s.Header.Get("jku").Text(); url != "" {
			kept := *o
			kept.Exchange = o.Exchange.WithoutBodies()
			m.await(keyAddress(url), &kept)
		}
	}
}

// await remembers a card that can be verified when keys are fetched from an address.
func (m *Memory) await(at string, card *analysis.Observation) {
	waiting, _ := m.awaited.Get(at)
	if n := len(waiting); n > 0 && waiting[n-1].Place == card.Place { // another signature of it names the same
		return
	}
	if len(waiting) == maxAwaiting {
		waiting = slices.Delete(waiting, 0, 1)
	}
	m.awaited.Put(at, append(waiting, *card))
}

// verified observes the results of verifying a card's signatures with known keys.
func (m *Memory) verified(p *analysis.Pass, card *analysis.Observation) {
	checks := m.check(card.Card, card.Arrival)
	if len(checks) == 0 {
		return
	}
	o := *card
	o.Kind, o.Detail = analysis.CardVerified, checks
	p.Observe(o)
}

// keysFetched records a set of keys that a client fetched, and verifies the cards that waited for it.
func (m *Memory) keysFetched(p *analysis.Pass) {
	x := p.Exchange
	if x.Response.Status != http.StatusOK {
		return
	}
	keys, err := jws.ParseKeySet(p.Body)
	if err != nil {
		return
	}
	at := requestAddress(x)
	m.fetched.Put(at, &keySource{name: p.Place.String(), keys: keys, arrival: p.Arrival})
	m.changes++
	waiting, _ := m.awaited.Get(at)
	m.awaited.Put(at, nil) // the URL stays one of keys
	for i := range waiting {
		m.verified(p, &waiting[i])
	}
}

// check verifies the signatures of a card whose keys are known. The results are cached, since clients fetch the same
// card again and again.
func (m *Memory) check(card *a2a.Card, arrival uint64) []Check {
	hash := sha256.New()
	var state [8]byte
	hash.Write(binary.BigEndian.AppendUint64(state[:0], m.changes)) //nolint:errcheck // a hash takes everything
	hash.Write(card.Raw())                                          //nolint:errcheck // the same
	var sum [sha256.Size]byte
	hash.Sum(sum[:0])
	if known, ok := m.checked.Get(sum); ok {
		return known
	}
	var checks []Check
	payloads := sync.OnceValue(func() []payload { return payloads(card) })
	for i, s := range card.Signatures() {
		if i == maxSignatures {
			break
		}
		if c, ok := m.verify(s, payloads, arrival); ok {
			c.Index = i
			checks = append(checks, c)
		}
	}
	m.checked.Put(sum, checks)
	return checks
}
