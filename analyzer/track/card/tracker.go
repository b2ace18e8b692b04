// Package card tracks agent cards: the contents of cards that name the interface of a call, when each was fetched, and
// which fetches failed.
package card

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/directory"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
)

// Tracker remembers the cards that were fetched.
var Tracker = &analysis.Tracker{
	Name:  "card",
	Doc:   "the fetched agent cards, what they declare for each interface, and failed fetches",
	On:    analysis.RequestRead | analysis.CardSeen | analysis.AnswerDone | analysis.CaptureDone,
	Makes: analysis.CardMissed,
	New: func(s *analysis.Setup) analysis.State {
		return &Memory{
			cards:       directory.New[*Card](maxCards),
			fetches:     recent.New[fetchKey, *Fetch](maxFetches),
			fetchesHere: recent.New[connKey, *Fetch](maxFetches),
			failures:    recent.New[string, *Failure](maxCards),
			origins:     recent.New[string, *origin](maxOrigins),
			readers:     recent.New[reader, analysis.Moment](maxFetches),
			before:      analysis.NewSlot[*before](s),
		}
	},
}

// Of returns the Memory of cards.
func Of(p *analysis.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	switch p.Kind {
	case analysis.RequestRead:
		if p.Exchange.Endpoint != nil {
			m.find(p.Exchange)
		}
	case analysis.CardSeen:
		m.learn(p.Observation)
	case analysis.AnswerDone:
		m.answered(p.Observation)
	case analysis.CaptureDone:
		m.missed(p)
	}
}

// Forgotten implements analysis.State: it returns how many cards and fetches were.
func (m *Memory) Forgotten() int { return m.cards.Forgotten() + m.fetches.Forgotten() }

// learn remembers a card.
func (m *Memory) learn(o *analysis.Observation) {
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
