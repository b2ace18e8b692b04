package intake

import (
	"bytes"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
)

// Bounds of the cards that are not read again as long as they do not change.
const (
	maxShownCards = 64
	maxShownCard  = 64 << 10 // bytes of each
)

// A shownCard is the card that an agent has shown last at an address. Clients fetch it at every start.
type shownCard struct {
	text  []byte
	doc   *a2a.Doc
	card  a2a.Card
	quiet analysis.Quiet
}

// shownCards are the cards that agents have shown, by the address that was asked for them.
type shownCards struct {
	byAddress *recent.Map[string, *shownCard]
}

func newShownCards() shownCards { return shownCards{recent.New[string, *shownCard](maxShownCards)} }

// readAnswer returns what the text of an answer is parsed to. That of the same card is parsed once.
func (s *shownCards) readAnswer(x *analysis.Exchange, text []byte) *a2a.Doc {
	if x.Call.Operation != a2a.GetCard || len(text) == 0 || len(text) > maxShownCard {
		return parsed(text)
	}
	shown, _ := s.byAddress.Get(x.Address)
	if shown == nil || !bytes.Equal(shown.text, text) {
		shown = &shownCard{text: bytes.Clone(text)} // not the block of a capture that holds it
		shown.doc = parsed(shown.text)
		s.byAddress.Put(x.Address, shown)
	}
	return shown.doc
}

// readCard returns the card that an answer holds, and which rules are known to find nothing in it. The same one is
// decoded once.
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

// cardOf returns what stands for the text of the card that an exchange was answered with; 0 if it was not.
func cardOf(x *analysis.Exchange, body []byte) digest.Digest {
	if o := x.Call.Operation; o != a2a.GetCard && o != a2a.GetExtendedCard || x.Response.Status != 200 {
		return 0
	}
	return digest.Empty.Bytes(body)
}
