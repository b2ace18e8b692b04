package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/keys"
	"a2atap/tui/load"
)

// An elsewhere shows an exchange of another capture. What concerns the capture that is looked at, such as its marks and
// its findings, has no place here.
type elsewhere struct {
	*detail
	file string
}

// furtherTickets is where the tickets of another capture's panels begin, so that none is taken for one of ours.
const furtherTickets = 1 << 40

// openElsewhere opens an exchange of another capture.
func (m *inspector) openElsewhere(src *load.Part, seq uint64, file string) tea.Cmd {
	s := m.shared
	m.doing.further++
	other := &shared{
		load: load.New(s.load.Context, src, s.load.Rules, s.load.Keys...), opened: true, theme: s.theme,
		deltas: s.deltas, tickets: m.doing.further * furtherTickets,
	}
	e := &elsewhere{newDetail(other, analyzer.Place{Exchange: seq}), file}
	return tea.Batch(m.push(e), e.begin())
}

func (e *elsewhere) place() keys.Scope { return keys.InElsewhere }

func (e *elsewhere) title() string { return fmt.Sprintf("%d in %s", e.seq, e.file) }

func (e *elsewhere) target() analyzer.Place { return analyzer.Place{} }

// shownDetail returns the detail on top, also of another capture.
func (m *inspector) shownDetail() (*detail, bool) {
	switch p := m.top().(type) {
	case *detail:
		return p, true
	case *elsewhere:
		return p.detail, true
	}
	return nil, false
}

// update keeps away what is said of the capture that is looked at.
func (e *elsewhere) update(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case exchangesChanged, findingsChanged, notesChanged:
		return nil
	}
	return e.detail.update(msg)
}
