package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/load"
)

func (m *inspector) reach(msg load.Reached) tea.Cmd {
	m.shared.away = msg.Away
	if m.shared.message = "the server is there again"; msg.Away {
		m.shared.message = "the server is away; what it lacks comes later"
	}
	return m.shared.load.WatchServer(msg.Away)
}
