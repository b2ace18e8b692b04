package redact

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/expect"
)

// The quick search finds its marks at any position.
func TestMarks(t *testing.T) {
	for text, want := range map[string]marks{
		"Bearer x": markBearer, "bearer ": markBearer, "BEARER ": markBearer, "bbasic bearer ": markBasic | markBearer,
		"earer ": 0, "bearer": 0,
		"arer ": 0, "Basic x": markBasic, "BASIC ": markBasic, "asic ": 0, "basic": 0, "eyJ": markJWT, "J": 0,
		"authorization": markAuthorization, "AUTHORIZATION": markAuthorization, "z": 0, "?a=b": markURL, "a=b": 0, "?": 0,
		"//u@h": markURL, `\/\/u@h`: markURL, "u@h": 0, "-----BEGIN PRIVATE KEY-----": markKey,
	} {
		expect.Equal(t, text+": marks", want, marksOf([]byte(text)))
		for n := range 12 {
			around := strings.Repeat("a r", n)
			if got := marksOf([]byte(around + text + around)); got&want != want {
				t.Errorf("%q: marks %b, want %b among them", around+text+around, got, want)
			}
		}
	}
}

// What shows no marks has nothing in it that a search for all of them finds, whatever is escaped in it.
func FuzzMarks(f *testing.F) {
	for _, text := range []string{
		"use Bearer x and basic y", `{"a":"\u0042earer abc1234"}`, `"Authorization: x1y2z3 \nbEarer a1b2c3d4"`,
		`["bBASIC dTpw","eyJhbGciOi.eyJ4.z","https:\/\/u:p@h?token=a#b"]`, `"-----BEGIN PRIVATE KEY-----\nabc"`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m := testMask
		found := marksOf(text)
		if all, some := m.tokens(nil, text, allMarks), m.tokens(nil, text, found); !slices.Equal(all, some) {
			t.Errorf("%q: found %v, want %v", text, some, all)
		}
		if s := string(text); found&markURL == 0 && m.urls(s) != s {
			t.Errorf("%q: a URL with %q has no mark", text, m.urls(s))
		}
		quoted, err := jsontext.AppendUnquote(nil, text)
		if err != nil || found != 0 || escapesASCII(text) {
			return
		}
		if s := string(quoted); m.urls(s) != s || len(m.tokens(nil, quoted, allMarks)) > 0 {
			t.Errorf("%s has no marks, and %q has a secret", text, s)
		}
	})
}
