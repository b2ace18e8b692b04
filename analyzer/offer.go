package analyzer

import (
	"iter"

	"a2atap/proxy/a2a"
)

// Abilities is a set of what cards say that an agent can do.
type Abilities uint8

// The abilities.
const (
	CanStream Abilities = 1 << iota
	CanPush
	HasExtendedCard
)

// abilities returns what a card says that its agent can do.
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

// An Offer is an interface that a card names.
type Offer struct {
	Card *Card
	a2a.Interface
	Before bool // the card had been delivered before the exchange began
}

// Offers yields what cards name at the URL that a call went to, whatever its binding.
func (s *Session) Offers(x *Exchange) iter.Seq[Offer] {
	return func(yield func(Offer) bool) {
		at := x.endpointKey().address
		for _, d := range s.cards.near(at) {
			if d.address == at && !yield(Offer{d.card, d.entry, d.before(x)}) {
				return
			}
		}
	}
}

func (d *declaration) before(x *Exchange) bool {
	return x.beganAfter(&Sighting{Arrival: d.card.Arrival, At: d.card.At})
}

// Without returns the newest card that names the exchange's endpoint and had been delivered before the exchange began, if
// neither it nor any other that was ever seen there, nor an extended card that was not seen, may say that the agent has
// the ability. What belongs to no interface is at the origin of all.
func (s *Session) Without(x *Exchange, ability Abilities) *Card {
	key := x.endpointKey()
	var last *Card
	more, extended := false, false
	for _, d := range s.cards.near(key.address) {
		if !d.names(key) && key.binding != a2a.NoBinding {
			continue
		}
		if d.card.ever&ability != 0 {
			return nil
		}
		more, extended = more || d.card.ever&HasExtendedCard != 0, extended || d.card.Extended
		if d.before(x) {
			last = d.card
		}
	}
	if more && !extended {
		return nil
	}
	return last
}
