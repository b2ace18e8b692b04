package analysis

import (
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/safetext"
)

// Quote returns a JSON value as a finding shows it: its text, on one line, cut to a readable length, without control
// characters.
func Quote(v a2a.Value) string {
	if !v.Exists() {
		return "missing"
	}
	return Clip(string(v.Raw()[:min(len(v.Raw()), clipBytes)]))
}

// QuoteText returns a string as a finding shows it: in quotes, and cut and cleaned like Quote.
func QuoteText(s string) string { return Clip(fmt.Sprintf("%q", s[:min(len(s), clipBytes)])) }

const (
	quoteLimit = 60               // runes
	clipBytes  = 4*quoteLimit + 4 // enough bytes for more runes than that
)

// Clip cuts a text to the length that findings show, and cleans it.
func Clip(s string) string { return cut(s, quoteLimit) }

// errorLimit is the displayed length of an error's text, in runes. The cause is often at its end.
const errorLimit = 1000

// ErrorText cleans the text of an error; beyond a thousand characters it is cut.
func ErrorText(s string) string { return cut(s, errorLimit) }

func cut(s string, limit int) string {
	s = Clean(s[:min(len(s), 4*limit+4)]) // enough bytes for more runes than that
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return s
}

// Clean puts a text on one line and replaces control characters, so that bytes from the wire cannot act on a terminal.
func Clean(s string) string { return safetext.OneLine(s) }

// WithoutNumbers returns a text with # for each word that has a digit: texts that differ only in ids, times and numbers
// become the same.
func WithoutNumbers(text string) string {
	const digits = "0123456789"
	if !strings.ContainsAny(text, digits) {
		return text
	}
	words := strings.Fields(text)
	for i, word := range words {
		if strings.ContainsAny(word, digits) {
			words[i] = "#"
		}
	}
	return strings.Join(words, " ")
}

// Plural returns a count with its noun, whose plural ends with s: "1 finding", "2 findings". It is for messages of this
// package, of reports and of commands.
func Plural[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
