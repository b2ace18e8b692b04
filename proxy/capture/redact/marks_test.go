package redact

import (
	"bytes"
	"strings"
	"testing"
)

// What is looked for quickly is found wherever it stands.
func TestMarks(t *testing.T) {
	for text, want := range map[string]marks{
		"Bearer x": markBearer, "bearer ": markBearer, "BEARER ": markBearer, "earer ": markBearer, "bearer": 0,
		"arer ": 0, "Basic x": markBasic, "BASIC ": markBasic, "asic ": markBasic, "basic": 0, "eyJ": markJWT, "J": 0,
		"authorization": markAuthorization, "AUTHORIZATION": markAuthorization, "z": 0, "?a=b": markURL, "a=b": 0, "?": 0,
		"//u@h": markURL, `\/\/u@h`: markURL, "u@h": 0, "-----BEGIN PRIVATE KEY-----": markKey,
	} {
		if got := marksOf([]byte(text)); got != want {
			t.Errorf("%q: marks %b, want %b", text, got, want)
		}
		for n := range 12 {
			around := strings.Repeat("a r", n)
			if got := marksOf([]byte(around + text + around)); got&want != want {
				t.Errorf("%q: marks %b, want %b among them", around+text+around, got, want)
			}
		}
	}
}

func FuzzMarks(f *testing.F) {
	f.Add([]byte("use Bearer x and basic y"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lower := bytes.Map(func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		}, text)
		got := schemesOf(text)
		if has(lower, "earer ") && got&markBearer == 0 || has(lower, "asic ") && got&markBasic == 0 {
			t.Errorf("%q: marks %b", text, got)
		}
	})
}
