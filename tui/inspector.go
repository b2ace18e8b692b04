package tui

import (
	"context"
	"io"
	"os/exec"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/internal/command"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/diff"
	"a2atap/tui/internal/list"
	"a2atap/tui/internal/panel"
)

// An inspector is the whole screen: a stack of panels, of which the top one is visible, between a title and a last
// line. On a wide screen the first panels are side by side, and the top one has the focus. The inspector passes keys
// and messages to panels. It owns the state that they share, but not their contents.
type inspector struct {
	options  Options
	shared   *panel.Shared
	list     *list.Panel
	stack    []panel.Panel // from the list up
	width    int
	height   int
	question *question  // waits for a key; nil without a question
	prompt   *prompt    // waits for text; nil without a prompt
	unknown  bool       // an unknown key was explained
	chosen   *diff.Side // the first side of a comparison; nil if none is chosen
	others   uint64     // number of opened panels of other captures
	out      io.Writer  // the terminal, for escape sequences outside frames; nil without one

	// Its parts, each with separate state.
	panes     panes
	screen    screen
	follower  follower
	mouse     mouse
	commands  commands
	notebook  notebook
	outbox    outbox
	holding   holding
	exporting exporting
	clipboard clipboard
}

func (m *inspector) top() panel.Panel { return m.stack[len(m.stack)-1] }

// broadcast passes a message to all panels, since those below the top one may be loading, too.
func (m *inspector) broadcast(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range m.panes.panels() {
		cmds = append(cmds, p.Update(msg))
	}
	return tea.Batch(cmds...)
}

// panelHeight returns the height in lines of a panel that fills the screen.
func (m *inspector) panelHeight() int { return max(m.height-2, 0) }

// typing reports whether keys go to the filter line.
func (m *inspector) typing() bool { return m.list.Filter.Typing() && len(m.stack) == 1 }

// panes are the panels next to the list on a wide screen, which show the list's selected exchange. The focused pane is
// also on the stack, above the list.
type panes struct {
	*inspector

	detail *detail.Panel // nil on a narrow screen, and while nothing is selected
	third  panel.Panel   // the ladder of the exchange, or the findings; nil without room
	before panel.Panel   // the third pane, if it had the focus when the screen got narrow: it fills the screen now
	alone  bool          // the user wants one panel, however wide the screen is
	seq    uint64        // the exchange that they show, or will show after the pause
	since  time.Time     // when the selection moved away from the shown exchange; zero if it has not
	ticket uint64        // of the current pause
}

// A screen draws the inspector.
type screen struct{ *inspector }

// A follower handles news of the growing capture and of its check, and updates the panels.
type follower struct {
	*inspector
	notice   string // the last notice from the check
	followed bool   // the list was following when the recording ended
}

// A mouse moves the cursor, and opens the line under the pointer.
type mouse struct {
	*inspector
	on      bool
	clicked clickedAt
}

// A clickedAt is the last clicked line of a panel. The next click on it opens the line, unless a key or the wheel was
// used in between.
type clickedAt struct {
	panel panel.Panel
	y     int
}

// commands performs typed commands, and those selected in the palette.
type commands struct {
	*inspector
	history command.History
}

// A notebook keeps marks and comments.
type notebook struct {
	*inspector
	failed bool // a write error was reported
}

// An outbox sends recorded requests again, after the user confirms.
type outbox struct {
	*inspector
	sending   *sending // nil if nothing is being sent
	preparing uint64   // ticket of the question being prepared; 0 for none
	exec      func(*exec.Cmd, tea.ExecCallback) tea.Cmd
}

// A sending is a running send; esc ends it.
type sending struct {
	ticket uint64
	cancel context.CancelFunc
	what   string
}

// exporting asks for the parameters of an export, and writes the file.
type exporting struct{ *inspector }

// A clipboard copies the selected part.
type clipboard struct{ *inspector }
