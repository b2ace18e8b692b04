package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"a2atap/analyzer/analysis"
)

// maxValue bounds the characters of a value in a Change: what a report holds must not grow with what an agent sends.
const maxValue = 4096

// NewChange returns the change of a value, given as raw JSON; nil stands for nothing. Spaces between tokens are left
// out. Values beyond 4096 characters are cut to where they differ, and say how much is left out.
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

// Excerpt returns two texts as they are shown beside each other: whole up to the limit, in characters, else the part in
// which they differ with a little around it. The same characters are left out of both, so that they stay aligned, and
// what is left out is counted. They are safe for a terminal.
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

// keep returns how many characters of what is the same are left out: all but a few next to the difference, from the
// beginning of a word if one is near.
func keep(same []rune) int {
	cut := len(same) - around
	if cut <= 12 { // saying so would take as much space
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

// Bounded cuts a text that is too long, and says how much is left out.
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
