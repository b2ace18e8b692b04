package analyzer

import (
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

// cardOf returns what stands for the text of the card that an exchange was answered with; 0 if it was not.
func cardOf(x *Exchange, body []byte) digest.Digest {
	if o := x.Call.Operation; o != a2a.GetCard && o != a2a.GetExtendedCard || x.Response.Status != 200 {
		return 0
	}
	return digest.Empty.Bytes(body)
}
