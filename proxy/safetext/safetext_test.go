package safetext_test

import (
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/safetext"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"plain ~ text":            "plain ~ text",
		"a\tb\r\nc\x1b[31m\x00":   "a␉b␍␊c␛[31m␀",
		"\x7f\u0085\u202e\u200b":  `␡\u{85}\u{202e}\u{200b}`,
		"\xff京\xe4":               `\xff京\xe4`,
		"e\u0301":                 "e\u0301",
		"e" + marks(6):            "e" + marks(4) + `\u{301}\u{301}`,
		"\ue000\U000e0041\u2028x": `\u{e000}\u{e0041}\u{2028}x`,
	} {
		expect.Equal(t, "Visible("+in+")", want, safetext.Visible(in))
	}
}

func marks(n int) string { return strings.Repeat("\u0301", n) }

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\r\nc\u2028d":  "a b  c d",
		"\x1b[2J\x00\u202e": "\ufffd[2J\ufffd\ufffd",
		"\xff é":            "\ufffd é",
	} {
		expect.Equal(t, "OneLine("+in+")", want, safetext.OneLine(in))
	}
}
