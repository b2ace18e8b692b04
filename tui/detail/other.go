package detail

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/keys"
	"a2atap/tui/panel"
)

// An Other is the detail of an exchange of another capture. What concerns the capture that is looked at, such as its
// marks and its findings, has no place here.
type Other struct {
	*Panel
	file string
}

// NewOther returns the detail of an exchange of a capture that the shared state belongs to, and that is in a file.
func NewOther(s *panel.Shared, seq uint64, file string) *Other {
	return &Other{New(s, analyzer.Place{Exchange: seq}), file}
}

func (e *Other) Scope() keys.Scope { return keys.InElsewhere }

func (e *Other) Title() string { return fmt.Sprintf("%d in %s", e.Seq, e.file) }

func (e *Other) Target() analyzer.Place { return analyzer.Place{} }

// Update keeps away what is said of the capture that is looked at.
func (e *Other) Update(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case panel.ExchangesChanged, panel.FindingsChanged, panel.NotesChanged:
		return nil
	}
	return e.Panel.Update(msg)
}
