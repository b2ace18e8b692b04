package present

import (
	"strings"

	"a2atap/proxy/capture/credential"
	"a2atap/tui"
)

// InColumns returns a foreign text without passwords, cut or filled up to so many columns.
func InColumns(text string, columns int) string {
	text = tui.Clip(credential.WithoutUserinfo(text), columns)
	return text + strings.Repeat(" ", max(columns-tui.Width(text), 0))
}

// fit cuts the pieces of a line to so many columns; 0 is any number of them. Blanks at the end are left out.
func fit(line []piece, columns int) []piece {
	left := columns
	for i := range line {
		line[i].Text = tui.Clean(credential.WithoutUserinfo(line[i].Text))
		if columns == 0 {
			continue
		}
		width := tui.Width(line[i].Text)
		if more := i+1 < len(line); width > left || more && width == left {
			line[i].Text = tui.Clip(line[i].Text+strings.Repeat(" ", left), left)
			line = line[:i+1]
			break
		}
		left -= width
	}
	if last := len(line) - 1; last >= 0 {
		line[last].Text = strings.TrimRight(line[last].Text, " ")
	}
	return line
}

// linkWords names a client and an agent in at most so many columns, so that both are seen, however long their names
// are.
func linkWords(client, agent string, columns int) string {
	const arrow = " → "
	client, agent = tui.Clean(client), tui.Clean(agent)
	room := columns - tui.Width(arrow)
	left := min(tui.Width(client), max(room/2, room-tui.Width(agent)))
	return tui.Clip(client, left) + arrow + tui.Clip(agent, room-left)
}
