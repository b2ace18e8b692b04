// Package panel says what a panel of the inspector is, and holds what panels have in common: the state of the capture
// that all of them show (Shared), the visible part of a list (Window), headings that fold (Outline), the columns of a
// list of exchanges, and the line in which something is typed.
//
// A panel is a plain struct with three main methods: Resize; Update, which takes an action or a message and returns a
// command to run; and View, which draws it as it is. It reads the capture only in commands. Each message carries the
// ticket of its command, so that a panel can ignore one that is out of date.
package panel

import (
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/style"
)

// A Panel fills the screen between the title and the last line. It is a plain struct: update takes keys, as actions,
// and what was loaded, changes the panel and returns a command to run; view draws the panel as it is, in at most height
// lines.
type Panel interface {
	Resize(width, height int) tea.Cmd
	Update(msg tea.Msg) tea.Cmd
	View() []style.Line
	Scope() keys.Scope
	Title() string          // for the breadcrumb
	Status() string         // counts and modes, for the end of the title
	Target() analysis.Place // what is selected; without an exchange if nothing is
}

// A Folder is a panel with headings that fold.
type Folder interface {
	Fold() (tea.Cmd, bool) // folds or unfolds the heading under the cursor; false if there is none
}

// A Leaver is a panel that has something under way, which ends when the panel goes.
type Leaver interface{ Leave() }

// A Clickable panel selects what is at a line of it.
type Clickable interface{ Click(y int) tea.Cmd }

// An Explainer is a panel of which some keys do nothing now and then.
type Explainer interface {
	Why(a keys.Action) string // why an action has no effect now, or ""
}

// A Searcher is a panel in which a text can be searched for.
type Searcher interface {
	Panel
	LookFor(p *find.Pattern) tea.Cmd // nil ends the search
}

// A Status is shown in the last line.
type Status string

// Say returns a command that shows words in the last line.
func Say(words string) tea.Cmd { return func() tea.Msg { return Status(words) } }

// NothingGrouped says why there is nothing to fold.
const NothingGrouped = "nothing is grouped; u groups"

// Unless returns why something cannot be done, unless it can.
func Unless(can bool, why string) string {
	if can {
		return ""
	}
	return why
}

// Messages for all panels.
type (
	// exchangesChanged says that the capture has grown, or that it was opened.
	ExchangesChanged struct {
		Seqs []uint64 // exchanges that have something new, in order
	}
	// findingsChanged says that the rules have found something in these exchanges.
	FindingsChanged struct{ Seqs []uint64 }
	// rowsChanged says that a reading knows more of these exchanges.
	RowsChanged struct{ Seqs []uint64 }
	// linksChanged says that more may be known of what caused what.
	LinksChanged struct{}
	// notesChanged says that these exchanges have other marks or comments; nil if any may have.
	NotesChanged struct{ Seqs []uint64 }
)
