package credential_test

import (
	"strings"
	"testing"

	"a2atap/proxy/capture/credential"
	"a2atap/proxy/expect"
)

// Placeholders: two secrets of one key, one of another, and one of a capture that has its own key.
const (
	pinA    = "redacted.0123456789abcdef.11111111"
	pinB    = "redacted.fedcba9876543210.11111111"
	foreign = "redacted.aaaaaaaaaaaaaaaa.22222222"
	old     = "redacted.0123456789abcdef"
)

func TestPlaceholder(t *testing.T) {
	if got := credential.Placeholder(strings.Repeat("a", credential.PlaceholderDigits), strings.Repeat("2", credential.FingerprintDigits)); got != foreign {
		t.Errorf("got %s", got)
	}
	for text, want := range map[string]struct{ is, has bool }{
		pinA:                        {true, true},
		old:                         {true, true},
		"Bearer " + pinA + "\"":     {false, true},
		"redacted." + old:           {false, true},
		"redacted.redacted." + pinA: {false, true},
		old + "0":                   {false, true},
		old + ".1111111":            {false, true},
		old + ".1111111g":           {false, true},
		pinA + "1":                  {false, true},
		old[:len(old)-1]:            {},
		"redacted.0123456789ABCDEF": {},
		"redacted.redacted":         {},
		"":                          {},
	} {
		expect.Equal(t, "IsPlaceholder("+text+")", want.is, credential.IsPlaceholder(text))
		expect.Equal(t, "HasPlaceholder("+text+")", want.has, credential.HasPlaceholder([]byte(text)))
	}
}

func TestSameSecret(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{pinA, pinA, true},
		{pinA, pinB, false},
		{pinA, foreign, true},
		{pinA, old, true}, // the key of old has no fingerprint, so it is another
		{old, "redacted.fedcba9876543210", false},
		{"Bearer " + pinA, "Bearer " + foreign, true},
		{"Bearer " + pinA, "Basic " + foreign, false},
		{"a=" + pinA + "&b=" + pinB, "a=" + foreign + "&b=" + pinB, true},
		{"a=" + pinA + "&b=" + pinA, "a=" + foreign + "&b=" + pinB, false},
		{pinA + "x", foreign + "y", false},
		{pinA + "x", foreign, false},
		{pinA, "secret", false},
		{"", "", true},
		{"", pinA, false},
	} {
		expect.Equal(t, "SameSecret("+test.a+", "+test.b+")",
			test.want, credential.SameSecret(test.a, test.b))
		expect.Equal(t, "SameSecret("+test.b+", "+test.a+")",
			test.want, credential.SameSecret(test.b, test.a))
	}
}

func TestFits(t *testing.T) {
	for _, test := range []struct {
		recorded, text string
		want           bool
	}{
		{"plain", "plain", true},
		{"plain", "other", false},
		{pinA, "1234", true},
		{pinA, pinB, true},
		{pinA, "", false},
		{old, foreign, true},
		{"pin " + pinA + ".", "pin 1234.", true},
		{"pin " + pinA + ".", "pin .", false},
		{"pin " + pinA + ".", "pin 1234", false},
		{"pin " + pinA, "pim 1234", false},
		{"a=" + pinA + "&b=" + pinB + "&c", "a=1&b=2&c", true},
		{"a=" + pinA + "&b=" + pinB + "&c", "a=&b=2&c", false},
		{"a=" + pinA + "&b=" + pinB + "&c", "a=1&b=&c", false},
		{"a=" + pinA + "&b=" + pinB, "a=1", false},
		{pinA + pinB, "12", true},
		{pinA + pinB, "1", false},
		{"1234", pinA, false}, // what was not hidden does not fit what is
	} {
		expect.Equal(t, "Fits("+test.recorded+", "+test.text+")",
			test.want, credential.Fits(test.recorded, test.text))
	}
}

func TestMayHold(t *testing.T) {
	for _, test := range []struct {
		text, secret string
		want         bool
	}{
		{"Bearer " + pinA, pinA, true},
		{"Bearer " + pinB, pinA, false},
		{"Bearer " + foreign, pinA, true},
		{pinB + pinB + foreign, pinA, true},
		{"Bearer " + foreign, "secret", false},
		{"a secret", "secret", true},
		{"nothing", pinA, false},
	} {
		expect.Equal(t, "MayHold("+test.text+", "+test.secret+")",
			test.want, credential.MayHold(test.text, test.secret))
	}
}

func TestHidden(t *testing.T) {
	for text, want := range map[string]string{
		"Bearer " + pinA: "11111111", foreign + pinA: "22222222", "x" + old: "", "plain": "-", "": "-",
	} {
		got, ok := credential.Hidden(text)
		if !ok {
			got = "-"
		}
		expect.Equal(t, "Hidden("+text+")", want, got)
	}
}

func TestAlike(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "": "", "a" + pinA + "b" + old: "aredacted.bredacted.", foreign: "redacted.",
		"redacted.": "redacted.",
	} {
		expect.Equal(t, "Alike("+text+")", want, string(credential.Alike([]byte(text))))
	}
}

func FuzzPlaceholders(f *testing.F) {
	f.Add("Bearer "+pinA, "Bearer "+foreign)
	f.Add("a="+old+"&b="+pinB, "a=1&b=2")
	f.Add("redacted.redacted."+old, old+".1111111")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !credential.SameSecret(a, a) || !credential.Fits(a, a) {
			t.Errorf("%q is not itself", a)
		}
		if credential.SameSecret(a, b) != credential.SameSecret(b, a) {
			t.Errorf("SameSecret(%q, %q) depends on the order", a, b)
		}
		if a != b && !credential.HasPlaceholder([]byte(a)) && (credential.Fits(a, b) || credential.SameSecret(a, b)) {
			t.Errorf("%q passes for %q", b, a)
		}
		if credential.IsPlaceholder(a) && !credential.HasPlaceholder([]byte(a)) {
			t.Errorf("%q is a placeholder and has none", a)
		}
		if credential.SameSecret(a, b) && string(credential.Alike([]byte(a))) != string(credential.Alike([]byte(b))) {
			t.Errorf("%q and %q are the same and not alike", a, b)
		}
		if credential.SameSecret(a, b) && !credential.Fits(a, b) {
			t.Errorf("%q and %q are the same and do not fit", a, b)
		}
	})
}
