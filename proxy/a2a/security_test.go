package a2a_test

import (
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

func TestSecurity(t *testing.T) {
	bearer := a2a.Want{Name: "b", Type: a2a.HTTPScheme, Scheme: "Bearer"}
	key := a2a.Want{Name: "k", Type: a2a.APIKeyScheme, In: "header", Param: "X-Key"}
	const schemes1_0 = `"securitySchemes":{"b":{"httpAuthSecurityScheme":{"scheme":"Bearer"}},` +
		`"k":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}},"m":{"mtlsSecurityScheme":{}}}`
	const schemes0_3 = `"securitySchemes":{"b":{"type":"http","scheme":"Bearer"},"k":{"type":"apiKey","in":"header",` +
		`"name":"X-Key"}}`
	tests := []struct {
		name, card   string
		want         [][]a2a.Want
		asks, hidden bool
	}{
		{"nothing", `{}`, nil, false, false},
		{"schemes alone", `{` + schemes1_0 + `}`, nil, false, false},
		{
			"1.0", `{` + schemes1_0 +
				`,"securityRequirements":[{"schemes":{"b":{"list":[]}}},{"schemes":{"b":{},"k":{}}}]}`,
			[][]a2a.Want{{bearer}, {bearer, key}},
			true, false,
		},
		{"1.0 as in prose", `{` + schemes1_0 + `,"security":[{"b":[]}]}`, [][]a2a.Want{{bearer}}, true, false},
		{"0.3", `{` + schemes0_3 + `,"security":[{"b":[],"k":[]}]}`, [][]a2a.Want{{bearer, key}}, true, false},
		{"open", `{` + schemes0_3 + `,"security":[{"b":[]},{}]}`, [][]a2a.Want{{bearer}, {}}, false, false},
		{"open in 1.0", `{` + schemes1_0 + `,"securityRequirements":[{"schemes":{}}]}`, [][]a2a.Want{{}}, false, false},
		{
			"certificate", `{` + schemes1_0 + `,"securityRequirements":[{"schemes":{"m":{}}}]}`,
			[][]a2a.Want{{{Name: "m", Type: a2a.MutualTLSScheme}}},
			true, true,
		},
		{"not described", `{"security":[{"x":[]}]}`, [][]a2a.Want{{{Name: "x"}}}, true, true},
		{
			"0.1", `{"authentication":{"schemes":["bearer","apiKey"]}}`,
			[][]a2a.Want{
				{{Name: "bearer", Type: a2a.HTTPScheme, Scheme: "bearer"}},
				{{Name: "apiKey", Type: a2a.WordScheme, Scheme: "apiKey"}},
			},
			true, false,
		},
		{"0.1 public", `{"authentication":{"schemes":["Public"]}}`, [][]a2a.Want{{}}, false, false},
		{
			"0.1 certificate", `{"authentication":{"schemes":["mTLS"]}}`,
			[][]a2a.Want{{{Name: "mTLS", Type: a2a.MutualTLSScheme, Scheme: "mTLS"}}},
			true, true,
		},
		{
			"nonsense", `{"securitySchemes":7,"security":["b",{"b":1}],"securityRequirements":{}}`,
			[][]a2a.Want{{}, {{Name: "b"}}},
			false, true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := a2a.DecodeCard(a2a.Parse([]byte(test.card)).Root).Security()
			expect.Same(t, "alternatives", test.want, got.Alternatives)
			if got.Asks() != test.asks || got.Hidden() != test.hidden {
				t.Errorf("asks %v, hidden %v; want %v, %v", got.Asks(), got.Hidden(), test.asks, test.hidden)
			}
		})
	}
}

func TestSameVersion(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"1.0", "1.0.3", true},
		{"0.3", "0.3.0", true},
		{"1", "1.0", true},
		{"1.0", "1.1", false},
		{"1.0", "one", false},
		{"", "", false},
	} {
		expect.Equal(t, test.a+" and "+test.b, test.want, a2a.SameVersion(test.a, test.b))
	}
}
