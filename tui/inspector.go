package tui

import (
	"context"
	"io"
	"os/exec"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/command"
	"a2atap/tui/detail"
	"a2atap/tui/diff"
	"a2atap/tui/list"
	"a2atap/tui/panel"
)

// An inspector is the whole screen: a stack of panels, of which the top one is visible, between a title and a last line.
// On a wide screen the first of them stand side by side, and the top one has the focus. It passes keys and messages to
// panels and owns the state that they share, but not what they show.
type inspector struct {
	options  Options
	shared   *panel.Shared
	list     *list.Panel
	stack    []panel.Panel // from the list up
	width    int
	height   int
	question *question  // that waits for a key; nil if none does
	prompt   *prompt    // in which something is typed; nil if nothing is
	unknown  bool       // a key that is none was explained
	chosen   *diff.Side // what is to be compared with another one; nil if nothing is
	others   uint64     // how many panels of other captures were opened
	out      io.Writer  // the terminal, for what is not drawn; nil if there is none

	// Its parts, each with what it remembers.
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

// panelHeight is the height of a panel that has the whole screen, in lines.
func (m *inspector) panelHeight() int { return max(m.height-2, 0) }

// typing reports whether keys go to the filter line.
func (m *inspector) typing() bool { return m.list.Filter.Typing() && len(m.stack) == 1 }

// panes are the panels that stand beside the list on a wide screen, and show the exchange that is selected in it. The
// one that has the focus is on the stack as well, above the list.
type panes struct {
	*inspector

	detail *detail.Panel // nil on a narrow screen, and while nothing is selected
	third  panel.Panel   // the ladder of the exchange, or the findings; nil if there is no room
	before panel.Panel   // a third one that had the focus when it lost its place: it fills the screen now
	alone  bool          // one panel alone was asked for, however wide the screen is
	seq    uint64        // the exchange that they show, or will after the pause
	since  time.Time     // when the selection left what is shown; zero if it has not
	ticket uint64        // of the pause under way
}

// A screen draws the inspector.
type screen struct{ *inspector }

// A follower takes what comes from the capture while it grows and is judged, and tells the panels.
type follower struct {
	*inspector
	notice   string // the last one that came with a verdict
	lost     string // why the reading is not used any more
	followed bool   // the list was following when the recording ended
}

// The mouse moves and opens what is under it.
type mouse struct {
	*inspector
	on      bool
	clicked clickedAt
}

// A clickedAt is a line of a panel that was clicked. The next click on it opens what is there, unless a key or the wheel
// came between.
type clickedAt struct {
	panel panel.Panel
	y     int
}

// commands performs what is typed as a command, or chosen among all actions.
type commands struct {
	*inspector
	history command.History
}

// A notebook keeps marks and comments.
type notebook struct {
	*inspector
	failed bool // it was said that they cannot be written
}

// An outbox sends recorded requests again, when the user has agreed.
type outbox struct {
	*inspector
	sending   *sending // nil if nothing is being sent
	preparing uint64   // ticket of the question about what is sent; 0 if none is to come
	exec      func(*exec.Cmd, tea.ExecCallback) tea.Cmd
}

// A sending is under way; esc ends it.
type sending struct {
	ticket uint64
	cancel context.CancelFunc
	what   string
}

// exporting asks what is written where, and writes it.
type exporting struct{ *inspector }

// A clipboard copies what is selected.
type clipboard struct{ *inspector }
