package a2a

import (
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

func TestIsCard(t *testing.T) {
	tests := map[string]bool{
		card0_1: true, card0_3: true, card1_0: true, cardHybrid: true,
		`{}`: false, `[]`: false, `null`: false, `"card"`: false, `{"name":"x"}`: false,
		`[` + card1_0 + `]`:                      false,
		`{"agents":[` + card1_0 + `]}`:           false,
		`{"result":` + card1_0 + `}`:             false,
		`{"jsonrpc":"2.0",` + card1_0[1:]:        false,
		`{"id":"1","agentCard":` + card0_3 + `}`: false,
		// descriptions of other things
		`{"name":"srv","version":"1","url":"http://h/","capabilities":{"tools":{}}}`:                            false,
		`{"name":"srv","version":"1","url":"http://h/","capabilities":["x"],"skills":[]}`:                       false,
		`{"name":"srv","version":"1","url":"http://h/","capabilities":{},"skills":["a","b"]}`:                   false,
		`{"name":"srv","version":"1","url":"/relative","capabilities":{},"skills":[]}`:                          false,
		`{"name":"srv","version":"1","capabilities":{},"skills":[],"supportedInterfaces":[]}`:                   false,
		`{"name":"srv","version":"1","capabilities":{},"skills":[],"supportedInterfaces":[{"url":"http://h"}]}`: false,
		`{"name":"srv","url":"http://h/","capabilities":{},"skills":[]}`:                                        false,
		`{"name":"","version":"1","url":"http://h/","capabilities":{},"skills":[]}`:                             false,
		`{"name":"srv","version":"1","url":"http://h/","capabilities":{},"skills":{}}`:                          false,
		`{"name":"srv","version":1,"url":"http://h/","capabilities":{},"skills":[]}`:                            false,
		`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}`:                                     false,
		`{"id":"t1","contextId":"c","status":{"state":"completed"},"kind":"task"}`:                              false,
	}
	for text, want := range tests {
		expect.Equal(t, text, want, IsCard(Parse([]byte(text)).Root))
		if want && !MayHoldCard([]byte(text)) {
			t.Errorf("%s is left out before it is looked at", text)
		}
	}
}

// A text taken for a card has the members of a card, and MayHoldCard does not exclude it, unless its names are written
// with escapes. A card inside another value is never taken for one.
func FuzzIsCard(f *testing.F) {
	for _, seed := range []string{card0_1, card0_3, card1_0, cardHybrid, `{"name":"a"}`, `[]`, "\ufeff{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		may := MayHoldCard(text)
		doc := Parse(text)
		if doc.Err != nil || !IsCard(doc.Root) {
			return
		}
		if !may && !strings.Contains(string(text), `\u`) {
			t.Fatalf("%q is left out before it is looked at", text)
		}
		if !MayBeginCard(text) {
			t.Fatalf("%q does not begin as an object", text)
		}
		card := DecodeCard(doc.Root)
		if card.Name() == "" || card.Shapes.Empty() || len(card.Interfaces) == 0 {
			t.Fatalf("%q: %+v", text, card)
		}
		for i := range text[:min(len(text), 80)] {
			if !MayBeginCard(text[:i]) {
				t.Fatalf("the first %d bytes of %q are let go", i, text)
			}
		}
		inside := Parse(append(append([]byte(`{"card":`), strings.TrimPrefix(string(text), "\ufeff")...), '}'))
		if inside.Err == nil && IsCard(inside.Root) {
			t.Fatalf("%q is one inside something else", text)
		}
	})
}
