// Package command is about lines that are typed as commands: what they consist of, how they are completed, and those
// that were typed before. It knows nothing of what the commands do.
package command

import (
	"slices"
	"strings"
)

// Split returns the first word of a line and what stands behind it, without the blanks around them. Colons before the
// first word are left out: they come of typing one more than is needed.
func Split(line string) (verb, argument string) {
	verb, argument, _ = strings.Cut(strings.TrimLeft(line, " :"), " ")
	return verb, strings.TrimSpace(argument)
}

// Matches reports whether a text holds all words of a query, in any order and whatever their case. A query without
// words matches every text.
func Matches(query, text string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// maxHistory bounds the lines that a History keeps.
const maxHistory = 200

// A History keeps the lines that were typed, and walks through them. The zero History is empty and ready for use.
type History struct {
	lines []string
	at    int    // of the line that is shown; len(lines) stands for the draft
	draft string // what was typed before walking began
}

// Add keeps a line as the newest one, and ends a walk. An empty line is not kept, and one that is there moves.
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

// Older returns the line before the one that is shown, among those that begin with what was typed. It returns false if
// there is none. now is the line as it is; the first step of a walk keeps it.
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

// Newer is Older in the other direction. After the newest line comes what was typed.
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

// A Completion has the words that may stand at the end of a line. The zero Completion has none.
type Completion struct {
	Words  []string
	before string // what stands before them
	begun  string // what was typed of the word
	chosen int    // index and one; 0 if none is
}

// Complete returns the completion of a line that ends with a word that was begun, which may be empty: those of the words
// that begin with it, whatever their case, in the order given and each once.
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

// Next puts the next word into the line, or the previous one if step is -1, and returns the line. After the last word
// comes what was typed, and then the first. It returns false if there are no words.
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
