package card

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/directory"
	"a2atap/proxy/a2a"
)

// find records the statements of cards about the interface of a call when its request arrives: later cards do not
// count.
func (m *Memory) find(x *analysis.Exchange) {
	at := x.Interface()
	var b *before
	near := m.cards.Near(at)
	if len(near) == 0 {
		return
	}
	traits := analysis.Offered
	for i := range near {
		d := &near[i]
		if !x.BeganAfter(d.Card.Seen) || !d.Names(at, x.Call.Binding) {
			continue
		}
		if b == nil {
			b = &before{}
			m.before.Put(x, b)
			traits |= analysis.Carded
		}
		b.interfaces = append(b.interfaces, d.Interface)
		if !slices.Contains(b.cards, d.Card) {
			b.cards = append(b.cards, d.Card)
		}
	}
	x.FoundCards(traits)
}

// Before returns the cards that name the exchange's endpoint among their interfaces and had been delivered before
// the exchange began, newest last. The slice must not be changed.
func (m *Memory) Before(x *analysis.Exchange) []*Card {
	if b := m.before.Of(x); b != nil {
		return b.cards
	}
	return nil
}

// Interfaces returns how those cards declare the endpoint. The slice must not be changed.
func (m *Memory) Interfaces(x *analysis.Exchange) []a2a.Interface {
	if b := m.before.Of(x); b != nil {
		return b.interfaces
	}
	return nil
}

// At returns the card that was last fetched from another path of the exchange's host, in the version that the exchange
// names; nil if none was.
func (m *Memory) At(x *analysis.Exchange, path string) *Card {
	card, _ := m.cards.Get(directory.Key{URL: x.Origin + path, Version: x.Call.Version})
	return card
}

// Public returns the public card that names the exchange's endpoint, has a face of one of the dialects and was
// delivered last before the exchange began; nil if none is known.
func (m *Memory) Public(x *analysis.Exchange, in a2a.Dialects) *Card {
	for _, card := range slices.Backward(m.Before(x)) {
		if !card.Extended && !card.Shapes.Intersect(in).Empty() {
			return card
		}
	}
	return nil
}

// OtherBinding returns a card that declares the URL of the exchange's endpoint only for bindings other than the
// exchange's. It returns nil if no card does, or if a card declares the exchange's binding anywhere at this host. Only
// cards that had been delivered before the exchange began count.
func (m *Memory) OtherBinding(x *analysis.Exchange) (*Card, a2a.Interface) {
	at := x.Interface()
	var found *directory.Entry[*Card]
	near := m.cards.Near(at)
	for i := range near {
		d := &near[i]
		switch {
		case d.Binding == x.Call.Binding, d.Binding == a2a.NoBinding:
			return nil, a2a.Interface{}
		case d.Address == at && x.BeganAfter(d.Card.Seen):
			found = d
		}
	}
	if found == nil {
		return nil, a2a.Interface{}
	}
	return found.Card, found.Interface
}

// Versions returns the versions that cards declare for the exchange's endpoint, as written. Entries without a version
// are left out.
func (m *Memory) Versions(x *analysis.Exchange) []string {
	var versions []string
	at := x.Interface()
	near := m.cards.Near(at)
	for i := range near {
		if d := &near[i]; d.Version != "" && d.Names(at, x.Call.Binding) {
			versions = append(versions, d.Version)
		}
	}
	return versions
}

// A Location is where the card of an agent is.
type Location struct {
	Path   string // escaped
	Place  analysis.Place
	Read   bool // by the client of the exchange, before or after
	Shapes a2a.Dialects
}

// Beside returns the location of the card at the well-known path of another version, next to the path of a fetch, if it
// was ever fetched there; else nil.
func (m *Memory) Beside(x *analysis.Exchange) *Location {
	for i, known := range a2a.WellKnownPaths {
		base, ok := strings.CutSuffix(x.Path, known)
		if !ok {
			continue
		}
		path := base + a2a.WellKnownPaths[1-i]
		for _, version := range [...]string{x.Call.Version, ""} {
			if card, ok := m.cards.Get(directory.Key{URL: x.Origin + path, Version: version}); ok {
				_, read := m.readers.Get(reader{x.Link.Client, card.URL, false})
				return &Location{Path: path, Place: card.Place, Read: read, Shapes: card.Shapes}
			}
		}
	}
	return nil
}
