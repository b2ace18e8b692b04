package tui

import (
	"fmt"
	"slices"
	"strings"
)

// A Theme is the palette that the inspector draws with. Colour never carries a meaning alone: whatever is coloured has
// a sign or a word too.
type Theme string

// The themes. Colours are the sixteen of the terminal, so that they fit what its user has chosen.
const (
	Dark  Theme = "dark"  // for a dark background
	Light Theme = "light" // for a light one
	Plain Theme = "plain" // no colour: bold, dim, underlined and reverse only

	// Contrast has nothing dim and nothing that depends on the background: what has a colour has one behind it, too.
	Contrast Theme = "contrast"
)

// Themes are all of them, in the order in which the key t goes through them.
var Themes = []Theme{Dark, Light, Contrast, Plain}

// themeNames returns the names of the themes as a list for people.
func themeNames() string {
	names := make([]string, len(Themes))
	for i, t := range Themes {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

// ChooseTheme returns the theme of that name. "auto" and "" look at the environment: NO_COLOR, unless it is empty, asks
// for no colour (https://no-color.org), and COLORFGBG, which some terminals set, ends with the number of the
// background's colour. The terminal itself is never asked: some never answer.
func ChooseTheme(name string, getenv func(string) string) (Theme, error) {
	switch t := Theme(name); {
	case slices.Contains(Themes, t):
		return t, nil
	case name != "" && name != "auto":
		return "", fmt.Errorf("unknown theme %q; use one of auto, %s", name, themeNames())
	}
	if getenv("NO_COLOR") != "" {
		return Plain, nil
	}
	setting := getenv("COLORFGBG")
	switch setting[strings.LastIndexByte(setting, ';')+1:] {
	case "7", "15":
		return Light, nil
	}
	return Dark, nil
}

// next returns the theme to which the key t changes.
func (t Theme) next() Theme { return Themes[(slices.Index(Themes, t)+1)%len(Themes)] }

// A style says what a piece of text is; the theme chooses its colour.
type style uint8

const (
	styleText style = iota
	styleDim
	styleStrong
	styleTitle
	styleError
	styleWarning
	styleNote
	styleGood   // it went well
	styleName   // of a header or a JSON member
	styleString // in JSON
	styleNumber // in JSON, and true, false and null
	styleRequest
	styleAnswer
	styleCursor // of the line that is typed
	styleMatch  // of what is searched for
	styleHere   // the same, of the match that was gone to
	styleCount  // not a style: how many there are
)

// looks are the parameters of SGR (ECMA-48 section 8.3.117) for each style.
var looks = map[Theme][styleCount]string{
	Dark: {
		styleDim: "90", styleStrong: "1", styleTitle: "1;36", styleError: "1;91", styleWarning: "93", styleNote: "96",
		styleGood: "92", styleName: "36", styleString: "32", styleNumber: "33",
		styleRequest: "1;94", styleAnswer: "1;35", styleCursor: "7", styleMatch: "30;43", styleHere: "1;30;103",
	},
	Light: {
		styleDim: "2", styleStrong: "1", styleTitle: "1;34", styleError: "1;31", styleWarning: "35", styleNote: "34",
		styleGood: "32", styleName: "34", styleString: "32", styleNumber: "35",
		styleRequest: "1;34", styleAnswer: "1;35", styleCursor: "7", styleMatch: "30;103", styleHere: "1;30;43",
	},
	Contrast: {
		styleStrong: "1", styleTitle: "1;7", styleError: "1;97;41", styleWarning: "30;103", styleNote: "30;106",
		styleName: "1", styleNumber: "1", styleRequest: "1;97;44", styleAnswer: "1;97;45", styleCursor: "7",
		styleMatch: "4;30;103", styleHere: "1;4;30;102",
	},
	Plain: {
		styleDim: "2", styleStrong: "1", styleTitle: "1", styleError: "1",
		styleRequest: "1", styleAnswer: "1", styleCursor: "7", styleMatch: "4", styleHere: "1;4",
	},
}

// A line is one line of the screen: pieces of clean text and what they are.
type line struct {
	spans    []span
	selected bool // it is drawn in reverse, over the whole width
}

type span struct {
	text     string
	style    style
	selected bool // it is drawn in reverse
}

// text returns a line that begins with a text.
func text(s style, words string) line { return line{}.add(s, words) }

// add returns the line with a text behind it. Every text of a line comes through here, and is cleaned.
func (l line) add(s style, words string) line {
	if words != "" {
		l.spans = append(l.spans[:len(l.spans):len(l.spans)], span{text: clean(words), style: s})
	}
	return l
}

// join returns the line with another one behind it.
func (l line) join(other line) line {
	l.spans = append(l.spans[:len(l.spans):len(l.spans)], other.spans...)
	return l
}

// String returns the text of the line.
func (l line) String() string {
	var b strings.Builder
	for _, s := range l.spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// fit returns the line cut to a width; a selected one is filled up to it.
func (l line) fit(columns int) line {
	fitted := line{selected: l.selected}
	used := 0
	for _, s := range l.spans {
		s.text = take(s.text, columns-used)
		used += width(s.text)
		fitted.spans = append(fitted.spans, s)
	}
	if l.selected {
		fitted.spans = append(fitted.spans, span{text: blanks(columns - used)})
	}
	return fitted
}

// inPane returns the line as a piece of one: cut and filled up to a width. A selected one is drawn in reverse if its pane
// has the focus.
func (l line) inPane(columns int, focused bool) line {
	piece := l.fit(columns)
	used := 0
	for i := range piece.spans {
		piece.spans[i].selected = l.selected && focused
		used += width(piece.spans[i].text)
	}
	piece.selected = false
	return piece.add(styleText, blanks(columns-used))
}

// columns returns how many columns the line takes.
func (l line) columns() (n int) {
	for _, s := range l.spans {
		n += width(s.text)
	}
	return n
}

// paint returns the line as a terminal draws it in the theme. This is the only place where escape sequences are made.
func (l line) paint(t Theme) string {
	var b strings.Builder
	for _, s := range l.spans {
		look := looks[t][s.style]
		if l.selected || s.selected {
			look = strings.TrimSuffix("7;"+look, ";")
		}
		if look == "" || s.text == "" {
			b.WriteString(s.text)
			continue
		}
		b.WriteString("\x1b[" + look + "m" + s.text + "\x1b[0m")
	}
	return b.String()
}

// wrapWords is wrap at blanks, where there are some.
func (l line) wrapWords(columns, indent int) []line {
	indent = max(min(indent, columns/2), 0)
	columns = max(columns, indent+2)
	var pieces []line
	piece, used := line{}, 0
	for _, s := range l.spans {
		for word := range strings.SplitAfterSeq(s.text, " ") {
			if used > indent && used+width(strings.TrimRight(word, " ")) > columns {
				pieces = append(pieces, piece)
				piece, used = line{}.add(styleText, blanks(indent)), indent
			}
			part := s
			part.text = word
			piece.spans = append(piece.spans, part)
			used += width(word)
		}
	}
	var all []line
	for _, p := range append(pieces, piece) {
		all = append(all, p.wrap(columns, indent)...)
	}
	return all
}

// wrap returns the line in pieces of at most so many columns; all but the first are indented.
func (l line) wrap(columns, indent int) []line {
	indent = wrapIndent(columns, indent)
	columns = max(columns, indent+2)
	var pieces []line
	piece, used := line{}, 0
	for _, s := range l.spans {
		for s.text != "" {
			part := take(s.text, columns-used)
			if part == "" {
				pieces = append(pieces, piece)
				piece, used = line{}.add(styleText, blanks(indent)), indent
				continue
			}
			piece.spans = append(piece.spans, span{text: part, style: s.style})
			used += width(part)
			s.text = s.text[len(part):]
		}
	}
	return append(pieces, piece)
}

// wrapIndent returns by how many columns wrap indents.
func wrapIndent(columns, indent int) int { return max(min(indent, columns/2), 0) }
