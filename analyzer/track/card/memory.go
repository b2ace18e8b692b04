package card

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/directory"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
)

// Bounds of memory. Anything beyond is forgotten, least recently used first.
const (
	maxCards   = 1_000  // and as many that could not be fetched
	maxFetches = 1_000  // and as many on connections
	maxOrigins = 10_000 // schemes, hosts and ports
	maxClients = 8      // that were refused one card
)

// Memory remembers cards.
type Memory struct {
	cards       *directory.Directory[*Card]
	fetches     *recent.Map[fetchKey, *Fetch] // the last one of each card
	fetchesHere *recent.Map[connKey, *Fetch]  // those forgotten are not counted: most of their connections are closed
	failures    *recent.Map[string, *Failure] // by address
	origins     *recent.Map[string, *origin]
	readers     *recent.Map[reader, analysis.Moment] // when a client had first read a card; those forgotten have not
	before      analysis.Slot[*before]
}

// A Card is an agent card as it was last seen, before any rewriting.
type Card struct {
	a2a.Card
	URL      string // it was fetched from
	Client   string // that fetched it
	Asked    string // the version that the fetch named, if any: it may have chosen the card's shape
	Place    analysis.Place
	Extended bool
	Seen     analysis.Moment // when it had been delivered
	Security a2a.Security    // its requirements for requests
	Needs    []string        // URIs of the extensions that clients have to use

	ever Abilities // that it names, or one did that was fetched in the same way before
}

// before has the statements about an interface in cards that had been delivered before a call to it began.
type before struct {
	cards      []*Card // newest last
	interfaces []a2a.Interface
}

// Abilities is a set of an agent's capabilities as declared by cards.
type Abilities uint8

// The abilities.
const (
	CanStream Abilities = 1 << iota
	CanPush
	HasExtendedCard
)

// abilities returns the capabilities that a card declares.
func abilities(c *a2a.Card) (set Abilities) {
	if c.Streaming.True() {
		set |= CanStream
	}
	if c.Push.True() {
		set |= CanPush
	}
	if c.ExtendedCard.True() {
		set |= HasExtendedCard
	}
	return set
}
