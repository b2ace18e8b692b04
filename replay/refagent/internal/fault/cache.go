package fault

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"sync/atomic"

	"a2atap/replay/refagent/internal/cards"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of how cards are kept, signed and extended.
var cacheFaults = []AgentFault{
	of(anyAgent, "card-json-object", "The card is a list with one element.",
		onCard(func(out *wire.Answer) { out.Body = []any{out.Body} })),
	of(with10, "card-cache-control", "The card does not say how long it may be cached.",
		onCard(func(out *wire.Answer) { out.Header.Del("Cache-Control") })),
	of(with10, "card-etag", "The card has no ETag.",
		onCard(func(out *wire.Answer) { out.Header.Del("ETag") })),
	of(with10, "card-not-modified", "The card has a weak ETag that the agent does not match.",
		onCard(func(out *wire.Answer) { out.Header.Set("ETag", `W/"`+cards.Version+`"`) })),
	of(anyAge, "card-stable", "The card changes with each fetch, with the same version and the same ETag.",
		func() wire.Hooks {
			var fetched atomic.Int64
			return wire.Hooks{Card: editCard(func(o jsonvalue.Object) jsonvalue.Object {
				return o.With("description", fmt.Sprintf("Was asked for its card %d times.", fetched.Add(1)))
			})}
		}),
	of(anyAgent, "card-signature-shape", "The card has a signature with padding.",
		onCards(signed(`{"alg":"ES256","kid":"key-1","typ":"JOSE"}`, "AAA="))),
	of(with10, "card-signature-header", "The signature of the card does not name its key.",
		onCards(signed(`{"alg":"ES256","typ":"JOSE"}`, "AAAA"))),
	of(with10, "card-signature-typ", "The signature of the card has the type of a token.",
		onCards(signed(`{"alg":"ES256","kid":"key-1","typ":"JWT"}`, "AAAA"))),
	of(with10, "card-signature-valid", "The signature of the card contains a key, but was not made with it.",
		onCards(signed(foreignHeader, base64.RawURLEncoding.EncodeToString(make([]byte, ed25519.SignatureSize))))),
	of(only10, "card-extended-cache", "The extended card over HTTP+JSON has no caching headers.",
		onAnswer(both(isRESTResult, calls(model.GetExtendedCard)), func(_ *wire.Call, out *wire.Answer) {
			out.Header = http.Header{"Content-Type": out.Header["Content-Type"]}
		})),
	of(only10, "card-extended-identity", "The extended card has only its additional skill.",
		onReply(func(_ *wire.Call, r *model.Reply) {
			if r.Card != nil {
				r.Card = r.Card.With("skills", jsonvalue.Values([]cards.Skill{cards.AdminCardSkill}, cards.Skill.JSON))
			}
		})),
}

// signed adds a signature to a card.
func signed(header, signature string) editor {
	protected := base64.RawURLEncoding.EncodeToString([]byte(header))
	return with("signatures", []any{jsonvalue.Object{{"protected", protected}, {"signature", signature}}})
}

// foreignHeader is a protected header with a key that has signed nothing: its seed is 32 zeros.
const foreignHeader = `{"alg":"EdDSA","kid":"key-1","typ":"JOSE",` +
	`"jwk":{"kty":"OKP","crv":"Ed25519","kid":"key-1","x":"O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik"}}`
