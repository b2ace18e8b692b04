package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/notes"
	"a2atap/tui/find"
	"a2atap/tui/keys"
	"a2atap/tui/load"
	"a2atap/tui/style"
)

// shared is the state that all panels read: the capture as it is now, the findings, and how to show them. It is
// changed only in Update.
type shared struct {
	load      *load.Loader
	info      capture.Info
	opened    bool   // info was read
	wasLive   bool   // it was being recorded when it was opened
	away      bool   // the server that it comes from does not answer
	followErr string // why the capture cannot be followed for now
	found     load.Findings
	notes     *notes.Notes // nil until they were read
	judged    load.Judged
	pattern   *find.Pattern // that was searched for last; nil for nothing
	deltas    bool          // times are shown since the previous exchange or event
	times     times
	location  *time.Location // nil is that of the machine
	first     time.Time      // when the first exchange began; zero until that is needed
	theme     style.Theme
	message   string // in the last line, until the next key
	learning  bool   // cards are being learned
	learnt    uint64 // those that exchanges up to this one have brought
	tickets   uint64
}

// ticket returns a new number for a command. A message that does not carry the number that its panel waits for is out
// of date.
func (s *shared) ticket() uint64 {
	s.tickets++
	return s.tickets
}

// A panel fills the screen between the title and the last line. It is a plain struct: update takes keys, as actions,
// and what was loaded, changes the panel and returns a command to run; view draws the panel as it is, in at most height
// lines.
type panel interface {
	resize(width, height int) tea.Cmd
	update(msg tea.Msg) tea.Cmd
	view() []style.Line
	place() keys.Scope
	title() string          // for the breadcrumb
	status() string         // counts and modes, for the end of the title
	target() analyzer.Place // what is selected; without an exchange if nothing is
}

// A folder is a panel with headings that fold.
type folder interface {
	fold() (tea.Cmd, bool) // folds or unfolds the heading under the cursor; false if there is none
}

// Messages for all panels.
type (
	// exchangesChanged says that the capture has grown, or that it was opened.
	exchangesChanged struct {
		seqs []uint64 // exchanges that have something new, in order
	}
	// findingsChanged says that the rules have found something in these exchanges.
	findingsChanged struct{ seqs []uint64 }
	// rowsChanged says that a reading knows more of these exchanges.
	rowsChanged struct{ seqs []uint64 }
	// linksChanged says that more may be known of what caused what.
	linksChanged struct{}
	// notesChanged says that these exchanges have other marks or comments; nil if any may have.
	notesChanged struct{ seqs []uint64 }
)
