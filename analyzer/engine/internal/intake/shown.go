package intake

import (
	"bytes"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
)

// Bounds for cards that are not parsed again while they are unchanged.
const (
	maxShownCards = 64
	maxShownCard  = 64 << 10 // bytes of each
)

// A shownCard is the last card that an agent has shown at an address. Clients fetch it at every start.
type shownCard struct {
	text  []byte
	doc   *a2a.Doc
	card  a2a.Card
	quiet analysis.Quiet
}

// shownCards are the cards that agents have shown, by their addresses.
type shownCards struct {
	byAddress *recent.Map[string, *shownCard]
}

func newShownCards() shownCards { return shownCards{recent.New[string, *shownCard](maxShownCards)} }

// readAnswer returns the parsed text of an answer. The same card is parsed once.
func (s *shownCards) readAnswer(x *analysis.Exchange, text []byte) *a2a.Doc {
	if x.Call.Operation != a2a.GetCard || len(text) == 0 || len(text) > maxShownCard {
		return parsed(text)
	}
	shown, _ := s.byAddress.Get(x.Address)
	if shown == nil || !bytes.Equal(shown.text, text) {
		shown = &shownCard{text: bytes.Clone(text)} // a copy, not the block of a capture that contains it
		shown.doc = parsed(shown.text)
		s.byAddress.Put(x.Address, shown)
	}
	return shown.doc
}

// readCard returns the card in an answer, and which rules are known to find nothing in it. The same card is decoded
// once.
func (s *shownCards) readCard(x *analysis.Exchange, v a2a.Value) (*a2a.Card, analysis.Quiet) {
	shown, _ := s.byAddress.Get(x.Address)
	if shown == nil || shown.doc.Root != v {
		card := a2a.DecodeCard(v)
		card.Blank = x.Call.Binding == a2a.GRPC
		return &card, nil
	}
	if !shown.card.Exists() {
		shown.card, shown.quiet = a2a.DecodeCard(v), make(analysis.Quiet)
	}
	return &shown.card, shown.quiet
}

// cardOf returns a digest of the card text in an exchange's response; 0 if the response is not a card.
func cardOf(x *analysis.Exchange, body []byte) digest.Digest {
	if o := x.Call.Operation; o != a2a.GetCard && o != a2a.GetExtendedCard || x.Response.Status != 200 {
		return 0
	}
	return digest.Empty.Bytes(body)
}
