package tui

import tea "github.com/charmbracelet/bubbletea"

// liveChanged shows that a recording has ended or was resumed. It is called before the list is updated.
func (m *inspector) liveChanged(first, was bool) {
	switch s := m.shared; {
	case first:
	case was && !s.Info.Live:
		m.shared.Message = "the recording has ended"
		m.followed, m.list.Follow = m.list.Follow, false
	case !was && s.Info.Live:
		m.shared.Message = "the recording was resumed"
		m.list.Follow = m.followed && m.list.AtEnd()
	}
}

// watch returns the command that waits for new steps, if any can come.
func (m *inspector) watch(next uint64) tea.Cmd {
	s := m.shared
	if !s.Info.Live && !s.Load.Resumes() {
		return nil
	}
	return s.Load.Watch(next, !s.Info.Live)
}
