package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/load"
)

func (m *inspector) reach(msg load.Reached) tea.Cmd {
	m.shared.Away = msg.Away
	if m.shared.Message = "the server is there again"; msg.Away {
		m.shared.Message = "the server is away; what it lacks comes later"
	}
	return m.shared.Load.WatchServer(msg.Away)
}
