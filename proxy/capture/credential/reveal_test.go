package credential_test

import (
	"testing"

	"a2atap/proxy/capture/credential"
)

func TestReveal(t *testing.T) {
	one := credential.Placeholder("0123456789abcdef", "01234567")
	two := credential.Placeholder("fedcba9876543210", "01234567")
	for _, c := range []struct{ hidden, text string }{
		{"nothing", "nothing"},
		{one, "s3cret"},
		{"Authorization: Bearer " + one + "\r\nX: y\r\n", "Authorization: Bearer s3cret\r\nX: y\r\n"},
		{`{"a":"` + one + `","b":"` + two + `","c":"` + one + `"}`, `{"a":"s3cret","b":"other","c":"s3cret"}`},
	} {
		secrets, fits := credential.Secrets(c.hidden, c.text)
		if got := credential.Reveal("> "+c.hidden, secrets); !fits || got != "> "+c.text {
			t.Errorf("%q: %q, %v", c.hidden, got, fits)
		}
	}
	for _, c := range []struct{ hidden, text string }{
		{"a " + one, "b s3cret"},
		{"a " + one + " b", "a s3cret c"},
		{one + two, "s3cretother"},
		{one + " " + one, "s3cret other"},
		{one + ".", "."},
	} {
		if secrets, fits := credential.Secrets(c.hidden, c.text); fits {
			t.Errorf("%q fits %q: %q", c.hidden, c.text, secrets)
		}
	}
	if got := credential.Reveal("x "+one, nil); got != "x "+one {
		t.Errorf("what is not known becomes %q", got)
	}
}
