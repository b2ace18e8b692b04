package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/detail"
	"a2atap/tui/keys"
	"a2atap/tui/load"
	"a2atap/tui/panel"
)

// An otherCapture shows an exchange of another capture. What concerns the capture that is looked at, such as its marks and
// its findings, has no place here.
type otherCapture struct {
	*detail.Panel
	file string
}

// otherTickets is where the tickets of another capture's panels begin, so that none is taken for one of ours.
const otherTickets = 1 << 40

// openOther opens an exchange of another capture.
func (m *inspector) openOther(src *load.Part, seq uint64, file string) tea.Cmd {
	s := m.shared
	m.doing.further++
	other := &panel.Shared{
		Load: load.New(s.Load.Context, src, s.Load.Rules, s.Load.Keys...), Opened: true, Theme: s.Theme,
		Deltas: s.Deltas, Tickets: m.doing.further * otherTickets,
	}
	e := &otherCapture{detail.New(other, analyzer.Place{Exchange: seq}), file}
	return tea.Batch(m.push(e), e.Begin())
}

func (e *otherCapture) Scope() keys.Scope { return keys.InElsewhere }

func (e *otherCapture) Title() string { return fmt.Sprintf("%d in %s", e.Seq, e.file) }

func (e *otherCapture) Target() analyzer.Place { return analyzer.Place{} }

// shownDetail returns the detail on top, also of another capture.
func (m *inspector) shownDetail() (*detail.Panel, bool) {
	switch p := m.top().(type) {
	case *detail.Panel:
		return p, true
	case *otherCapture:
		return p.Panel, true
	}
	return nil, false
}

// Update keeps away what is said of the capture that is looked at.
func (e *otherCapture) Update(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case panel.ExchangesChanged, panel.FindingsChanged, panel.NotesChanged:
		return nil
	}
	return e.Panel.Update(msg)
}
