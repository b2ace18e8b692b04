package analyzer

import (
	"bytes"

	"a2atap/analyzer/digest"
	"a2atap/analyzer/recent"
	"a2atap/proxy/a2a"
)

// maxToldOfCards bounds the findings about cards that are remembered. What is forgotten is reported again.
const maxToldOfCards = 10_000

// refetched is what has been found in cards, so that a client which fetches the same card again and again is not told
// the same each time.
type refetched struct {
	told *recent.Map[digest.Digest, struct{}]
}

func newRefetched() refetched {
	return refetched{told: recent.New[digest.Digest, struct{}](maxToldOfCards)}
}

// again reports whether the finding is about a card that the same client has got before, byte for byte from the same
// URL, and said the same then.
func (r *refetched) again(x *Exchange, f *Finding) bool {
	if x == nil || x.card == 0 || !f.Place.Response || f.Side != a2a.Agent {
		return false
	}
	key := x.card.Text(x.Link.Client).Text(x.Address)
	key = key.Text(f.Rule.ID).Text(f.Place.Part).Text(f.Place.Pointer).Text(f.Message)
	if _, known := r.told.Get(key); known {
		return true
	}
	r.told.Put(key, struct{}{})
	return false
}

// exchangeOf returns the exchange that a finding is in, nil if it is over.
func (e *Engine) exchangeOf(f *Finding) *Exchange {
	if in := e.open[f.Place.Exchange]; in != nil {
		return in.x
	}
	return nil
}

// Bounds of the cards that are not read again as long as they do not change.
const (
	maxShownCards = 64
	maxShownCard  = 64 << 10 // bytes of each
)

// A shownCard is the card that an agent has shown last at an address. Clients fetch it at every start.
type shownCard struct {
	text []byte
	doc  *a2a.Doc
	card a2a.Card
}

// readAnswer returns what the text of an answer is parsed to. That of the same card is parsed once.
func (e *Engine) readAnswer(x *Exchange, text []byte) *a2a.Doc {
	if x.Call.Operation != a2a.GetCard || len(text) == 0 || len(text) > maxShownCard {
		return parsed(text)
	}
	shown, _ := e.shown.Get(x.Address)
	if shown == nil || !bytes.Equal(shown.text, text) {
		shown = &shownCard{text: bytes.Clone(text)} // not the block of a capture that holds it
		shown.doc = parsed(shown.text)
		e.shown.Put(x.Address, shown)
	}
	return shown.doc
}

// readCard returns the card that an answer holds. The same one is decoded once.
func (e *Engine) readCard(x *Exchange, v a2a.Value) *a2a.Card {
	shown, _ := e.shown.Get(x.Address)
	if shown == nil || shown.doc.Root != v {
		card := a2a.DecodeCard(v)
		return &card
	}
	if !shown.card.Exists() {
		shown.card = a2a.DecodeCard(v)
	}
	return &shown.card
}

// cardOf returns what stands for the text of the card that an exchange was answered with; 0 if it was not.
func cardOf(x *Exchange, body []byte) digest.Digest {
	if o := x.Call.Operation; o != a2a.GetCard && o != a2a.GetExtendedCard || x.Response.Status != 200 {
		return 0
	}
	return digest.Empty.Bytes(body)
}
