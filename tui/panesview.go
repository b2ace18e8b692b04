package tui

import "strings"

// drawPanes draws the panes, each below a title of its own. That of the pane that has the focus is in brackets, on a
// heavy line.
func (m *inspector) drawPanes() []line {
	list := m.layout()
	rows := make([]line, m.panelHeight())
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
		rows[y] = rows[y].add(styleDim, bar)
	}
	m.drawPane(rows, list[1])
	return rows
}

// drawPane adds the lines of a pane to rows of the screen.
func (m *inspector) drawPane(rows []line, at pane) {
	focused := at.panel == m.top()
	lines := append([]line{m.paneTitle(at, focused)}, at.panel.view()...)
	for y := range at.height {
		l := line{}
		if y < len(lines) {
			l = lines[y]
		}
		rows[at.y+y] = rows[at.y+y].join(l.inPane(at.width, focused))
	}
}

// paneTitle draws the title of a pane. The counts of the list are in the title of the screen.
func (m *inspector) paneTitle(at pane, focused bool) line {
	name, status := at.panel.title(), at.panel.status()
	switch p := at.panel.(type) {
	case *list:
		status = ""
	case *detail:
		name = "exchange " + p.title()
	}
	rule, look := "─", styleDim
	title := " " + clip(name, at.width-6) + " "
	if focused {
		rule, look = "━", styleTitle
		title = "┫" + title + "┣"
	}
	if name == "" {
		title = ""
	}
	title = rule + title
	if status != "" {
		status = " " + clip(status, at.width-width(title)-6) + " "
	}
	room := at.width - width(title) - width(status) - 1
	if room < 1 {
		status, room = "", at.width-width(title)-1
	}
	return text(look, title+strings.Repeat(rule, max(room, 0))).add(styleDim, status).add(look, rule)
}
