package signature_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/jws"
	"a2atap/analyzer/track/signature"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// sealed signs a card as is with a key made from a seed, and returns it with its signature.
func sealed(card, header string, seed byte) string {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	protected := base64.RawURLEncoding.EncodeToString([]byte(header))
	payload, err := jws.Canonical([]byte(card))
	if err != nil {
		panic(err)
	}
	signature := base64.RawURLEncoding.EncodeToString(ed25519.Sign(private, jws.SigningInput(protected, payload)))
	return fmt.Sprintf(`%s,"signatures":[{"protected":%q,"signature":%q}]}`, strings.TrimSuffix(card, "}"), protected,
		signature)
}

func keySetOf(id string, seed byte) string {
	public := ed25519.NewKeyFromSeed(
		[]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)),
	).Public().(ed25519.PublicKey)
	return fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":%q,"x":%q}]}`, id,
		base64.RawURLEncoding.EncodeToString(public))
}

const signedCard = `{"name":"Booker","supportedInterfaces":[{"url":"http://booker:9001/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`

// fetch adds a GET with its answer.
func fetch(c *enginetest.Conversation, path, body string) {
	c.Open("planner", "GET "+path+" HTTP/1.1\r\nHost: booker:9001\r\n\r\n")
	c.Add(capture.RequestEnd{})
	c.Answer(body)
}

const (
	cardURL = "/.well-known/agent-card.json"
	withJKU = `{"alg":"EdDSA","kid":"k","jku":"http://127.0.0.1:9/"}`
)

// rule returns a rule that checks the known facts about signatures.
func rule(check func(p *analysis.Pass)) *analysis.Rule {
	r := enginetest.Rule("seen", analysis.CardVerified, check)
	r.Needs = []*analysis.Tracker{signature.Tracker}
	return r
}

// What is known of a signature depends on the keys that are known, and on nothing else.
func TestSignaturesChecked(t *testing.T) {
	const header, far = `{"alg":"EdDSA","kid":"k"}`, `{"alg":"EdDSA","kid":"k","jku":"http://booker:9001/keys?of=booker"}`
	other := strings.Replace(signedCard, "Booker", "Hotel", 1)
	tests := []struct {
		name  string
		given string // a key set, or ""
		talk  func(c *enginetest.Conversation)
		want  []string
	}{
		{"no key", "", func(c *enginetest.Conversation) { fetch(c, cardURL, sealed(signedCard, header, 1)) }, nil},
		{
			"a key of another id", keySetOf("x", 1),
			func(c *enginetest.Conversation) { fetch(c, cardURL, sealed(signedCard, header, 1)) }, nil,
		},
		{
			"a key that was given", keySetOf("k", 1),
			func(c *enginetest.Conversation) { fetch(c, cardURL, sealed(signedCard, header, 1)) },
			[]string{"1 true keys.json"},
		},
		{
			"another key under its id", keySetOf("k", 2),
			func(c *enginetest.Conversation) { fetch(c, cardURL, sealed(signedCard, header, 1)) },
			[]string{"1 false keys.json"},
		},
		{
			"a key given for a jku", keySetOf("k", 2),
			func(c *enginetest.Conversation) { fetch(c, cardURL, sealed(signedCard, far, 1)) },
			[]string{"1 false keys.json uncertain"},
		},
		{"keys fetched after the card", "", func(c *enginetest.Conversation) {
			fetch(c, cardURL, sealed(signedCard, far, 1))
			fetch(c, "/keys?of=booker", keySetOf("k", 1))
		}, []string{"1 true 2.response.body"}},
		{"keys of somebody else", "", func(c *enginetest.Conversation) {
			fetch(c, cardURL, sealed(signedCard, far, 1))
			fetch(c, "/keys?of=hotel", keySetOf("k", 2))
		}, nil},
		{"the fetched key counts before the given one", keySetOf("k", 2), func(c *enginetest.Conversation) {
			fetch(c, cardURL, sealed(signedCard, far, 1))
			fetch(c, "/keys?of=booker", keySetOf("k", 1))
			fetch(c, cardURL, sealed(signedCard, far, 1))
		}, []string{"1 false keys.json uncertain", "1 true 2.response.body", "3 true 2.response.body"}},
		{"no key set at its URL", "", func(c *enginetest.Conversation) {
			fetch(c, cardURL, sealed(signedCard, far, 1))
			fetch(c, "/keys?of=booker", `{"keys":[]}`)
			fetch(c, "/keys?of=booker", `not here`)
		}, nil},
		{"another card with the signature", keySetOf("k", 1), func(c *enginetest.Conversation) {
			fetch(c, cardURL, strings.Replace(sealed(signedCard, header, 1), "Booker", "Hotel", 1))
			fetch(c, cardURL, sealed(other, header, 1))
		}, []string{"1 false keys.json", "2 true keys.json"}},
		{"a member twice", keySetOf("k", 1), func(c *enginetest.Conversation) {
			fetch(c, cardURL, strings.Replace(sealed(signedCard, header, 1), "{", `{"name":"Hotel",`, 1))
		}, nil},
		{"a number that no double holds", keySetOf("k", 1), func(c *enginetest.Conversation) {
			fetch(c, cardURL, strings.Replace(sealed(signedCard, header, 1), "{", `{"x":9007199254740993,`, 1))
		}, nil},
		{"a hidden value", keySetOf("k", 1), func(c *enginetest.Conversation) {
			fetch(c, cardURL, strings.Replace(sealed(signedCard, header, 1), "Booker", "redacted.0123456789abcdef", 1))
		}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &enginetest.Conversation{T: t}
			test.talk(c)
			var options []engine.Option
			if test.given != "" {
				keys := must.Get(jws.ParseKeySet([]byte(test.given)))(t)
				options = append(options, signature.WithKeys("keys.json", keys))
			}
			var got []string
			e := engine.New([]*analysis.Rule{rule(func(p *analysis.Pass) {
				for _, s := range signature.Checks(p) {
					line := fmt.Sprintf("%d %v %s", p.Exchange.Seq, s.Valid, s.Source)
					if s.Uncertain {
						line += " uncertain"
					}
					got = append(got, line)
				}
			})}, options...)
			for _, s := range c.Steps {
				e.Step(s)
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("checked %q, want %q", got, test.want)
			}
		})
	}
}

// However many signatures a card has, and however many keys there are for them, only some are tried.
func TestSignaturesAreBounded(t *testing.T) {
	one := strings.TrimPrefix(sealed(signedCard, withJKU, 1), strings.TrimSuffix(signedCard, "}")+`,"signatures":[`)
	one = strings.TrimSuffix(one, "]}")
	card := strings.TrimSuffix(signedCard, "}") + `,"signatures":[` + strings.Repeat(one+",", 99) + one + "]}"
	keys := must.Get(jws.ParseKeySet([]byte(keySetOf("k", 1))))(t)
	c := &enginetest.Conversation{T: t}
	fetch(c, cardURL, card)
	checked := 0
	e := engine.New([]*analysis.Rule{rule(func(p *analysis.Pass) { checked += len(signature.Checks(p)) })},
		signature.WithKeys("keys.json", keys))
	for _, s := range c.Steps {
		e.Step(s)
	}
	expect.Equal(t, "signatures were checked", 4, checked)
}
