package jws_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/jws"
)

// RFC 8785: the samples of sections 3.2.2 and 3.2.3, and appendix B.
func TestCanonical(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{
			"literals and strings (3.2.2)",
			`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
			  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
			  "literals": [null, true, false]}`,
			"{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27]," +
				"\"string\":\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}",
		},
		{
			"order by UTF-16 (3.2.3)",
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
				`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"\u00f6\":\"Latin Small Letter O With Diaeresis\"," +
				"\"\u20ac\":\"Euro Sign\",\"\U0001f600\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		},
		{"zero (B)", `[0, -0, 0.0]`, `[0,0,0]`},
		{"smallest and largest (B)", `[5e-324, 1.7976931348623157e308]`, `[5e-324,1.7976931348623157e+308]`},
		{
			"whole numbers (B)", `[9007199254740992, 295147905179352830000, 1e21]`,
			`[9007199254740992,295147905179352830000,1e+21]`,
		},
		{
			"fractions (B)", `[9.999999999999997e22, 0.000001, 0.0000001, 333333333.3333332]`,
			`[9.999999999999997e+22,0.000001,1e-7,333333333.3333332]`,
		},
		{
			"a card (A2A 1.0 section 8.4.1)",
			`{"skills":[],"name":"Example Agent","description":"","capabilities":{"streaming":false,"pushNotifications":false}}`,
			`{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := []byte(test.text)
			got, err := jws.Canonical(text)
			if err != nil || string(got) != test.want {
				t.Errorf("canonical form is\n%s, %v; want\n%s", got, err, test.want)
			}
			if string(text) != test.text {
				t.Error("the text was changed")
			}
		})
	}
}

func TestNotCanonical(t *testing.T) {
	for _, text := range []string{"", "{", `{"a":1,"a":2}`, `"\ud800"`, "\"\xff\"", `[1] [2]`, `[01]`} {
		if got, err := jws.Canonical([]byte(text)); err == nil {
			t.Errorf("%q has the canonical form %s", text, got)
		}
	}
}

// A canonical form is its own canonical form, and means what the text means.
func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b":[1.0,2e3],"a":"\u00e9"}`))
	f.Add([]byte(`"\ud83d\ude00"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := jws.Canonical(text)
		if err != nil {
			return
		}
		if twice, err := jws.Canonical(once); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s becomes %s, %v", once, twice, err)
		}
		var was, now any
		if json.Unmarshal(text, &was) != nil {
			return // a number that no double holds
		}
		if err := json.Unmarshal(once, &now); err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if !cmp.Equal(was, now) {
			t.Errorf("%s means %v, its canonical form %s", text, was, once)
		}
	})
}
