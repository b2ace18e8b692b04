package card

import (
	"iter"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// An Offer is an interface that a card names.
type Offer struct {
	Card *Card
	a2a.Interface
	Before bool // the card had been delivered before the exchange began
}

// Offers yields the interfaces that cards declare at the URL of a call, for any binding.
func (m *Memory) Offers(x *analysis.Exchange) iter.Seq[Offer] {
	return func(yield func(Offer) bool) {
		at := x.Interface()
		for _, d := range m.cards.Near(at) {
			if d.Address == at && !yield(Offer{d.Card, d.Interface, x.BeganAfter(d.Card.Seen)}) {
				return
			}
		}
	}
}

// Denying returns the newest card that names the exchange's endpoint and was delivered before the exchange began, if no
// such card declares the ability; else nil. more is true if the cards promise an unseen extended card that may add the
// ability.
func (m *Memory) Denying(x *analysis.Exchange, ability Abilities) (last *Card, more bool) {
	promised, extended := false, false
	for _, c := range m.Before(x) {
		if abilities(&c.Card)&ability != 0 {
			return nil, false
		}
		promised, extended = promised || c.ExtendedCard.True(), extended || c.Extended
		last = c
	}
	return last, promised && !extended
}

// Without returns the newest card that names the exchange's endpoint and had been delivered before the exchange began,
// if neither it nor any other card ever seen there declares the ability. An unseen extended card may declare it, unless
// the client was seen to read only the public card. Exchanges outside any interface belong to the origin.
func (m *Memory) Without(x *analysis.Exchange, ability Abilities) *Card {
	at := x.Interface()
	var last *Card
	promised, extended, read := false, false, false
	near := m.cards.Near(at)
	for i := range near {
		d := &near[i]
		if !d.Names(at, x.Call.Binding) && x.Call.Binding != a2a.NoBinding {
			continue
		}
		if d.Card.ever&ability != 0 {
			return nil
		}
		promised, extended = promised || d.Card.ever&HasExtendedCard != 0, extended || d.Card.Extended
		if x.BeganAfter(d.Card.Seen) {
			last, read = d.Card, read || m.ReadBefore(x, d.Card)
		}
	}
	if promised && !extended && !read {
		return nil
	}
	return last
}

// UnseenBefore reports whether the cards before an exchange promise an extended card that the client may know: no
// client was seen to read the extended card, and this client was not seen to read the public one.
func (m *Memory) UnseenBefore(x *analysis.Exchange) bool {
	promised := false
	for _, c := range m.Before(x) {
		if c.Extended || m.ReadBefore(x, c) {
			return false
		}
		promised = promised || c.ExtendedCard.True()
	}
	return promised
}

// MayNameAlso reports whether cards that name the URL of an exchange, for any binding, promise an extended card that
// was not seen and may name further interfaces.
func (m *Memory) MayNameAlso(x *analysis.Exchange) bool {
	promised := false
	for o := range m.Offers(x) {
		if o.Card.Extended {
			return false
		}
		promised = promised || o.Card.ExtendedCard.True()
	}
	return promised
}

// StreamsRefused returns the newest card seen before the current streaming call, if all cards offer streaming in the
// version of the call and the protocol requires it; else nil.
func (m *Memory) StreamsRefused(o *analysis.Observation) *Card {
	x := o.Exchange
	if o.Answer == nil || !x.Call.Operation.Streams() || x.Endpoint.Declared.Intersect(x.Call.Dialects).Empty() {
		return nil
	}
	if x.Call.Operation == a2a.SubscribeToTask && !x.Dialects.Has(a2a.V1_0) && x.Dialects != a2a.Of(a2a.V0_1) {
		return nil
	}
	var last *Card
	for _, c := range m.Before(x) {
		if !c.Streaming.True() {
			return nil
		}
		last = c
	}
	return last
}

// Waits reports whether a send certainly asks for the outcome: it is a 1.0 send, to be answered when the task has ended
// or waits for the client. The release candidate of 1.0 had another default under the same method name, so the request
// or a card must name the version.
func (m *Memory) Waits(x *analysis.Exchange) bool {
	if x.Call.Operation != a2a.SendMessage || x.Dialects != a2a.Of(a2a.V1_0) {
		return false
	}
	configuration := x.Call.Params.Get("configuration")
	if x.Call.Params.Kind() != a2a.Object || present(configuration) && configuration.Kind() != a2a.Object {
		return false // its request cannot be read
	}
	for _, name := range [...]string{"returnImmediately", "return_immediately"} {
		if v := configuration.Get(name); v.Exists() && !v.IsNull() {
			if atOnce, ok := v.Bool(); atOnce || !ok {
				return false
			}
		}
	}
	if configuration.Has("blocking") {
		return false
	}
	named := x.Call.Version != ""
	if named && !released(x.Call.Version) {
		return false
	}
	for _, v := range m.Versions(x) {
		if strings.Contains(v, "rc") {
			return false
		}
		named = named || released(v)
	}
	return named
}

func present(v a2a.Value) bool { return v.Exists() && !v.IsNull() }

// released reports whether a version is 1.0 or later, and not a release candidate.
func released(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	return major != "" && major != "0" && !strings.Contains(version, "rc")
}
