// Package keys holds the keys of the inspector as data: the one table from which keys are read, and from which the help,
// the last line of the screen and docs/keys.md are made. A row says in which panels the key works, which action it
// stands for, and what has to be there so that it does something. Panels get keys as actions, and know no key by name.
package keys

import (
	"slices"
	"strings"

	"a2atap/tui/internal/style"
)

// An Action is what a key does. Panels get keys as actions.
type Action uint8

const (
	None Action = iota
	Down
	Up
	PageDown
	PageUp
	Top
	Bottom
	Open
	Back
	Leave
	Quit
	QuitNow
	Suspend
	ShowHelp
	EditFilter
	ToggleFollow
	NextPane
	PreviousPane
	NextPart // what nextPane does where there is one pane
	OnePane
	NextFinding
	PreviousFinding
	NextFailed
	PreviousFailed
	NextExchange
	PreviousExchange
	ShowDetail
	ShowLadder
	ShowWorkflow
	ShowFindings
	ChangeView
	ChangeClock
	ChangeTimes
	LoadMore
	SearchText
	NextMatch
	PreviousMatch
	FoldNode
	UnfoldNode
	CopyMenu
	ChangeGrouping
	ChangeOrder
	ReverseOrder
	FoldAll
	ShowCoverage
	ShowText
	ToggleMouse
	ChangeTheme
	OpenCommand
	ShowPalette
	Mark
	Comment
	Diff
	Resend
	Replay
	Export
	ShowHeld
)

// A Scope is a panel in which a key can work. Several make a set.
type Scope uint16

const (
	InList Scope = 1 << iota
	InDetail
	InLadder
	InFindings
	InWorkflow
	InPage // help, and what was copied
	InMenu
	InDiff
	InElsewhere // the detail of an exchange of another capture
	InText
	InCoverage

	inPanes  = InList | InDetail | InLadder | InFindings
	Anywhere = InList | deeper
	ofOne    = InList | InDetail | InLadder | InWorkflow | InFindings | InText     // where an exchange is selected
	deeper   = ofOne&^InList | InPage | InMenu | InDiff | InElsewhere | InCoverage // opened from another panel
)

// A need is what has to be there so that a key does something.
type need uint8

const (
	needNothing   need = iota
	NeedSelection      // an exchange is selected
	NeedFindings       // the rules have found something
	NeedPattern        // something is searched for
	NeedPanes          // several panes are on the screen
	NeedRoom           // there is room for several
	NeedSender         // requests can be sent, and none is being sent
	NeedExporter       // exchanges can be written into files
	NeedHolder         // messages can be held
	AskPanel           // the panel knows
)

// A Key is a row of the one table from which keys are read, and from which the help, the status bar and docs/keys.md
// are made.
type Key struct {
	Names  []string // as the terminal library calls them
	Label  string   // as people read them
	Words  string   // what it does
	Short  string   // the same for the status bar; empty if it is not shown there
	Action Action   //
	In     Scope    //
	Needs  need     // what has to be there
}

// Table is the table. Keys are those that users of mitmproxy and sngrep know, where they exist.
var Table = []Key{
	{[]string{"enter"}, "enter", "open the exchange; fold or unfold the group", "open", Open, InList, NeedSelection},
	{[]string{"enter"}, "enter", "open the exchange at this arrow", "open", Open, InLadder, NeedSelection},
	{[]string{"enter"}, "enter", "open the selected exchange", "open", Open, InWorkflow, NeedSelection},
	{
		[]string{"enter"},
		"enter", "open the exchange at this finding; fold or unfold the group", "open", Open,
		InFindings, NeedSelection,
	},
	{
		[]string{"enter"},
		"enter", "open or close the event, fold or unfold the object or array", "open", Open, InDetail, AskPanel,
	},
	{[]string{"enter"}, "enter", "open the selected event in the detail", "open", Open, InText, needNothing},
	{[]string{"tab", "}"}, "tab }", "as a tree, as a waterfall, and as a ladder again", "tree", NextPane, InWorkflow, needNothing},
	{
		[]string{"d"},
		"d", "detail: request and response", "", ShowDetail,
		InList | InLadder | InWorkflow | InFindings | InText, NeedSelection,
	},
	{
		[]string{"a"},
		"a", "text: artifacts put together from their chunks, and what was said", "text", ShowText,
		InDetail, NeedSelection,
	},
	{
		[]string{"a"},
		"a", "text: artifacts put together from their chunks, and what was said", "", ShowText,
		InList | InLadder | InWorkflow | InFindings, NeedSelection,
	},
	{[]string{"a"}, "a", "back from the text", "", Back, InText, needNothing},
	{
		[]string{"l"},
		"l", "ladder: all exchanges of the same task and context", "ladder", ShowLadder,
		InList | InDetail | InWorkflow | InFindings | InText, NeedSelection,
	},
	{
		[]string{"W"},
		"W", "workflow: all that one request of a user has caused", "workflow", ShowWorkflow,
		InList | InDetail | InLadder | InFindings | InText, NeedSelection,
	},
	{[]string{"W"}, "W", "the workflow is shown already", "", ShowWorkflow, InWorkflow, AskPanel},
	{
		[]string{"e"},
		"e", "findings, with their rules", "findings", ShowFindings,
		InList | InDetail | InLadder | InWorkflow | InText, needNothing,
	},
	{
		[]string{"n"},
		"n", "to the next finding, in later exchanges too; with the filter is:failed to the next that failed", "next finding",
		NextFinding, InList | InDetail, NeedFindings,
	},
	{[]string{"N"}, "N", "to the previous one", "", PreviousFinding, InList | InDetail, NeedFindings},
	{[]string{"n"}, "n", "to the next finding", "next finding", NextFinding, ofOne &^ (InList | InDetail), NeedFindings},
	{[]string{"N"}, "N", "to the previous finding", "", PreviousFinding, ofOne &^ (InList | InDetail), NeedFindings},
	{[]string{")"}, ")", "to the next exchange that failed; the filter is:failed finds all", "", NextFailed, InList | InDetail, NeedSelection},
	{[]string{"("}, "(", "to the previous exchange that failed", "", PreviousFailed, InList | InDetail, NeedSelection},
	{[]string{"/", "f"}, "/ f", "filter as you type; enter keeps it, esc cancels", "filter", EditFilter, InList, needNothing},
	{[]string{"s"}, "s", "search all exchanges, and go to the next that has it", "search", SearchText, InList, needNothing},
	{
		[]string{"s"},
		"s", "search heads, bodies and all events: a text, or /an expression/", "search", SearchText, InDetail, needNothing,
	},
	{[]string{"."}, ".", "to the next match of the search", "", NextMatch, InList | InDetail, NeedPattern},
	{[]string{","}, ",", "to the previous match of the search", "", PreviousMatch, InList | InDetail, NeedPattern},
	{[]string{"-"}, "-", "fold the object or array", "", FoldNode, InDetail | InElsewhere, AskPanel},
	{[]string{"="}, "=", "unfold it", "", UnfoldNode, InDetail | InElsewhere, AskPanel},
	{[]string{"_"}, "_", "fold all below the first level, and unfold all", "", FoldAll, InDetail | InElsewhere, AskPanel},
	{[]string{"u"}, "u", "group: by context and task, by workflow, not at all", "group", ChangeGrouping, InList, needNothing},
	{[]string{"o"}, "o", "sort: by number, time, duration, size, worst finding", "sort", ChangeOrder, InList, needNothing},
	{[]string{"O"}, "O", "the same order from its other end", "", ReverseOrder, InList, needNothing},
	{[]string{"c"}, "c", "coverage: which rules were observed on each link, and which never", "", ShowCoverage, ofOne, needNothing},
	{[]string{"enter"}, "enter", "fold or unfold the group; explain the rule", "open", Open, InCoverage, needNothing},
	{[]string{"u"}, "u", "group: by rule, by agent, by severity, not at all", "group", ChangeGrouping, InFindings, needNothing},
	{
		[]string{"_"},
		"_", "fold all groups, and unfold them again", "", FoldAll,
		InList | InFindings | InCoverage, AskPanel,
	},
	{[]string{"F"}, "F", "follow: stay at the newest exchange", "follow", ToggleFollow, InList, AskPanel},
	{[]string{"v"}, "v", "view: as JSON, decoded, or raw as on the wire", "view", ChangeView, InDetail, needNothing},
	{[]string{"]"}, "]", "the next exchange", "", NextExchange, InDetail, needNothing},
	{[]string{"["}, "[", "the previous exchange", "", PreviousExchange, InDetail, needNothing},
	{[]string{"+"}, "+", "show more of a body that was cut for display", "more", LoadMore, InDetail, AskPanel},
	{[]string{"tab"}, "tab", "to the next pane; if there is one only, to the findings", "", NextPane, InList, needNothing},
	{[]string{"tab"}, "tab", "to the next pane; if there is one only, as }", "", NextPane, InDetail, needNothing},
	{[]string{"tab"}, "tab", "to the next pane; if there is one only, as }", "waterfall", NextPane, InLadder, needNothing},
	{[]string{"tab"}, "tab", "to the next pane; if there is one only, as }", "rule", NextPane, InFindings, needNothing},
	{[]string{"shift+tab"}, "shift-tab", "to the previous pane", "", PreviousPane, inPanes, NeedPanes},
	{[]string{"}"}, "}", "to the response, to the end, to the request", "", NextPart, InDetail, needNothing},
	{[]string{"}"}, "}", "as a waterfall, and as a ladder again", "", NextPart, InLadder, needNothing},
	{[]string{"}"}, "}", "to the rule, and back to the findings", "", NextPart, InFindings, needNothing},
	{[]string{"tab", "}"}, "tab }", "to the text, and back to the events", "pane", NextPane, InText, AskPanel},
	{[]string{"z"}, "z", "this pane alone, and all of them again", "", OnePane, ofOne, NeedRoom},
	{[]string{"w"}, "w", "times: clock or elapsed", "time", ChangeClock, ofOne, needNothing},
	{[]string{"T"}, "T", "times of the clock: local, UTC, since the first exchange", "", ChangeTimes, ofOne, needNothing},
	{
		[]string{"y"},
		"y", "copy a value, a place, a body, a curl command …; yy is curl", "copy", CopyMenu, ofOne, NeedSelection,
	},
	{
		[]string{"x"},
		"x", "mark the exchange, or take the mark away; the filter is:marked finds it", "mark", Mark, ofOne, NeedSelection,
	},
	{[]string{"#"}, "#", "comment on the exchange; without words the comment goes", "", Comment, ofOne, NeedSelection},
	{
		[]string{"D"},
		"D", "difference from another one: the marked one, or one where D was struck; in ladders: of tasks", "", Diff,
		ofOne, NeedSelection,
	},
	{[]string{"r"}, "r", "resend the request, as it was or edited, after a question", "", Resend, ofOne, NeedSender},
	{[]string{"R"}, "R", "replay the task, after a question", "", Replay, ofOne, NeedSender},
	{
		[]string{"E"},
		"E", "export into a file: the exchange, its task, what is marked, what is found", "", Export, ofOne, NeedExporter,
	},
	{[]string{"H"}, "H", "held messages: which are, what becomes of them, and what is to be held", "", ShowHeld, ofOne, NeedHolder},
	{[]string{"tab"}, "tab", "to the lines that differ, to all lines, and back", "lines", NextPane, InDiff, needNothing},
	{[]string{"n"}, "n", "to the next difference", "next", NextFinding, InDiff, needNothing},
	{[]string{"N"}, "N", "to the previous difference", "", PreviousFinding, InDiff, needNothing},
	{[]string{"enter"}, "enter", "open or close the event", "open", Open, InElsewhere, AskPanel},
	{[]string{"v"}, "v", "view: as JSON, decoded, or raw as on the wire", "view", ChangeView, InElsewhere, needNothing},
	{[]string{"+"}, "+", "show more of a body that was cut for display", "more", LoadMore, InElsewhere, AskPanel},
	{[]string{"tab", "}"}, "tab }", "to the response, to the end, to the request", "", NextPart, InElsewhere, needNothing},
	{[]string{"j", "down"}, "j ↓", "down", "", Down, Anywhere, needNothing},
	{[]string{"k", "up"}, "k ↑", "up", "", Up, Anywhere, needNothing},
	{[]string{" ", "ctrl+f", "pgdown"}, "space ctrl-f", "page down", "", PageDown, Anywhere, needNothing},
	{[]string{"ctrl+b", "b", "pgup"}, "b ctrl-b", "page up", "", PageUp, Anywhere, needNothing},
	{[]string{"g", "home"}, "g", "to the top", "", Top, Anywhere, needNothing},
	{[]string{"G", "end"}, "G", "to the end", "", Bottom, Anywhere, needNothing},
	{[]string{"m"}, "m", "mouse on or off; while it is off, the terminal selects text", "", ToggleMouse, Anywhere, needNothing},
	{[]string{"t"}, "t", "theme: " + style.ThemeNames(), "", ChangeTheme, Anywhere, needNothing},
	{[]string{":"}, ":", "command line; tab completes, ↑ goes back", "commands", OpenCommand, Anywhere, needNothing},
	{[]string{"ctrl+p"}, "ctrl-p", "all actions: type a word to find one", "", ShowPalette, Anywhere, needNothing},
	{[]string{"?"}, "?", "help: the keys of this panel, and of the filter", "help", ShowHelp, Anywhere, needNothing},
	{
		[]string{"esc", "left"},
		"esc ←", "clear the search, then the filter; esc never quits", "", Back, InList, AskPanel,
	},
	{[]string{"esc", "left"}, "esc ←", "back to the previous panel", "back", Back, deeper, needNothing},
	{[]string{"q"}, "q", "quit, after a second q", "quit", Quit, InList, needNothing},
	{[]string{"q"}, "q", "back to the previous panel", "", Leave, deeper, needNothing},
	{[]string{"Q"}, "Q", "quit, after a second Q", "", Quit, Anywhere, needNothing},
	{[]string{"ctrl+c"}, "ctrl-c", "quit at once, even while typing a filter", "", QuitNow, Anywhere, needNothing},
	{[]string{"ctrl+z"}, "ctrl-z", "back to the shell; fg returns", "", Suspend, Anywhere, needNothing},
}

// Lookup returns the row of a key in a panel, or nil.
func Lookup(name string, in Scope) *Key {
	for i := range Table {
		if Table[i].In&in == 0 {
			continue
		}
		for _, n := range Table[i].Names {
			if n == name {
				return &Table[i]
			}
		}
	}
	return nil
}

// Of returns the row of an action in a panel, or nil.
func Of(a Action, in Scope) *Key {
	for i := range Table {
		if Table[i].Action == a && Table[i].In&in != 0 {
			return &Table[i]
		}
	}
	return nil
}

// ScopesOf returns the panels in which a key works.
func ScopesOf(name string) (in Scope) {
	for i := range Table {
		if slices.Contains(Table[i].Names, name) {
			in |= Table[i].In
		}
	}
	return in
}

// String names the panels of a set.
func (in Scope) String() string {
	var names []string
	for _, p := range Panels {
		if p.In != Anywhere && in&p.In != 0 {
			names = append(names, strings.ToLower(p.Title))
		}
	}
	return strings.Join(names, ", ")
}

// Panels names the panels in which keys work, in the order of the help.
var Panels = []struct {
	In    Scope
	Title string
}{
	{InList, "List"},
	{InDetail, "Detail"},
	{InLadder, "Ladder"},
	{InWorkflow, "Workflow"},
	{InFindings, "Findings"},
	{InDiff, "Difference"},
	{InElsewhere, "What was sent again"},
	{InText, "Text"},
	{InCoverage, "Coverage"},
	{Anywhere, "Everywhere"},
}

// Listed returns the rows of the table that a chapter of the help has: those of a panel, or those that work anywhere.
func Listed(in Scope) []*Key {
	var rows []*Key
	for i := range Table {
		everywhere := Table[i].In == Anywhere
		if everywhere == (in == Anywhere) && Table[i].In&in != 0 {
			rows = append(rows, &Table[i])
		}
	}
	return rows
}
