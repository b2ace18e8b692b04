package card

import (
	"context"
	"net/http"
	"net/url"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/jws"
	"a2atap/analyzer/track/signature"
	"a2atap/proxy/hostname"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Signatures are about the signatures of the card.
var Signatures = []*probe.Scenario{
	{
		ID: "act-signature-verify", Title: "the signatures of the card verify with their keys",
		Category: analysis.AgentCard, Level: analysis.Must, Once: true, CardOnly: true, Protocols: scenario.V10,
		Sections: []string{"1.0 §8.4.2", "1.0 §8.4.3"}, Tags: []string{"card", "signature", "A50"},
		Fix: "Sign the card as it is served, in canonical form (RFC 8785), without the member signatures.",
		Run: askSignatures,
	},
}

// maxSignatures bounds the signatures of a card that are verified.
const maxSignatures = 4

func askSignatures(ctx context.Context, s *probe.Session) error {
	card, err := scenario.DeclaredCard(s)
	if err != nil {
		return err
	}
	valid, n, elsewhere := 0, 0, ""
	for i, sig := range card.Signatures() {
		if n++; n > maxSignatures {
			break
		}
		keys := s.Keys()
		if at := sig.Header.Get("jku").Text(); at != "" && isOwn(s, at) {
			served, err := fetchKeys(ctx, s, at)
			if err != nil {
				return err
			}
			keys = append(served, keys...)
		} else if at != "" {
			elsewhere = "; keys at another origin than the agent's are not fetched"
		}
		switch signature.Verify(&card, sig, keys) {
		case jws.Valid:
			valid++
		case jws.Invalid:
			return probe.Fail("a signature over this card, made with the key that it names",
				"signature %d was not made with the key %q", i+1, sig.Header.Get("kid").Text())
		}
	}
	switch {
	case n == 0:
		return &probe.Skip{Why: "the card is not signed"}
	case valid == 0:
		return &probe.Skip{Why: "the keys of the card's signatures are unknown; give them with --jwks" + elsewhere}
	}
	return nil
}

// isOwn reports whether a URL has the origin of the agent. Other origins belong to someone who did not ask to be
// probed.
func isOwn(s *probe.Session, at string) bool {
	theirs, err := url.Parse(at)
	if err != nil || theirs.User != nil {
		return false
	}
	ours, err := url.Parse(s.URL)
	return err == nil && hostname.SameOrigin(theirs, ours)
}

// fetchKeys reads the key set at a URL of the agent.
func fetchKeys(ctx context.Context, s *probe.Session, at string) (jws.KeySet, error) {
	a, err := s.AskAnonymously(ctx, http.MethodGet, at, http.Header{"Accept": {"application/json"}}, nil)
	if err != nil {
		return nil, err
	}
	if a.Status != http.StatusOK {
		return nil, probe.Fail("the keys of the card's signature", "HTTP %d", a.Status)
	}
	keys, err := jws.ParseKeySet(a.Body)
	if err != nil {
		return nil, probe.Fail("the keys of the card's signature, as a JWK Set", "%v", err)
	}
	return keys, nil
}
