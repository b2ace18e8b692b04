// Package cardfetch recognises the fetch of an agent card by its answer where the path does not tell.
//
// [MayAsk] and [MayAnswer] look at heads, and so say cheaply which exchanges need a closer look; [Find] looks at the
// answer itself. It is strict: the answer must be a card, and that of the agent which answers, since a directory
// serves the cards of others, for which the duties of an agent's own card do not hold.
//
// Engine and readers stand on it, so that both take the same exchanges for fetches.
// docs/decisions/0010-cards-known-by-what-they-are.md says why. All functions are safe for concurrent use.
package cardfetch

import (
	"net/http"
	"strings"

	"a2atap/analyzer/internal/address"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// MaxBody bounds the body of an answer, in bytes, that is looked at for a card where no path says that it is one.
const MaxBody = 1 << 20

// MayAsk reports whether a request that is not a call may have fetched a card all the same.
func MayAsk(r *capture.Head, body []byte) bool {
	return r.Method == http.MethodGet && len(body) == 0
}

// MayAnswer reports whether an answer to one may be the card.
func MayAnswer(h *capture.Head) bool {
	media := h.Fields.MediaType()
	return h.Status == http.StatusOK && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

// Find returns what the fetch of a card asks that its answer alone shows to be one, and whether it does. It has to
// be the card of the agent that answers: a directory serves those of others, and what holds for an agent's own card does
// not hold for them. So an address in it has to be at the origin that was asked, or of the path that was asked, as an
// agent has it that does not know its public name; at the root of a host, any.
func Find(origin, path string, root a2a.Value) (a2a.Call, bool) {
	if !a2a.IsCard(root) {
		return a2a.Call{}, false
	}
	card := a2a.DecodeCard(root)
	at := address.Of(origin + path)
	own := strings.Trim(path, "/") == ""
	for _, i := range card.Interfaces {
		to := address.Of(i.URL)
		own = own || address.Origin(to) == address.Origin(at) ||
			strings.TrimPrefix(to, address.Origin(to)) == strings.TrimPrefix(at, address.Origin(at))
	}
	return a2a.Call{Operation: a2a.GetCard, Dialects: card.Shapes, Evidence: a2a.Hint}, own
}
