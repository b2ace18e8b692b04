package analyzer

import (
	"slices"
	"time"

	"a2atap/proxy/a2a"
)

// A cardKey identifies a card: where it was fetched, and for whom.
type cardKey struct {
	url      string
	extended bool
	version  string // of the request that fetched it: one URL may hold two shapes
}

// A Card is an agent card as it was last seen, before any rewriting.
type Card struct {
	a2a.Card
	URL      string // it was fetched from
	Client   string // that fetched it
	Asked    string // the version that the fetch named, if any: it may have chosen the card's shape
	Place    Place
	Extended bool
	Arrival  uint64 // of the step that completed its delivery
	At       time.Time
	Security a2a.Security // what it asks of requests
	Needs    []string     // URIs of the extensions that clients have to use

	ever Abilities // that it names, or one did that was fetched in the same way before
}

// A declaration is one interface that a card names.
type declaration struct {
	card    *Card
	address string // of the interface
	entry   a2a.Interface
}

// cards keeps the cards that were fetched last, and finds what they say of a URL without looking at all of them.
type cards struct {
	recent *recent[cardKey, *Card]
	at     map[string][]declaration // by origin of the interface, in the order in which the cards were fetched
}

func newCards(limit int) *cards {
	return &cards{recent: newRecent[cardKey, *Card](limit), at: make(map[string][]declaration)}
}

// put remembers a card in the place of the one that was fetched in the same way before.
func (c *cards) put(key cardKey, card *Card) {
	card.ever = abilities(&card.Card)
	if old, ok := c.recent.get(key); ok {
		card.ever |= old.ever
		c.drop(old)
	}
	if forgotten, ok := c.recent.put(key, card); ok {
		c.drop(forgotten)
	}
	for _, entry := range card.Interfaces[:min(len(card.Interfaces), maxInterfaces)] {
		entry.URL = address(entry.URL)
		origin := originOf(entry.URL)
		c.at[origin] = append(c.at[origin], declaration{card, entry.URL, entry})
	}
}

func (c *cards) drop(card *Card) {
	for _, entry := range card.Interfaces {
		origin := originOf(address(entry.URL))
		kept := slices.DeleteFunc(c.at[origin], func(d declaration) bool { return d.card == card })
		if len(kept) == 0 {
			delete(c.at, origin)
			continue
		}
		c.at[origin] = kept
	}
}

// near returns what cards declare at the origin of an address.
func (c *cards) near(address string) []declaration { return c.at[originOf(address)] }

// declared returns the dialects that cards declare for an endpoint.
func (c *cards) declared(key endpointKey) a2a.Dialects {
	var set a2a.Dialects
	for _, d := range c.near(key.address) {
		if d.names(key) {
			set |= d.entry.Dialects
		}
	}
	return set
}

// declaredAt returns the dialects that cards declare for an address, whatever the binding.
func (c *cards) declaredAt(address string) a2a.Dialects {
	var set a2a.Dialects
	for _, d := range c.near(address) {
		if d.address == address {
			set |= d.entry.Dialects
		}
	}
	return set
}

func (d *declaration) names(key endpointKey) bool {
	return d.address == key.address && d.entry.Binding == key.binding
}

// CardsBefore returns the cards that name the exchange's endpoint among their interfaces and had been delivered before
// the exchange began, newest last. The slice must not be changed.
func (s *Session) CardsBefore(x *Exchange) []*Card { return x.cards }

// Interfaces returns how those cards declare the endpoint. The slice must not be changed.
func (x *Exchange) Interfaces() []a2a.Interface { return x.entries }

// cardsBefore finds what CardsBefore returns, when the request is there: cards that come later do not count.
func (s *Session) cardsBefore(x *Exchange, key endpointKey) []*Card {
	var found []*Card
	for _, d := range s.cards.near(key.address) {
		before := x.beganAfter(&Sighting{Arrival: d.card.Arrival, At: d.card.At})
		if !before || !d.names(key) {
			continue
		}
		x.entries = append(x.entries, d.entry)
		if !slices.Contains(found, d.card) {
			found = append(found, d.card)
		}
	}
	return found
}

// CardAt returns the card that was last fetched from another path of the exchange's host, in the version that the exchange names;
// nil if none was.
func (s *Session) CardAt(x *Exchange, path string) *Card {
	card, _ := s.cards.recent.get(cardKey{x.Origin + path, false, x.Call.Version})
	return card
}

// SpokenWithoutCard returns the dialects in which calls succeeded at the host of an exchange; none if a card came from there.
func (s *Session) SpokenWithoutCard(x *Exchange) a2a.Dialects {
	if o := s.origin(x); !o.served {
		return o.spoken
	}
	return 0
}

// PublicCard returns the public card that names the exchange's endpoint, has a face of one of the dialects and was delivered last
// before the exchange began; nil if none is known.
func (s *Session) PublicCard(x *Exchange, in a2a.Dialects) *Card {
	for _, card := range slices.Backward(x.cards) {
		if !card.Extended && !card.Shapes.Intersect(in).Empty() {
			return card
		}
	}
	return nil
}

// OtherBinding returns a card that declares the URL of the exchange's endpoint, and for other bindings than that of the exchange
// alone; nil if there is none, or if a card declares the binding of the exchange anywhere at this host. Each card has to have been
// delivered before the exchange began.
func (s *Session) OtherBinding(x *Exchange) (*Card, a2a.Interface) {
	key := x.endpointKey()
	var found *declaration
	near := s.cards.near(key.address)
	for i := range near {
		d := &near[i]
		switch {
		case d.entry.Binding == key.binding, d.entry.Binding == a2a.NoBinding:
			return nil, a2a.Interface{}
		case d.address == key.address && x.beganAfter(&Sighting{Arrival: d.card.Arrival, At: d.card.At}):
			found = d
		}
	}
	if found == nil {
		return nil, a2a.Interface{}
	}
	return found.card, found.entry
}

// Versions returns what cards give as the version of the exchange's endpoint, as written. Entries that give none are left
// out.
func (s *Session) Versions(x *Exchange) []string {
	var versions []string
	key := x.endpointKey()
	for _, d := range s.cards.near(key.address) {
		if d.names(key) && d.entry.Version != "" {
			versions = append(versions, d.entry.Version)
		}
	}
	return versions
}
