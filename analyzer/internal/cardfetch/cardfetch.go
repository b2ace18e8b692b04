// Package cardfetch recognizes the fetch of an agent card by its answer if the path does not tell.
//
// [MayAsk] and [MayAnswer] examine heads, and so find cheaply which exchanges need a closer look; [Find] examines the
// answer's body. It is strict: the answer must be the card of the answering agent, since a directory serves the cards
// of others, to which the requirements for an agent's own card do not apply.
//
// Engine and readers use it, so that both treat the same exchanges as fetches.
// docs/decisions/0010-cards-known-by-what-they-are.md explains why. All functions are safe for concurrent use.
package cardfetch

import (
	"net/http"
	"strings"

	"a2atap/analyzer/internal/address"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// MaxBody bounds the body of an answer, in bytes, that is searched for a card if the path does not tell.
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

// Find returns the call of a card fetch that only the answer shows to be one, and whether it is one. The card must be
// the answering agent's: a directory serves the cards of others, to which the requirements for an agent's own card do
// not apply. So an address in the card must be at the requested origin, or have the requested path, as for an agent
// that does not know its public name; at the root of a host, any address will do.
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
