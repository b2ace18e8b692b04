package panel

import (
	"strings"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/textinput"

	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// Choices draws words in one line, as many as fit, including the chosen one.
func Choices(words []string, chosen, columns int) style.Line {
	first, used := 0, 0
	for i := 0; i <= chosen; i++ {
		w := text.Width(text.Clean(strings.TrimSpace(words[i]))) + 2
		if used += w; used > columns-6 {
			first, used = i, w
		}
	}
	row := style.Line{}
	if first > 0 {
		row = row.Add(style.Dim, " …")
	}
	for i := first; i < len(words); i++ {
		word := strings.TrimSpace(words[i])
		if i > first && text.Width(row.String())+text.Width(text.Clean(word))+4 > columns {
			return row.Add(style.Dim, " …")
		}
		row = row.Add(style.Normal, " ")
		if i == chosen {
			row = row.Add(style.Cursor, word)
		} else {
			row = row.Add(style.Normal, word)
		}
		row = row.Add(style.Normal, " ")
	}
	return row
}

// NewInput returns the model of an input line. InputLine draws it.
func NewInput() textinput.Model {
	input := textinput.New()
	input.CharLimit = 4096
	input.Cursor.SetMode(cursor.CursorHide) // it is drawn here, and does not blink
	input.KeyMap.Paste.SetEnabled(false)    // what the terminal pastes comes as keys
	input.Focus()
	return input
}

// InputLine draws an input line with a cursor, between a label and a remark.
func InputLine(label string, input textinput.Model, columns int, remark string) style.Line {
	value := []rune(input.Value())
	at := min(input.Position(), len(value))
	before, after := text.Clean(string(value[:at])), text.Clean(string(value[at:]))
	room := max(columns-3-text.Width(label)-1-text.Width(remark), 1)
	for text.Width(before) > room {
		for cell := range text.Cells(before) {
			before = before[len(cell):]
			break
		}
	}
	under := " "
	for cell := range text.Cells(after) {
		under, after = cell, after[len(cell):]
		break
	}
	after = text.Pad(after, room-text.Width(before))
	return style.Text(style.Title, " "+label+" ").Add(style.Normal, before).Add(style.Cursor, under).Add(style.Normal, after).
		Add(style.Dim, remark)
}
