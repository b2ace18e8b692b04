// Package card tracks agent cards: what those say that name the interface a call goes to, when each was fetched, and
// which could not be.
package card

import (
	"a2atap/analyzer"
	"a2atap/analyzer/directory"
	"a2atap/analyzer/recent"
	"a2atap/proxy/a2a"
)

// Bounds of what is remembered. What goes beyond is forgotten, least recently used first.
const (
	maxCards   = 1_000  // and as many that could not be fetched
	maxFetches = 1_000  // and as many on connections
	maxOrigins = 10_000 // schemes, hosts and ports
	maxClients = 8      // that were refused one card
)

// Tracker remembers the cards that were fetched.
var Tracker = &analyzer.Tracker{
	Name:  "card",
	Doc:   "the agent cards that were fetched, what they say of each interface, and the fetches that failed",
	On:    analyzer.RequestRead | analyzer.CardSeen | analyzer.AnswerDone | analyzer.CaptureDone,
	Makes: analyzer.CardMissed,
	New: func(s *analyzer.Setup) analyzer.State {
		return &Memory{
			cards:       directory.New[*Card](maxCards),
			fetches:     recent.New[fetchKey, *Fetch](maxFetches),
			fetchesHere: recent.New[connKey, *Fetch](maxFetches),
			failures:    recent.New[string, *Failure](maxCards),
			origins:     recent.New[string, *origin](maxOrigins),
			readers:     recent.New[reader, analyzer.Moment](maxFetches),
			before:      analyzer.NewSlot[*before](s),
		}
	},
}

// Of returns what is remembered of cards.
func Of(p *analyzer.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Memory is what is remembered of cards.
type Memory struct {
	cards       *directory.Directory[*Card]
	fetches     *recent.Map[fetchKey, *Fetch] // the last one of each card
	fetchesHere *recent.Map[connKey, *Fetch]  // those forgotten are not counted: most of their connections are closed
	failures    *recent.Map[string, *Failure] // by address
	origins     *recent.Map[string, *origin]
	readers     *recent.Map[reader, analyzer.Moment] // when a client had first read a card; those forgotten have not
	before      analyzer.Slot[*before]
}

// A Card is an agent card as it was last seen, before any rewriting.
type Card struct {
	a2a.Card
	URL      string // it was fetched from
	Client   string // that fetched it
	Asked    string // the version that the fetch named, if any: it may have chosen the card's shape
	Place    analyzer.Place
	Extended bool
	Seen     analyzer.Moment // when it had been delivered
	Security a2a.Security    // what it asks of requests
	Needs    []string        // URIs of the extensions that clients have to use

	ever Abilities // that it names, or one did that was fetched in the same way before
}

// before is what cards say of an interface that had been delivered before a call to it began.
type before struct {
	cards      []*Card // newest last
	interfaces []a2a.Interface
}

// Take implements analyzer.State.
func (m *Memory) Take(p *analyzer.Pass) {
	switch p.Kind {
	case analyzer.RequestRead:
		if p.Exchange.Endpoint != nil {
			m.find(p.Exchange)
		}
	case analyzer.CardSeen:
		m.learn(p.Observation)
	case analyzer.AnswerDone:
		m.answered(p.Observation)
	case analyzer.CaptureDone:
		m.missed(p)
	}
}

// Forgotten implements analyzer.State: it returns how many cards and fetches were.
func (m *Memory) Forgotten() int { return m.cards.Forgotten() + m.fetches.Forgotten() }

// learn remembers a card.
func (m *Memory) learn(o *analyzer.Observation) {
	x := o.Exchange
	card := &Card{
		Card: *o.Card, URL: x.URL(), Client: x.Link.Client, Asked: x.Call.Version, Place: o.Place,
		Extended: x.Call.Operation == a2a.GetExtendedCard, Seen: o.Moment(), Security: o.Card.Security(),
	}
	for ext := range card.Extensions() {
		if uri := ext.URI(); uri != "" && ext.Required() && len(card.Needs) < directory.MaxInterfaces {
			card.Needs = append(card.Needs, uri)
		}
	}
	key := directory.Key{URL: card.URL, Extended: card.Extended, Version: x.Call.Version}
	card.ever = abilities(&card.Card)
	if old, ok := m.cards.Get(key); ok {
		card.ever |= old.ever
	}
	m.cards.Put(key, card, card.Interfaces)
	m.read(x, card.URL, card.Extended, card.Seen)
	m.fetched(x, card)
}
