package replay_test

import (
	"context"
	"io"
	"net/http"
	"strings"

	"a2atap/replay/client"
)

// Shown only by transcripts: card-wellknown-path, since none of a2atap's clients looks in two places;
// card-conditional-get and card-cache-honoured, since none keeps a card beyond its run; the cards of 0.1 and 0.2.

// revisit fetches the card, and then asks whether it has changed.
func revisit(ctx context.Context, tapURL string, _ client.Protocol, _ client.Options) {
	tag := ""
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet,
			strings.TrimRight(tapURL, "/")+"/.well-known/agent-card.json", nil)
		if err != nil {
			panic(err)
		}
		if tag != "" {
			req.Header.Set("If-None-Match", tag)
		}
		transport := &http.Transport{DisableKeepAlives: true}
		res, err := transport.RoundTrip(req)
		if err != nil {
			return
		}
		io.Copy(io.Discard, res.Body) //nolint:errcheck // see tour
		res.Body.Close()
		tag = res.Header.Get("ETag")
	}
}
