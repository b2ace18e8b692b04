package tui

import (
	"os/exec"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/diff"
	"a2atap/tui/keys"
)

// doing is what was begun with the keys that do something with an exchange, instead of showing it.
type doing struct {
	notesFailed bool       // it was said that notes cannot be written
	chosen      *diff.Side // what is to be compared with another one; nil if nothing is
	sending     *sending   // nil if nothing is being sent
	preparing   uint64     // ticket of the question about what is sent; 0 if none is to come
	further     uint64     // how many panels of other captures were opened
	exec        func(*exec.Cmd, tea.ExecCallback) tea.Cmd
}

// do performs the actions that do something with an exchange. It reports whether it was one of them.
func (m *inspector) do(a keys.Action, at analyzer.Place) (cmd tea.Cmd, was bool) {
	switch a {
	case keys.Mark:
		return m.mark(at), true
	case keys.Comment:
		return m.comment(at), true
	case keys.Diff:
		return m.diff(at), true
	case keys.Resend:
		return m.resend(at), true
	case keys.Replay:
		return m.replayTask(at), true
	case keys.Export:
		return m.export(at), true
	}
	return nil, false
}

// done handles the messages that say what came of it. It reports whether it was one of them.
func (m *inspector) done(msg tea.Msg) (cmd tea.Cmd, was bool) {
	switch msg := msg.(type) {
	case noted:
		return m.noted(msg), true
	case prepared:
		return m.prepared(msg), true
	case editable:
		return m.openEditor(msg), true
	case cameBack:
		return m.cameBack(msg), true
	case exported:
		return m.exported(msg), true
	}
	return nil, false
}
