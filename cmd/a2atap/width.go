package main

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"

	"a2atap/proxy/capture/credential"
	"a2atap/tui/terminal"
	"a2atap/tui/text"
)

// usualWidth is the width of a terminal that does not say how wide it is.
const usualWidth = 80

// columnsOf returns how many columns the terminal has that w is; 0 if w is none, so that no line has to be cut.
func columnsOf(w io.Writer) int {
	if !terminal.Is(w) {
		return 0
	}
	width, _, err := term.GetSize(w.(*os.File).Fd())
	if err != nil || width <= 0 {
		return usualWidth
	}
	return width
}

// inColumns returns a foreign text without passwords, cut or filled up to so many columns.
func inColumns(words string, columns int) string {
	words = text.Clip(credential.WithoutUserinfo(words), columns)
	return words + strings.Repeat(" ", max(columns-text.Columns(words), 0))
}

// fit cuts the pieces of a line to so many columns; 0 is any number of them. Blanks at the end are left out.
func fit(line []piece, columns int) []piece {
	left := columns
	for i := range line {
		line[i].text = text.Clean(credential.WithoutUserinfo(line[i].text))
		if columns == 0 {
			continue
		}
		width := text.Columns(line[i].text)
		if more := i+1 < len(line); width > left || more && width == left {
			line[i].text = text.Clip(line[i].text+strings.Repeat(" ", left), left)
			line = line[:i+1]
			break
		}
		left -= width
	}
	if last := len(line) - 1; last >= 0 {
		line[last].text = strings.TrimRight(line[last].text, " ")
	}
	return line
}

// linkWords names a client and an agent in at most so many columns, so that both are seen, however long their names
// are.
func linkWords(client, agent string, columns int) string {
	const arrow = " → "
	client, agent = text.Clean(client), text.Clean(agent)
	room := columns - text.Columns(arrow)
	left := min(text.Columns(client), max(room/2, room-text.Columns(agent)))
	return text.Clip(client, left) + arrow + text.Clip(agent, room-left)
}
