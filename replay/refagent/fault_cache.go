package refagent

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"sync/atomic"
)

// Faults of how cards are kept, signed and extended.
var cacheFaults = []Fault{
	{
		Slug: "card-json-object", agents: anyAgent,
		Doc:   "The card comes as a list of one.",
		hooks: func() hooks { return hooks{card: func(out *answer) { out.body = []any{out.body} }} },
	},
	{
		Slug: "card-cache-control", agents: with10,
		Doc:   "The card does not say how long it may be kept.",
		hooks: func() hooks { return hooks{card: func(out *answer) { out.header.Del("Cache-Control") }} },
	},
	{
		Slug: "card-etag", agents: with10,
		Doc:   "The card has no ETag.",
		hooks: func() hooks { return hooks{card: func(out *answer) { out.header.Del("ETag") }} },
	},
	{
		Slug: "card-not-modified", agents: with10,
		Doc:   "The card has a weak ETag, and the agent does not know it again.",
		hooks: func() hooks { return hooks{card: func(out *answer) { out.header.Set("ETag", `W/"`+cardVersion+`"`) }} },
	},
	{
		Slug: "card-stable", agents: anyAgent,
		Doc: "The card is another one each time, with the same version and the same ETag.",
		hooks: func() hooks {
			var fetched atomic.Int64
			return hooks{card: editCard(func(o object) object {
				return o.with("description", fmt.Sprintf("Was asked for its card %d times.", fetched.Add(1)))
			})}
		},
	},
	{
		Slug: "card-signature-shape", agents: anyAgent,
		Doc:   "The card has a signature with padding.",
		hooks: onCards(signed(`{"alg":"ES256","kid":"key-1","typ":"JOSE"}`, "AAA=")),
	},
	{
		Slug: "card-signature-header", agents: with10,
		Doc:   "The signature of the card does not say with which key it was made.",
		hooks: onCards(signed(`{"alg":"ES256","typ":"JOSE"}`, "AAAA")),
	},
	{
		Slug: "card-signature-typ", agents: with10,
		Doc:   "The signature of the card says that it is a token.",
		hooks: onCards(signed(`{"alg":"ES256","kid":"key-1","typ":"JWT"}`, "AAAA")),
	},
	{
		Slug: "card-signature-valid", agents: with10,
		Doc:   "The signature of the card brings its key along, and is not by that key.",
		hooks: onCards(signed(foreignHeader(), base64.RawURLEncoding.EncodeToString(make([]byte, ed25519.SignatureSize)))),
	},
	{
		Slug: "card-extended-cache", agents: only10,
		Doc: "The extended card over HTTP+JSON says nothing about caches.",
		hooks: onAnswer(func(c *call) bool { return c.op == getExtendedCard && c.binding == httpJSON && c.failure == nil },
			func(_ *call, out *answer) {
				out.header = http.Header{"Content-Type": out.header["Content-Type"]}
			}),
	},
	{
		Slug: "card-extended-identity", agents: only10,
		Doc: "The extended card has its own skill only.",
		hooks: func() hooks {
			return hooks{reply: func(_ *call, r *reply) {
				if r.card != nil {
					r.card = r.card.with("skills", values([]cardSkill{adminCardSkill}, cardSkill.json))
				}
			}}
		},
	},
}

// signed adds a signature to a card.
func signed(header, signature string) func(object) object {
	protected := base64.RawURLEncoding.EncodeToString([]byte(header))
	return func(o object) object {
		return o.with("signatures", []any{object{{"protected", protected}, {"signature", signature}}})
	}
}

// foreignHeader is a protected header with a key that has signed nothing.
func foreignHeader() string {
	public := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	return fmt.Sprintf(
		`{"alg":"EdDSA","kid":"key-1","typ":"JOSE","jwk":{"kty":"OKP","crv":"Ed25519","kid":"key-1","x":%q}}`,
		base64.RawURLEncoding.EncodeToString(public))
}
