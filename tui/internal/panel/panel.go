// Package panel defines the panels of the inspector, and has their common parts: the state of the capture (Shared), the
// visible part of a list (Window), folding headings (Outline), the columns of a list of exchanges, and the input line.
//
// A panel is a plain struct with three main methods. Resize sets its size. Update handles an action or a message and
// returns a command to run. View draws the panel. Panels read the capture only in commands. Each message carries the
// ticket of its command, so that a panel can ignore one that is out of date.
package panel

import (
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/style"
)

// A Panel fills the screen between the title and the last line. It is a plain struct. Update handles keys, as actions,
// and loaded data, changes the panel, and returns a command to run. View draws the panel, in at most height lines.
type Panel interface {
	Resize(width, height int) tea.Cmd
	Update(msg tea.Msg) tea.Cmd
	View() []style.Line
	Scope() keys.Scope
	Title() string          // for the breadcrumb
	Status() string         // counts and modes, for the end of the title
	Target() analysis.Place // the selection; without an exchange if nothing is selected
}

// A Folder is a panel with headings that fold.
type Folder interface {
	Fold() (tea.Cmd, bool) // folds or unfolds the heading under the cursor; false without one
}

// A Leaver is a panel with work to cancel when it closes.
type Leaver interface{ Leave() }

// A Clickable panel selects the contents of a clicked line.
type Clickable interface{ Click(y int) tea.Cmd }

// An Explainer is a panel in which some keys do nothing at times.
type Explainer interface {
	Why(a keys.Action) string // why an action has no effect now, or ""
}

// A Searcher is a panel with a text search.
type Searcher interface {
	Panel
	LookFor(p *find.Pattern) tea.Cmd // nil ends the search
}

// A Status is shown in the last line.
type Status string

// Say returns a command that shows words in the last line.
func Say(words string) tea.Cmd { return func() tea.Msg { return Status(words) } }

// NothingGrouped explains why nothing can be folded.
const NothingGrouped = "there are no groups; u groups"

// Unless returns the reason why an action is impossible, or "" if it is possible.
func Unless(can bool, why string) string {
	if can {
		return ""
	}
	return why
}

// Messages for all panels.
type (
	// ExchangesChanged reports that the capture has grown, or was opened.
	ExchangesChanged struct {
		Seqs []uint64 // exchanges that have something new, in order
	}
	// FindingsChanged reports new findings in these exchanges.
	FindingsChanged struct{ Seqs []uint64 }
	// RowsChanged reports that a reading has updated rows of these exchanges.
	RowsChanged struct{ Seqs []uint64 }
	// LinksChanged reports that there may be new links.
	LinksChanged struct{}
	// NotesChanged reports that these exchanges have new marks or comments; nil means any may have.
	NotesChanged struct{ Seqs []uint64 }
)
