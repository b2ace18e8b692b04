package tui

import (
	"slices"
	"strings"

	"a2atap/tui/style"
)

// An action is what a key does. Panels get keys as actions.
type action uint8

const (
	noAction action = iota
	goDown
	goUp
	pageDown
	pageUp
	goTop
	goBottom
	openIt
	goBack
	leave
	quit
	quitNow
	suspend
	showHelp
	editFilter
	toggleFollow
	nextPane
	previousPane
	nextPart // what nextPane does where there is one pane
	onePane
	nextFinding
	previousFinding
	nextExchange
	previousExchange
	showDetail
	showLadder
	showWorkflow
	showFindings
	changeView
	changeClock
	changeTimes
	loadMore
	searchText
	nextMatch
	previousMatch
	foldNode
	unfoldNode
	copyMenu
	changeGrouping
	changeOrder
	reverseOrder
	foldAll
	showCoverage
	showText
	toggleMouse
	changeTheme
	openCommand
	showPalette
	markIt
	commentIt
	diffIt
	resendIt
	replayTask
	exportIt
)

// A place is a panel in which a key can work. Several make a set.
type place uint16

const (
	inList place = 1 << iota
	inDetail
	inLadder
	inFindings
	inWorkflow
	inPage // help, and what was copied
	inMenu
	inDiff
	inElsewhere // the detail of an exchange of another capture
	inText
	inCoverage

	inPanes  = inList | inDetail | inLadder | inFindings
	anywhere = inList | deeper
	ofOne    = inList | inDetail | inLadder | inWorkflow | inFindings | inText     // where an exchange is selected
	deeper   = ofOne&^inList | inPage | inMenu | inDiff | inElsewhere | inCoverage // opened from another panel
)

// A need is what has to be there so that a key does something.
type need uint8

const (
	needNothing   need = iota
	needSelection      // an exchange is selected
	needFindings       // the rules have found something
	needPattern        // something is searched for
	needPanes          // several panes are on the screen
	needRoom           // there is room for several
	needSender         // requests can be sent, and none is being sent
	needExporter       // exchanges can be written into files
	askPanel           // the panel knows
)

// A key is a row of the one table from which keys are read, and from which the help, the status bar and docs/keys.md
// are made.
type key struct {
	names []string // as the terminal library calls them
	label string   // as people read them
	words string   // what it does
	short string   // the same for the status bar; empty if it is not shown there
	do    action   //
	in    place    //
	needs need     // what has to be there
}

// keys is the table. Keys are those that users of mitmproxy and sngrep know, where they exist.
var keys = []key{
	{[]string{"enter"}, "enter", "open the exchange; fold or unfold the group", "open", openIt, inList, needSelection},
	{[]string{"enter"}, "enter", "open the exchange at this arrow", "open", openIt, inLadder, needSelection},
	{[]string{"enter"}, "enter", "open the selected exchange", "open", openIt, inWorkflow, needSelection},
	{
		[]string{"enter"},
		"enter", "open the exchange at this finding; fold or unfold the group", "open", openIt,
		inFindings, needSelection,
	},
	{
		[]string{"enter"},
		"enter", "open or close the event, fold or unfold the object or array", "open", openIt, inDetail, askPanel,
	},
	{[]string{"enter"}, "enter", "open the selected event in the detail", "open", openIt, inText, needNothing},
	{[]string{"tab", "}"}, "tab }", "as a tree, as a waterfall, and as a ladder again", "tree", nextPane, inWorkflow, needNothing},
	{
		[]string{"d"},
		"d", "detail: request and response", "", showDetail,
		inList | inLadder | inWorkflow | inFindings | inText, needSelection,
	},
	{
		[]string{"a"},
		"a", "text: artifacts put together from their chunks, and what was said", "text", showText,
		inDetail, needSelection,
	},
	{
		[]string{"a"},
		"a", "text: artifacts put together from their chunks, and what was said", "", showText,
		inList | inLadder | inWorkflow | inFindings, needSelection,
	},
	{[]string{"a"}, "a", "back from the text", "", goBack, inText, needNothing},
	{
		[]string{"l"},
		"l", "ladder: all exchanges of the same task and context", "ladder", showLadder,
		inList | inDetail | inWorkflow | inFindings | inText, needSelection,
	},
	{
		[]string{"W"},
		"W", "workflow: all that one request of a user has caused", "workflow", showWorkflow,
		inList | inDetail | inLadder | inFindings | inText, needSelection,
	},
	{[]string{"W"}, "W", "the workflow is shown already", "", showWorkflow, inWorkflow, askPanel},
	{
		[]string{"e"},
		"e", "findings, with their rules", "findings", showFindings,
		inList | inDetail | inLadder | inWorkflow | inText, needNothing,
	},
	{[]string{"n"}, "n", "to the next finding, in later exchanges too", "next finding", nextFinding, ofOne, needFindings},
	{[]string{"N"}, "N", "to the previous finding", "", previousFinding, ofOne, needFindings},
	{[]string{"/", "f"}, "/ f", "filter as you type; enter keeps it, esc cancels", "filter", editFilter, inList, needNothing},
	{[]string{"s"}, "s", "search all exchanges, and go to the next that has it", "search", searchText, inList, needNothing},
	{
		[]string{"s"},
		"s", "search heads, bodies and all events: a text, or /an expression/", "search", searchText, inDetail, needNothing,
	},
	{[]string{"."}, ".", "to the next match of the search", "", nextMatch, inList | inDetail, needPattern},
	{[]string{","}, ",", "to the previous match of the search", "", previousMatch, inList | inDetail, needPattern},
	{[]string{"-"}, "-", "fold the object or array", "", foldNode, inDetail | inElsewhere, askPanel},
	{[]string{"="}, "=", "unfold it", "", unfoldNode, inDetail | inElsewhere, askPanel},
	{[]string{"_"}, "_", "fold all below the first level, and unfold all", "", foldAll, inDetail | inElsewhere, askPanel},
	{[]string{"u"}, "u", "group: by context and task, by workflow, not at all", "group", changeGrouping, inList, needNothing},
	{[]string{"o"}, "o", "sort: by number, time, duration, size, worst finding", "sort", changeOrder, inList, needNothing},
	{[]string{"O"}, "O", "the same order from its other end", "", reverseOrder, inList, needNothing},
	{[]string{"c"}, "c", "coverage: which rules were observed on each link, and which never", "", showCoverage, ofOne, needNothing},
	{[]string{"enter"}, "enter", "fold or unfold the group; explain the rule", "open", openIt, inCoverage, needNothing},
	{[]string{"u"}, "u", "group: by rule, by agent, by severity, not at all", "group", changeGrouping, inFindings, needNothing},
	{
		[]string{"_"},
		"_", "fold all groups, and unfold them again", "", foldAll,
		inList | inFindings | inCoverage, askPanel,
	},
	{[]string{"F"}, "F", "follow: stay at the newest exchange", "follow", toggleFollow, inList, askPanel},
	{[]string{"v"}, "v", "view: as JSON, decoded, or raw as on the wire", "view", changeView, inDetail, needNothing},
	{[]string{"]"}, "]", "the next exchange", "", nextExchange, inDetail, needNothing},
	{[]string{"["}, "[", "the previous exchange", "", previousExchange, inDetail, needNothing},
	{[]string{"+"}, "+", "show more of a body that was cut for display", "more", loadMore, inDetail, askPanel},
	{[]string{"tab"}, "tab", "to the next pane; if there is one only, to the findings", "", nextPane, inList, needNothing},
	{[]string{"tab"}, "tab", "to the next pane; if there is one only, as }", "", nextPane, inDetail, needNothing},
	{[]string{"tab"}, "tab", "to the next pane; if there is one only, as }", "waterfall", nextPane, inLadder, needNothing},
	{[]string{"tab"}, "tab", "to the next pane; if there is one only, as }", "rule", nextPane, inFindings, needNothing},
	{[]string{"shift+tab"}, "shift-tab", "to the previous pane", "", previousPane, inPanes, needPanes},
	{[]string{"}"}, "}", "to the response, to the end, to the request", "", nextPart, inDetail, needNothing},
	{[]string{"}"}, "}", "as a waterfall, and as a ladder again", "", nextPart, inLadder, needNothing},
	{[]string{"}"}, "}", "to the rule, and back to the findings", "", nextPart, inFindings, needNothing},
	{[]string{"tab", "}"}, "tab }", "to the text, and back to the events", "pane", nextPane, inText, askPanel},
	{[]string{"z"}, "z", "this pane alone, and all of them again", "", onePane, ofOne, needRoom},
	{[]string{"w"}, "w", "times: clock or elapsed", "time", changeClock, ofOne, needNothing},
	{[]string{"T"}, "T", "times of the clock: local, UTC, since the first exchange", "", changeTimes, ofOne, needNothing},
	{
		[]string{"y"},
		"y", "copy a value, a place, a body, a curl command …; yy is curl", "copy", copyMenu, ofOne, needSelection,
	},
	{
		[]string{"x"},
		"x", "mark the exchange, or take the mark away; the filter is:marked finds it", "mark", markIt, ofOne, needSelection,
	},
	{[]string{"#"}, "#", "comment on the exchange; without words the comment goes", "", commentIt, ofOne, needSelection},
	{
		[]string{"D"},
		"D", "difference from another one: the marked one, or one where D was struck; in ladders: of tasks", "", diffIt,
		ofOne, needSelection,
	},
	{[]string{"r"}, "r", "resend the request, as it was or edited, after a question", "", resendIt, ofOne, needSender},
	{[]string{"R"}, "R", "replay the task, after a question", "", replayTask, ofOne, needSender},
	{
		[]string{"E"},
		"E", "export into a file: the exchange, its task, what is marked, what is found", "", exportIt, ofOne, needExporter,
	},
	{[]string{"tab"}, "tab", "to the lines that differ, to all lines, and back", "lines", nextPane, inDiff, needNothing},
	{[]string{"n"}, "n", "to the next difference", "next", nextFinding, inDiff, needNothing},
	{[]string{"N"}, "N", "to the previous difference", "", previousFinding, inDiff, needNothing},
	{[]string{"enter"}, "enter", "open or close the event", "open", openIt, inElsewhere, askPanel},
	{[]string{"v"}, "v", "view: as JSON, decoded, or raw as on the wire", "view", changeView, inElsewhere, needNothing},
	{[]string{"+"}, "+", "show more of a body that was cut for display", "more", loadMore, inElsewhere, askPanel},
	{[]string{"tab", "}"}, "tab }", "to the response, to the end, to the request", "", nextPart, inElsewhere, needNothing},
	{[]string{"j", "down"}, "j ↓", "down", "", goDown, anywhere, needNothing},
	{[]string{"k", "up"}, "k ↑", "up", "", goUp, anywhere, needNothing},
	{[]string{" ", "ctrl+f", "pgdown"}, "space ctrl-f", "page down", "", pageDown, anywhere, needNothing},
	{[]string{"ctrl+b", "b", "pgup"}, "b ctrl-b", "page up", "", pageUp, anywhere, needNothing},
	{[]string{"g", "home"}, "g", "to the top", "", goTop, anywhere, needNothing},
	{[]string{"G", "end"}, "G", "to the end", "", goBottom, anywhere, needNothing},
	{[]string{"m"}, "m", "mouse on or off; while it is off, the terminal selects text", "", toggleMouse, anywhere, needNothing},
	{[]string{"t"}, "t", "theme: " + style.ThemeNames(), "", changeTheme, anywhere, needNothing},
	{[]string{":"}, ":", "command line; tab completes, ↑ goes back", "commands", openCommand, anywhere, needNothing},
	{[]string{"ctrl+p"}, "ctrl-p", "all actions: type a word to find one", "", showPalette, anywhere, needNothing},
	{[]string{"?"}, "?", "help: the keys of this panel, and of the filter", "help", showHelp, anywhere, needNothing},
	{
		[]string{"esc", "left"},
		"esc ←", "clear the search, then the filter; esc never quits", "", goBack, inList, askPanel,
	},
	{[]string{"esc", "left"}, "esc ←", "back to the previous panel", "back", goBack, deeper, needNothing},
	{[]string{"q"}, "q", "quit, after a second q", "quit", quit, inList, needNothing},
	{[]string{"q"}, "q", "back to the previous panel", "", leave, deeper, needNothing},
	{[]string{"Q"}, "Q", "quit, after a second Q", "", quit, anywhere, needNothing},
	{[]string{"ctrl+c"}, "ctrl-c", "quit at once, even while typing a filter", "", quitNow, anywhere, needNothing},
	{[]string{"ctrl+z"}, "ctrl-z", "back to the shell; fg returns", "", suspend, anywhere, needNothing},
}

// lookup returns the row of a key in a panel, or nil.
func lookup(name string, in place) *key {
	for i := range keys {
		if keys[i].in&in == 0 {
			continue
		}
		for _, n := range keys[i].names {
			if n == name {
				return &keys[i]
			}
		}
	}
	return nil
}

// keyOf returns the row of an action in a panel, or nil.
func keyOf(a action, in place) *key {
	for i := range keys {
		if keys[i].do == a && keys[i].in&in != 0 {
			return &keys[i]
		}
	}
	return nil
}

// placesOf returns the panels in which a key works.
func placesOf(name string) (in place) {
	for i := range keys {
		if slices.Contains(keys[i].names, name) {
			in |= keys[i].in
		}
	}
	return in
}

// String names the panels of a set.
func (in place) String() string {
	var names []string
	for _, p := range panels {
		if p.in != anywhere && in&p.in != 0 {
			names = append(names, strings.ToLower(p.title))
		}
	}
	return strings.Join(names, ", ")
}

// panels names the panels in which keys work, in the order of the help.
var panels = []struct {
	in    place
	title string
}{
	{inList, "List"},
	{inDetail, "Detail"},
	{inLadder, "Ladder"},
	{inWorkflow, "Workflow"},
	{inFindings, "Findings"},
	{inDiff, "Difference"},
	{inElsewhere, "What was sent again"},
	{inText, "Text"},
	{inCoverage, "Coverage"},
	{anywhere, "Everywhere"},
}

// listed returns the rows of the table that a chapter of the help has: those of a panel, or those that work anywhere.
func listed(in place) []*key {
	var rows []*key
	for i := range keys {
		everywhere := keys[i].in == anywhere
		if everywhere == (in == anywhere) && keys[i].in&in != 0 {
			rows = append(rows, &keys[i])
		}
	}
	return rows
}
