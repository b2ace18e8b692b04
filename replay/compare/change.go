package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"a2atap/analyzer/analysis"
)

// maxValue bounds the characters of a value in a Change, so that a report does not grow with the agent's answers.
const maxValue = 4096

// NewChange returns the change of a value, given as raw JSON; nil means no value. White space between tokens is
// removed. Values of more than 4096 characters are cut to the part that differs, with a count of the omitted
// characters.
func NewChange(pointer string, was, now []byte) Change {
	c := Change{Pointer: pointer, Was: compact(was), Now: compact(now)}
	if len(c.Was) > maxValue || len(c.Now) > maxValue {
		c.Was, c.Now = Excerpt(c.Was, c.Now, maxValue)
	}
	return c
}

func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil { // it is not JSON, so it is shown as it came
		return string(raw)
	}
	return b.String()
}

// around is how many characters are shown before and after the part of two texts that differs.
const around = 30

// Excerpt returns two texts for display next to each other: whole up to the limit, in characters, else the part that
// differs with some context. It omits the same characters from both, to keep them aligned, and shows their count. The
// results are safe for a terminal.
func Excerpt(was, now string, limit int) (a, b string) {
	x, y := []rune(analysis.Clean(was)), []rune(analysis.Clean(now))
	if len(x) <= limit && len(y) <= limit {
		return string(x), string(y)
	}
	if len(x) == 0 || len(y) == 0 {
		return Bounded(x, limit), Bounded(y, limit)
	}
	begin, end := 0, 0
	for begin < min(len(x), len(y)) && x[begin] == y[begin] {
		begin++
	}
	for end < min(len(x), len(y))-begin && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	begin, end = keep(x[:begin]), keep(reversed(x[len(x)-end:]))
	show := func(text []rune) string {
		var s strings.Builder
		if begin > 0 {
			fmt.Fprintf(&s, "(%s) …", analysis.Plural(begin, "character"))
		}
		s.WriteString(Bounded(text[begin:len(text)-end], limit+2*around))
		if end > 0 {
			fmt.Fprintf(&s, "… (%s)", analysis.Plural(end, "character"))
		}
		return s.String()
	}
	return show(x), show(y)
}

// keep returns the number of equal characters to omit: all but a few next to the difference, which begin at a word
// boundary if one is near.
func keep(same []rune) int {
	cut := len(same) - around
	if cut <= 12 { // the count would take as much space
		return 0
	}
	for i := cut; i > cut-12; i-- {
		if unicode.IsSpace(same[i-1]) {
			return i
		}
	}
	return cut
}

func reversed(text []rune) []rune {
	r := make([]rune, 0, len(text))
	for i := len(text) - 1; i >= 0; i-- {
		r = append(r, text[i])
	}
	return r
}

// Bounded cuts a text that is too long, and adds how many characters are omitted.
func Bounded(text []rune, limit int) string {
	if len(text) <= limit+limit/4 {
		return string(text)
	}
	more := analysis.Plural(len(text)-limit, "character") + " more"
	if len(text) >= maxValue { // it may have been cut before
		more = "at least " + more
	}
	return fmt.Sprintf("%s… (%s)", string(text[:limit]), more)
}
