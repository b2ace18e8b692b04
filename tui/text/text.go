// Package text makes texts safe and fit for a terminal. Clean replaces everything that a terminal might interpret, or
// draw with an unexpected width, with visible characters; all other functions of the package clean their text first, or
// require a clean one. Widths are in columns of the screen, as a terminal counts them by grapheme.
//
// It also writes the numbers of people: spans of time, sizes, counts.
package text

import (
	"fmt"
	"iter"
	"net"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"
)

// maxCluster bounds how many characters may share one cell of the screen: some texts pile up marks by the hundred.
const maxCluster = 8

// Clean returns a text as one line without control functions. Control characters become their pictures (␛), bytes that
// are not UTF-8 are written as \x9b, and characters that change direction, have no width or are not assigned as
// \u{202e}. The width of the result is what width says, on every terminal that counts columns by grapheme. Cleaning
// twice is the same as cleaning once.
func Clean(s string) string {
	if isSimple(s) {
		return s
	}
	c := cleaner{}
	c.out.Grow(len(s) + 16)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			c.spell(fmt.Sprintf(`\x%02x`, s[0]))
		} else {
			c.add(r)
		}
		s = s[size:]
	}
	return c.out.String()
}

// IsPlain reports whether a text is printable ASCII, which is the same in every terminal.
func IsPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isSimple reports whether every character of a text is one cell, one column wide: printable ASCII, and the inspector's
// drawing characters. Most texts are, and need no grapheme segmentation.
func isSimple(s string) bool {
	for _, r := range s {
		if (r < ' ' || r > '~') && !isDrawn(r) {
			return false
		}
	}
	return true
}

// isDrawn reports whether r is a line or a sign that the inspector draws with.
func isDrawn(r rune) bool {
	switch r {
	case '·', 'Δ', '–', '…', '›', '←', '→', '↺', '⊘', '▶', '◀', '▸', '▾', '✓', '✗':
		return true
	}
	return r >= 0x2500 && r <= 0x259f // lines and blocks
}

// A cleaner writes a text cell by cell.
type cleaner struct {
	out   strings.Builder
	cell  string // the last cell, to which marks may be added; empty if they may not
	width int    // of cell
	last  rune   // of what was read
}

func (c *cleaner) add(r rune) {
	last := c.last
	c.last = r
	switch {
	case r < ' ':
		c.spell(string(0x2400 + r))
	case r == 0x7f:
		c.spell("\u2421")
	case isLook(r) && unicode.Is(unicode.So, last):
		c.last = last // it only chooses how the symbol before it looks, and terminals disagree on how wide that is
	case !unicode.IsPrint(r) || isLook(r):
		c.escape(r)
	default:
		c.draw(r)
	}
}

// isLook reports whether r chooses a form of the symbol before it: variation selectors, the joiner, skin tones.
func isLook(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r == 0x200d || r >= 0x1f3fb && r <= 0x1f3ff
}

// draw writes a printable character: into a new cell or, if it combines, into the last one.
func (c *cleaner) draw(r rune) {
	if r < utf8.RuneSelf {
		c.start(string(r), 1)
		if r == ' ' { // where a line may break, and a mark would be left without it
			c.cell, c.width = "", 0
		}
		return
	}
	alone, joint := lipgloss.Width(string(r)), lipgloss.Width(c.cell+string(r))
	joins := c.cell != "" && (alone == 0 || joint < c.width+alone)
	switch {
	case joins && joint >= 1 && joint <= 2 && utf8.RuneCountInString(c.cell) < maxCluster:
		c.out.WriteRune(r)
		c.cell += string(r)
		c.width = joint
	case !joins && alone >= 1 && alone <= 2 && joint == c.width+alone:
		c.start(string(r), alone)
	default:
		c.escape(r)
	}
}

func (c *cleaner) start(cell string, width int) {
	c.out.WriteString(cell)
	c.cell, c.width = cell, width
}

func (c *cleaner) escape(r rune) { c.spell(fmt.Sprintf(`\u{%x}`, r)) }

func (c *cleaner) spell(text string) {
	c.out.WriteString(text)
	c.cell, c.width = "", 0
}

// Width returns how many columns a clean text takes.
func Width(s string) int {
	if isSimple(s) {
		return utf8.RuneCountInString(s)
	}
	return lipgloss.Width(s)
}

// Cells yields the cells of a clean text and their widths, which add up to the width of the text.
func Cells(s string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if isSimple(s) {
			for i, r := range s {
				if !yield(s[i:i+utf8.RuneLen(r)], 1) {
					return
				}
			}
			return
		}
		start, w := 0, 0
		for i, r := range s {
			alone := 1
			if r >= utf8.RuneSelf {
				alone = lipgloss.Width(string(r))
				if joint := lipgloss.Width(s[start : i+utf8.RuneLen(r)]); i > start && (alone == 0 || joint < w+alone) {
					w = joint
					continue
				}
			}
			if i > start && !yield(s[start:i], w) {
				return
			}
			start, w = i, alone
		}
		if start < len(s) {
			yield(s[start:], w)
		}
	}
}

// Clip cleans a text and cuts it to a width in columns; what was cut ends with an ellipsis.
func Clip(text string, columns int) string {
	text = Clean(text)
	if Width(text) <= columns {
		return text
	}
	if columns < 1 {
		return ""
	}
	return Take(text, columns-1) + "…"
}

// ClipStart cuts a text whose characters are as wide as one column to a width, at its beginning.
func ClipStart(text string, columns int) string {
	if runes := []rune(text); len(runes) > columns {
		return "…" + string(runes[len(runes)-columns+1:])
	}
	return text
}

// Link names a client and an agent in at most this many columns. Both remain visible, however long their names are.
func Link(client, agent string, columns int) string {
	const arrow = " → "
	client, agent = Clean(client), Clean(agent)
	room := columns - Columns(arrow)
	left := min(Columns(client), max(room/2, room-Columns(agent)))
	return ClipName(client, left) + arrow + ClipName(agent, room-left)
}

// ClipName cuts the name of a program to a width so that it stays different from others: of an address, the port stays.
func ClipName(name string, columns int) string {
	if _, port, err := net.SplitHostPort(name); err == nil && port != "" && columns > 0 && IsPlain(name) {
		return ClipStart(name, columns)
	}
	return Clip(name, columns)
}

// Take returns the beginning of a clean text that fits into some columns.
func Take(text string, columns int) string {
	if IsPlain(text) {
		return text[:min(len(text), max(columns, 0))]
	}
	end, used := 0, 0
	for cell, w := range Cells(text) {
		if used+w > columns {
			break
		}
		end += len(cell)
		used += w
	}
	return text[:end]
}

// Pad clips a text and fills it up with blanks to exactly the columns given.
func Pad(text string, columns int) string {
	text = Clip(text, columns)
	return text + Blanks(columns-Width(text))
}

// PadLeft is pad with the blanks before the text.
func PadLeft(text string, columns int) string {
	text = Clip(text, columns)
	return Blanks(columns-Width(text)) + text
}

// Blanks returns so many blanks, none if n is negative.
func Blanks(n int) string { return strings.Repeat(" ", max(n, 0)) }

// Fold cleans a text and cuts it into pieces of at most so many columns. There is always one piece.
func Fold(text string, columns int) []string {
	text = Clean(text)
	columns = max(columns, 2) // the widest cell
	if Width(text) <= columns {
		return []string{text}
	}
	var pieces []string
	start, end, used := 0, 0, 0
	for cell, w := range Cells(text) {
		if used+w > columns {
			pieces = append(pieces, text[start:end])
			start, used = end, 0
		}
		end += len(cell)
		used += w
	}
	return append(pieces, text[start:])
}

// Prose lays a text out in lines of at most so many columns, broken at blanks. Words that are longer are cut.
func Prose(text string, columns int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		for i, piece := range Fold(word, columns) {
			switch {
			case line == "":
				line = piece
			case i == 0 && Width(line)+1+Width(piece) <= columns:
				line += " " + piece
			default:
				lines = append(lines, line)
				line = piece
			}
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Columns returns how many columns any text takes when it is clean.
func Columns(s string) int { return Width(Clean(s)) }
