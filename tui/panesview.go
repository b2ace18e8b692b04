package tui

import (
	"strings"

	"a2atap/tui/detail"
	"a2atap/tui/list"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// drawPanes draws the panes, each below a title of its own. That of the pane that has the focus is in brackets, on a
// heavy line.
func (m *inspector) drawPanes() []style.Line {
	list := m.layout()
	rows := make([]style.Line, m.panelHeight())
	for _, at := range list {
		if at.x == 0 {
			m.drawPane(rows, at)
		}
	}
	third := -1
	if len(list) == 3 {
		third = list[2].y
	}
	for y := range rows {
		bar := "│"
		switch y {
		case 0:
			bar = "┬"
		case third:
			bar = "┤"
		}
		rows[y] = rows[y].Add(style.Dim, bar)
	}
	m.drawPane(rows, list[1])
	return rows
}

// drawPane adds the lines of a pane to rows of the screen.
func (m *inspector) drawPane(rows []style.Line, at pane) {
	focused := at.panel == m.top()
	lines := append([]style.Line{m.paneTitle(at, focused)}, at.panel.View()...)
	for y := range at.height {
		l := style.Line{}
		if y < len(lines) {
			l = lines[y]
		}
		rows[at.y+y] = rows[at.y+y].Join(l.InPane(at.width, focused))
	}
}

// paneTitle draws the title of a pane. The counts of the list are in the title of the screen.
func (m *inspector) paneTitle(at pane, focused bool) style.Line {
	name, status := at.panel.Title(), at.panel.Status()
	switch p := at.panel.(type) {
	case *list.Panel:
		status = ""
	case *detail.Panel:
		name = "exchange " + p.Title()
	}
	rule, look := "─", style.Dim
	title := " " + text.Clip(name, at.width-6) + " "
	if focused {
		rule, look = "━", style.Title
		title = "┫" + title + "┣"
	}
	if name == "" {
		title = ""
	}
	title = rule + title
	if status != "" {
		status = " " + text.Clip(status, at.width-text.Width(title)-6) + " "
	}
	room := at.width - text.Width(title) - text.Width(status) - 1
	if room < 1 {
		status, room = "", at.width-text.Width(title)-1
	}
	return style.Text(look, title+strings.Repeat(rule, max(room, 0))).Add(style.Dim, status).Add(look, rule)
}
