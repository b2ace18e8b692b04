package card

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/signature"
	"a2atap/proxy/a2a"
)

// Signatures is the family of rules about signed cards.
var Signatures = rule.Family{
	Name:     "signature",
	Category: analysis.AgentCard,
	Side:     a2a.Agent,
	On:       analysis.CardSeen,
	Bindings: rule.OnAll,
}.Of(
	cardSignatureShape,
	cardSignatureHeader,
	cardSignatureTyp,
	cardSignatureValid,
	cardSignatureDefaults,
)

var cardSignatureShape = &analysis.Rule{
	ID:     "card-signature-shape",
	Title:  "signature of the agent card cannot be read",
	Level:  analysis.Must,
	OfCard: true,
	Cites:  rule.Cite("5.5.6", a2a.V0_3).And("8.4.2", a2a.V1_0),
	Covers: []string{"card-field-type"},
	Stands: "0.3.0:types:347 1.0.1:2062",
	Doc: `A signature is a JWS in two parts, both in base64url without padding: protected, which is a JSON object, and
signature. A library that cannot read them refuses the signature, and strict clients refuse the card.`,
	Fix: `Copy both parts from a JWS library: the compact form is PROTECTED.PAYLOAD.SIGNATURE, and the payload is left
out.`,
	Silent: `The member header, and signatures that the recorder has redacted.`,
	Check: func(p *analysis.Pass) {
		for i, s := range p.Card.Signatures() {
			p.Applied()
			at := inCard(p, a2a.Ptr("/signatures", i))
			if s.Kind() != a2a.Object {
				p.Report(at, "the signature is "+analysis.Quote(s.Value), "expected an object with protected and signature")
				continue
			}
			if v := s.Get("protected"); s.Header.Kind() != a2a.Object && !wasHidden(v) {
				p.Report(memberOr(at, v, "protected"), "protected is "+analysis.Quote(v),
					"expected a JSON object in base64url without padding")
			}
			if v := s.Get("signature"); s.Bytes == nil && !wasHidden(v) {
				p.Report(memberOr(at, v, "signature"), "signature is "+analysis.Quote(v), "expected base64url without padding")
			}
		}
	},
}

// memberOr returns the place of a member, or of the object around it if it is missing.
func memberOr(object analysis.Place, v a2a.Value, name string) analysis.Place {
	if !v.Exists() {
		return object
	}
	return object.In(name)
}

var cardSignatureHeader = &analysis.Rule{
	ID:     "card-signature-header",
	Title:  "signature of the agent card names no algorithm or no key",
	Level:  analysis.Must,
	OfCard: true,
	Cites:  rule.Cite("8.4.2", a2a.V1_0),
	Stands: "1.0.1:2068",
	Doc: `To verify a signature, a client needs the algorithm and the id of the key from the protected header. Without
them it does not know what to verify with, and "none" means that there is no signature at all.`,
	Fix: `Put alg and kid into the protected header, such as {"alg": "ES256", "kid": "key-1", "typ": "JOSE"}, before you
sign.`,
	Silent: `Headers that cannot be read, which card-signature-shape reports; the choice of algorithm.`,
	Check: func(p *analysis.Pass) {
		for i, s := range p.Card.Signatures() {
			if s.Header.Kind() != a2a.Object {
				continue
			}
			p.Applied()
			at := inCard(p, a2a.Ptr("/signatures", i, "protected"))
			switch alg, kid := s.Header.Get("alg"), s.Header.Get("kid"); {
			case alg.Text() == "":
				p.Report(at, "alg is "+analysis.Quote(alg), "expected the name of an algorithm")
			case alg.Is("none"):
				p.Report(at, "alg is none", "expected an algorithm that signs")
			case kid.Text() == "":
				p.Report(at, "kid is "+analysis.Quote(kid), "expected the id of the key")
			}
		}
	},
}

var cardSignatureTyp = &analysis.Rule{
	ID:     "card-signature-typ",
	Title:  "signature of the agent card without typ JOSE",
	Level:  analysis.Should,
	OfCard: true,
	Cites:  rule.Cite("8.4.2", a2a.V1_0),
	Stands: "1.0.1:2071",
	Doc: `typ keeps one kind of signature from being taken for another: a card's is JOSE, while libraries for tokens
write JWT.`,
	Fix:    `Set "typ": "JOSE" in the protected header before you sign.`,
	Silent: `Headers that cannot be read; differences in case.`,
	Check: func(p *analysis.Pass) {
		for i, s := range p.Card.Signatures() {
			if s.Header.Kind() != a2a.Object {
				continue
			}
			p.Applied()
			if typ := s.Header.Get("typ"); !strings.EqualFold(typ.Text(), "JOSE") {
				p.Report(inCard(p, a2a.Ptr("/signatures", i, "protected")), "typ is "+analysis.Quote(typ), `expected "JOSE"`)
			}
		}
	},
}

var cardSignatureValid = &analysis.Rule{
	ID:       "card-signature-valid",
	Title:    "signature of the agent card does not verify",
	Level:    analysis.Must,
	Bindings: rule.OnJSON,
	On:       analysis.CardVerified,
	Needs:    []*analysis.Tracker{signature.Tracker},
	Cites:    rule.Cite("8.4", a2a.V1_0),
	Stands:   "1.0.1:2008",
	Doc: `The signature was made with another key, or over something other than this card: clients that verify it
consider the card forged. Usually the card was changed after it was signed, or was not signed in the canonical form
(RFC 8785).`,
	Fix: `Sign last, over the card without signatures, in canonical form, and publish the key under the kid of the
header. An ECDSA signature is R followed by S, not DER.`,
	Silent: `Signatures whose key is unknown: a2atap fetches nothing. A key is known if it is in the file of --jwks,
if a client fetched the JWKS at the header's jku through a2atap after the card named it, or if it is in the header.
Every reading of section 8.4 is tried: with and without members that have default values, and with members that 1.0
does not define. Not verified: critical headers, other algorithms, cards with a repeated member, with redacted values,
or with whole numbers of 16 digits and more. The finding is a warning if another signature of the card verifies, if
the card is also of an earlier version, and if the key was fetched before the card or was given for another jku.
Extended cards over gRPC, which do not show what was signed: members with default values are not in their messages.`,
	Check: func(p *analysis.Pass) {
		valid := slices.ContainsFunc(signature.Checks(p), func(c signature.Check) bool { return c.Valid })
		for _, c := range signature.Checks(p) {
			p.Applied()
			if c.Valid {
				continue
			}
			p.Report(inCard(p, a2a.Ptr("/signatures", c.Index, "signature")),
				"the signature does not match the card and the key "+analysis.QuoteText(c.KeyID)+" of "+analysis.Clean(c.Source),
				"expected a signature over the card in canonical form",
				analysis.AtMostIf(valid || c.Uncertain || !p.Card.Legacy.Empty(), analysis.Warning))
		}
	},
}

var cardSignatureDefaults = &analysis.Rule{
	ID:       "card-signature-defaults",
	Title:    "agent card is signed with its default values",
	Level:    analysis.Must,
	Bindings: rule.OnJSON,
	On:       analysis.CardVerified,
	Needs:    []*analysis.Tracker{signature.Tracker},
	Cites:    rule.Cite("8.4.1", a2a.V1_0),
	Stands:   "1.0.1:2016",
	Doc: `Members with default values are not signed, unless they are required or optional: an empty list of
extensions is not signed. This signature verifies only over the card with all of them. A client that removes them
before it verifies, as section 8.4.3 requires, considers the card forged.`,
	Fix: `Remove members with default values from the card before you sign it, or do not put them into the card. Keep
required members and those marked optional.`,
	Silent: `Signatures whose key is unknown, as in card-signature-valid. Signatures over any reading of section 8.4
that leaves out some default values, such as empty lists and texts, but not false. The finding is a warning, since the
section contradicts itself about what is removed, and a note if another signature of the card verifies without default
values, or if the card is also of an earlier version.`,
	Check: func(p *analysis.Pass) {
		other := slices.ContainsFunc(signature.Checks(p), func(c signature.Check) bool { return c.Valid && !c.Unstripped })
		for _, c := range signature.Checks(p) {
			if !c.Valid {
				continue
			}
			p.Applied()
			if c.Unstripped {
				p.Report(inCard(p, a2a.Ptr("/signatures", c.Index, "signature")),
					"the signature was made over the card with its default values",
					"expected a signature over the card without them", analysis.AtMost(analysis.Warning),
					analysis.AtMostIf(other || !p.Card.Legacy.Empty(), analysis.Note))
			}
		}
	},
}
