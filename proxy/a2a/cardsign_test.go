package a2a

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/expect"
)

// readings returns what a signature of the card may be over in canonical form, each once.
func readings(t *testing.T, card string) []string {
	t.Helper()
	var list []string
	for text := range DecodeCard(parse(t, card)).SignedTexts() {
		v := jsontext.Value(text)
		if err := v.Canonicalize(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !slices.Contains(list, v.String()) {
			list = append(list, v.String())
		}
	}
	return list
}

// The worked example of 1.0 §8.4.1, and what else there is to be said of it.
func TestSignedTexts(t *testing.T) {
	got := readings(t,
		`{"name":"Example Agent","description":"","capabilities":{"streaming":false,"pushNotifications":false,`+
			`"extensions":[]},"skills":[],"signatures":[{}]}`)
	want := []string{
		// §8.4.1
		`{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent",` +
			`"skills":[]}`,
		`{"capabilities":{"pushNotifications":false,"streaming":false},"defaultInputModes":[],` +
			`"defaultOutputModes":[],"description":"","name":"Example Agent","skills":[],"supportedInterfaces":[],` +
			`"version":""}`,
		// as received
		`{"capabilities":{"extensions":[],"pushNotifications":false,"streaming":false},"description":"",` +
			`"name":"Example Agent","skills":[]}`,
		`{"capabilities":{},"name":"Example Agent"}`,
		`{"name":"Example Agent"}`,
		`{"capabilities":{"pushNotifications":false,"streaming":false},"name":"Example Agent"}`,
	}
	expect.Same(t, "readings", want, got)
}

// The first reading follows the presence of each member through all messages.
func TestSignedByPresence(t *testing.T) {
	tests := []struct{ name, card, want string }{
		{"null is not there", `{"name":null,"iconUrl":null,"documentationUrl":""}`, `{"documentationUrl":""}`},
		{
			"content of a Struct stays",
			`{"capabilities":{"extensions":[{"uri":"","required":false,"params":{"a":null,"b":[],"c":0}}]}}`,
			`{"capabilities":{"extensions":[{"params":{"a":null,"b":[],"c":0}}]}}`,
		},
		{
			"maps keep their names",
			`{"securitySchemes":{"a":{"mtlsSecurityScheme":{"description":""}},` +
				`"b":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"","refreshUrl":"",` +
				`"scopes":{}}},"oauth2MetadataUrl":""}}}}`,
			`{"securitySchemes":{"a":{"mtlsSecurityScheme":{}},` +
				`"b":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{},"tokenUrl":""}}}}}}`,
		},
		{
			"lists of messages",
			`{"skills":[{"id":"","tags":[],"examples":[]}],"securityRequirements":[{"schemes":{"a":{"list":[]}}},` +
				`{"schemes":{}}]}`, `{"securityRequirements":[{"schemes":{"a":{}}},{}],"skills":[{"id":"","tags":[]}]}`,
		},
		{"what 1.0 does not know stays", `{"protocolVersion":"","url":"u"}`, `{"protocolVersion":"","url":"u"}`},
		{
			"of the wrong kind", `{"skills":{},"capabilities":[],"name":0,"provider":"x"}`,
			`{"capabilities":[],"name":0,"provider":"x","skills":{}}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect.Equal(t, "signed", test.want, readings(t, test.card)[0])
		})
	}
	got := readings(t,
		`{"name":"","iconUrl":"","securitySchemes":{"a":{"mtlsSecurityScheme":{}}},"provider":{"url":""}}`)
	want := `{"capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"description":"","name":"",` +
		`"provider":{"organization":"","url":""},"skills":[],"supportedInterfaces":[],"version":""}`
	if !slices.Contains(got, want) {
		t.Errorf("no reading leaves out all that is empty but what is required: %q", got)
	}
	if got := readings(t, `{"name":"n","url":"u","skills":[{"id":"s","kind":"x"}]}`); !slices.Contains(got,
		`{"name":"n","skills":[{"id":"s"}]}`) {
		t.Errorf("no reading leaves out what 1.0 does not know: %q", got)
	}
}

// Whatever the card, each reading of it is a JSON text without its signatures.
func FuzzSignedTexts(f *testing.F) {
	f.Add([]byte(card1_0))
	f.Add([]byte(cardHybrid))
	f.Add([]byte(`{"capabilities":[{"extensions":[null,[],{}]}],"securitySchemes":{"a":[{"b":{}}]},"signatures":[1]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		doc := Parse(text)
		if doc.Err != nil || doc.Root.Kind() != Object {
			return
		}
		for reading := range DecodeCard(doc.Root).SignedTexts() {
			again := Parse(reading)
			if again.Err != nil || again.Root.Has("signatures") {
				t.Errorf("%s is read as %s: %v", text, reading, again.Err)
			}
		}
	})
}

func TestSignatures(t *testing.T) {
	c := DecodeCard(parse(t,
		`{"url":"u","signatures":[{"protected":"eyJhbGciOiJFUzI1NiJ9","signature":"AAAA"},{"protected":"W10",`+
			`"signature":"AAA="},{"protected":"e30=","signature":""},3]}`))
	want := [][2]string{{"object", "3"}, {"array", "0"}, {"absent", "0"}, {"absent", "0"}}
	n := 0
	for i, s := range c.Signatures() {
		expect.Equal(t, fmt.Sprintf("signature %d", i),
			want[i], [2]string{s.Header.Kind().String(), string(rune('0' + len(s.Bytes)))})
		n++
	}
	expect.Equal(t, "signatures", len(want), n)
	if got := string(c.Unsigned()); got != `{"url":"u"}` {
		t.Errorf("unsigned it is %s", got)
	}
}
