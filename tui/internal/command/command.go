// Package command handles typed command lines: their parts, their completion, and their history. It does not know what
// the commands do.
package command

import (
	"slices"
	"strings"
)

// Split returns the first word of a line and the rest, both trimmed. It drops colons before the first word, which users
// may type twice.
func Split(line string) (verb, argument string) {
	verb, argument, _ = strings.Cut(strings.TrimLeft(line, " :"), " ")
	return verb, strings.TrimSpace(argument)
}

// Matches reports whether a text contains all words of a query, in any order and ignoring case. An empty query matches
// every text.
func Matches(query, text string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// maxHistory is the maximum number of lines in a History.
const maxHistory = 200

// A History stores typed lines, and walks through them. The zero value is empty and ready for use.
type History struct {
	lines []string
	at    int    // index of the shown line; len(lines) means the draft
	draft string // the typed text before the walk
}

// Add stores a line as the newest one, and ends a walk. It ignores an empty line, and moves an existing one.
func (h *History) Add(line string) {
	if line = strings.TrimSpace(line); line != "" {
		h.lines = slices.DeleteFunc(h.lines, func(l string) bool { return l == line })
		h.lines = append(h.lines, line)
		h.lines = h.lines[max(len(h.lines)-maxHistory, 0):]
	}
	h.Rest()
}

// Rest ends a walk: the next one begins at the newest line.
func (h *History) Rest() { h.at = len(h.lines) }

// Older returns the previous line among those that begin with the typed text. It returns false without one. now is the
// current line; the first step of a walk saves it.
func (h *History) Older(now string) (string, bool) {
	if h.at >= len(h.lines) {
		h.at, h.draft = len(h.lines), now
	}
	for i := h.at - 1; i >= 0; i-- {
		if strings.HasPrefix(h.lines[i], h.draft) {
			h.at = i
			return h.lines[i], true
		}
	}
	return "", false
}

// Newer is Older in the other direction. After the newest line, it returns the typed text.
func (h *History) Newer() (string, bool) {
	if h.at >= len(h.lines) {
		return "", false
	}
	for h.at++; h.at < len(h.lines); h.at++ {
		if strings.HasPrefix(h.lines[h.at], h.draft) {
			return h.lines[h.at], true
		}
	}
	return h.draft, true
}

// A Completion has the possible words at the end of a line. The zero Completion has none.
type Completion struct {
	Words  []string
	before string // text before them
	begun  string // the typed part of the word
	chosen int    // index and one; 0 if none is
}

// Complete returns the completion of a line that ends with an incomplete word, which may be empty: the words that begin
// with it, ignoring case, in the given order and without duplicates.
func Complete(before, begun string, words []string) Completion {
	c := Completion{before: before, begun: begun}
	for _, w := range words {
		if len(w) >= len(begun) && strings.EqualFold(w[:len(begun)], begun) && !slices.Contains(c.Words, w) {
			c.Words = append(c.Words, w)
		}
	}
	return c
}

// Chosen returns the index of the word that is in the line, or -1.
func (c *Completion) Chosen() int { return c.chosen - 1 }

// Next inserts the next word into the line, or the previous one if step is -1, and returns the line. After the last
// word, it returns the typed text, and then the first word again. It returns false if there are no words.
func (c *Completion) Next(step int) (line string, ok bool) {
	if len(c.Words) == 0 {
		return "", false
	}
	n := len(c.Words) + 1
	if c.chosen = ((c.chosen+step)%n + n) % n; c.chosen == 0 {
		return c.before + c.begun, true
	}
	return c.before + c.Words[c.chosen-1], true
}
