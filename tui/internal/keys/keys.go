// Package keys has the inspector's keys as data. One table serves for reading keys, for the help, for the last line of
// the screen and for docs/keys.md. A row has the panels in which the key works, its action, and its precondition.
// Panels receive actions and do not know keys.
package keys

import (
	"slices"
	"strings"

	"a2atap/tui/internal/style"
)

// An Action is the effect of a key. Panels receive keys as actions.
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
	NextPart // nextPane's action if there is one pane
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

// A Scope is a set of panels in which a key works.
type Scope uint16

const (
	InList Scope = 1 << iota
	InDetail
	InLadder
	InFindings
	InWorkflow
	InPage // help, and copied text
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

// A need is a precondition of a key.
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

// A Key is a row of the table of keys. The table is the source for reading keys, the help, the status bar and
// docs/keys.md.
type Key struct {
	Names  []string // names in the terminal library
	Label  string   // as people read them
	Words  string   // what it does
	Short  string   // the same for the status bar; empty if it is not shown there
	Action Action   //
	In     Scope    //
	Needs  need     // what has to be there
}

// Table is the table of keys. It uses the keys of mitmproxy and sngrep, where they exist.
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
	{[]string{"tab", "}"}, "tab }", "switch between tree, waterfall and ladder", "tree", NextPane, InWorkflow, needNothing},
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
		"l", "ladder: all exchanges with the same task and context", "ladder", ShowLadder,
		InList | InDetail | InWorkflow | InFindings | InText, NeedSelection,
	},
	{
		[]string{"W"},
		"W", "workflow: all exchanges caused by one request of a user", "workflow", ShowWorkflow,
		InList | InDetail | InLadder | InFindings | InText, NeedSelection,
	},
	{[]string{"W"}, "W", "the workflow is already shown", "", ShowWorkflow, InWorkflow, AskPanel},
	{
		[]string{"e"},
		"e", "findings, with their rules", "findings", ShowFindings,
		InList | InDetail | InLadder | InWorkflow | InText, needNothing,
	},
	{
		[]string{"n"},
		"n", "to the next finding, also in later exchanges; with the filter is:failed, to the next failure", "next finding",
		NextFinding, InList | InDetail, NeedFindings,
	},
	{[]string{"N"}, "N", "to the previous one", "", PreviousFinding, InList | InDetail, NeedFindings},
	{[]string{"n"}, "n", "to the next finding", "next finding", NextFinding, ofOne &^ (InList | InDetail), NeedFindings},
	{[]string{"N"}, "N", "to the previous finding", "", PreviousFinding, ofOne &^ (InList | InDetail), NeedFindings},
	{[]string{")"}, ")", "to the next failed exchange; the filter is:failed finds all", "", NextFailed, InList | InDetail, NeedSelection},
	{[]string{"("}, "(", "to the previous failed exchange", "", PreviousFailed, InList | InDetail, NeedSelection},
	{[]string{"/", "f"}, "/ f", "filter as you type; enter keeps it, esc cancels", "filter", EditFilter, InList, needNothing},
	{[]string{"s"}, "s", "search all exchanges, and go to the next match", "search", SearchText, InList, needNothing},
	{
		[]string{"s"},
		"s", "search heads, bodies and all events: a text, or /a regular expression/", "search", SearchText, InDetail, needNothing,
	},
	{[]string{"."}, ".", "to the next match of the search", "", NextMatch, InList | InDetail, NeedPattern},
	{[]string{","}, ",", "to the previous match of the search", "", PreviousMatch, InList | InDetail, NeedPattern},
	{[]string{"-"}, "-", "fold the object or array", "", FoldNode, InDetail | InElsewhere, AskPanel},
	{[]string{"="}, "=", "unfold it", "", UnfoldNode, InDetail | InElsewhere, AskPanel},
	{[]string{"_"}, "_", "fold everything below the first level, or unfold all", "", FoldAll, InDetail | InElsewhere, AskPanel},
	{[]string{"u"}, "u", "group: by context and task, by workflow, not at all", "group", ChangeGrouping, InList, needNothing},
	{[]string{"o"}, "o", "sort: by number, time, duration, size, worst finding", "sort", ChangeOrder, InList, needNothing},
	{[]string{"O"}, "O", "reverse the order", "", ReverseOrder, InList, needNothing},
	{[]string{"c"}, "c", "coverage: which rules were observed on each link, and which never", "", ShowCoverage, ofOne, needNothing},
	{[]string{"enter"}, "enter", "fold or unfold the group; explain the rule", "open", Open, InCoverage, needNothing},
	{[]string{"u"}, "u", "group: by rule, by agent, by severity, not at all", "group", ChangeGrouping, InFindings, needNothing},
	{
		[]string{"_"},
		"_", "fold or unfold all groups", "", FoldAll,
		InList | InFindings | InCoverage, AskPanel,
	},
	{[]string{"F"}, "F", "follow: stay at the newest exchange", "follow", ToggleFollow, InList, AskPanel},
	{[]string{"v"}, "v", "view: as JSON, decoded, or raw as on the wire", "view", ChangeView, InDetail, needNothing},
	{[]string{"]"}, "]", "the next exchange", "", NextExchange, InDetail, needNothing},
	{[]string{"["}, "[", "the previous exchange", "", PreviousExchange, InDetail, needNothing},
	{[]string{"+"}, "+", "show more of a body that was cut for display", "more", LoadMore, InDetail, AskPanel},
	{[]string{"tab"}, "tab", "to the next pane; with only one pane, to the findings", "", NextPane, InList, needNothing},
	{[]string{"tab"}, "tab", "to the next pane; if there is one only, as }", "", NextPane, InDetail, needNothing},
	{[]string{"tab"}, "tab", "to the next pane; if there is one only, as }", "waterfall", NextPane, InLadder, needNothing},
	{[]string{"tab"}, "tab", "to the next pane; if there is one only, as }", "rule", NextPane, InFindings, needNothing},
	{[]string{"shift+tab"}, "shift-tab", "to the previous pane", "", PreviousPane, inPanes, NeedPanes},
	{[]string{"}"}, "}", "to the response, to the end, to the request", "", NextPart, InDetail, needNothing},
	{[]string{"}"}, "}", "switch between waterfall and ladder", "", NextPart, InLadder, needNothing},
	{[]string{"}"}, "}", "to the rule, and back to the findings", "", NextPart, InFindings, needNothing},
	{[]string{"tab", "}"}, "tab }", "to the text, and back to the events", "pane", NextPane, InText, AskPanel},
	{[]string{"z"}, "z", "show only this pane, or all panes again", "", OnePane, ofOne, NeedRoom},
	{[]string{"w"}, "w", "times: clock or elapsed", "time", ChangeClock, ofOne, needNothing},
	{[]string{"T"}, "T", "clock times: local, UTC, since the first exchange", "", ChangeTimes, ofOne, needNothing},
	{
		[]string{"y"},
		"y", "copy a value, a place, a body, a curl command …; yy is curl", "copy", CopyMenu, ofOne, NeedSelection,
	},
	{
		[]string{"x"},
		"x", "mark or unmark the exchange; the filter is:marked finds it", "mark", Mark, ofOne, NeedSelection,
	},
	{[]string{"#"}, "#", "comment on the exchange; an empty comment is removed", "", Comment, ofOne, NeedSelection},
	{
		[]string{"D"},
		"D", "compare with another exchange: the marked one, or the one on which D was pressed; in ladders: tasks", "", Diff,
		ofOne, NeedSelection,
	},
	{[]string{"r"}, "r", "resend the request, unchanged or edited, after a confirmation", "", Resend, ofOne, NeedSender},
	{[]string{"R"}, "R", "replay the task, after a confirmation", "", Replay, ofOne, NeedSender},
	{
		[]string{"E"},
		"E", "export to a file: the exchange, its task, the marked or the filtered exchanges", "", Export, ofOne, NeedExporter,
	},
	{[]string{"H"}, "H", "held messages: list, release or drop them, and choose what to hold", "", ShowHeld, ofOne, NeedHolder},
	{[]string{"tab"}, "tab", "switch between differing lines and all lines", "lines", NextPane, InDiff, needNothing},
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
	{[]string{"m"}, "m", "mouse on or off; when off, the terminal selects text", "", ToggleMouse, Anywhere, needNothing},
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
	{InElsewhere, "Resent requests"},
	{InText, "Text"},
	{InCoverage, "Coverage"},
	{Anywhere, "Everywhere"},
}

// Listed returns the rows of the table for a chapter of the help: those of a panel, or those that work anywhere.
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
