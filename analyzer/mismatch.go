package analyzer

import (
	"strings"

	"a2atap/proxy/a2a"
)

// Spoken returns the dialects that a call may be in by itself.
func (x *Exchange) Spoken() a2a.Dialects {
	if m := x.Call.Method; m != "" && m == x.Call.Operation.MethodName(a2a.V0_1) { // tasks/get is the same in 0.1
		return x.Call.Dialects.Union(a2a.Of(a2a.V0_1))
	}
	return x.Call.Dialects
}

// heard returns the dialects that an answer which shows none may be in: those of the request, and where it was asked in
// one that is not spoken there, those that are as well. Then only rules that hold in both are judged.
func (x *Exchange) heard() a2a.Dialects {
	if x.Endpoint == nil {
		return x.Dialects
	}
	spoken := x.Endpoint.Declared | x.Endpoint.Answered
	if spoken.Empty() || x.Call.Dialects.Empty() || !x.Spoken().Intersect(spoken).Empty() {
		return x.Dialects
	}
	return x.Dialects | spoken
}

// A CardPlace is where the card of an agent is.
type CardPlace struct {
	Path   string // escaped
	Place  Place
	Client string // that fetched it
	Shapes a2a.Dialects
}

// CardBeside returns where the card is that another version looks for beside the path of a fetch, if it was ever fetched
// there, and by which client last; nil if it was not.
func (s *Session) CardBeside(x *Exchange) *CardPlace {
	for i, known := range a2a.WellKnownPaths {
		base, ok := strings.CutSuffix(x.Path, known)
		if !ok {
			continue
		}
		path := base + a2a.WellKnownPaths[1-i]
		for _, version := range [...]string{x.Call.Version, ""} {
			if card, ok := s.cards.recent.get(cardKey{x.Origin + path, false, version}); ok {
				return &CardPlace{Path: path, Place: card.Place, Client: card.Client, Shapes: card.Shapes}
			}
		}
	}
	return nil
}
