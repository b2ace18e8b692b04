package tui

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/spelling"
	"a2atap/tui/document"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/diff"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/page"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/sorting"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A verb is a row in the table of commands. Every action that has a key has a verb.
type verb struct {
	name     string      // as it is typed
	also     []string    // other names for it
	argument string      // its argument, in brackets if optional, or empty
	words    string      // what it does
	group    group       // under which the help lists it and its key
	do       keys.Action // its action without an argument; noAction if it needs an argument, or has no key
	ofList   bool        // it works on the list, and switches to it

	// run performs the verb with its argument. It may be nil if the verb cannot run.
	run func(m *inspector, argument string) (tea.Cmd, error)

	// offer returns completions for the last word of the argument. It may be nil.
	offer func(m *inspector, argument string) []string
}

// A group is a chapter of the help.
type group uint8

const (
	toMove group = iota
	toLook
	toFind
	toDo
	groupCount
)

func (g group) String() string { return [...]string{"Move", "Look", "Find", "Do"}[g] }

// verbs returns the table.
func verbs() []verb {
	return slices.Concat(lookingVerbs(), findingVerbs(), doingVerbs(), movingVerbs())
}

func movingVerbs() []verb {
	return []verb{
		{
			name: "goto", also: []string{"go"}, argument: "PLACE",
			words: "to an exchange by its number, or to a place as in findings: 12 or 12.response.event[3]",
			run:   gotoPlace,
		},
		{name: "down", words: "to the next line", do: keys.Down},
		{name: "up", words: "to the line before", do: keys.Up},
		{name: "page-down", words: "a page down", do: keys.PageDown},
		{name: "page-up", words: "a page up", do: keys.PageUp},
		{name: "top", words: "to the first line", do: keys.Top},
		{name: "end", also: []string{"bottom"}, words: "to the last line", do: keys.Bottom},
		{name: "pane", words: "to the next pane", do: keys.NextPane},
		{name: "previous-pane", words: "to the previous pane", do: keys.PreviousPane},
		{name: "part", words: "to the next part of the panel", do: keys.NextPart},
		{name: "next", words: "to the next exchange", do: keys.NextExchange},
		{name: "previous", also: []string{"prev"}, words: "to the previous exchange", do: keys.PreviousExchange},
		{name: "back", words: "back to the previous panel; in the list, remove the filter", do: keys.Back},
		{name: "close", words: "back to the previous panel", do: keys.Leave},
	}
}

func lookingVerbs() []verb {
	return []verb{
		{
			name: "open", also: []string{"edit", "o"}, argument: "[PLACE]", group: toLook, do: keys.Open,
			words: "open the selection, or another exchange", run: openPlace,
		},
		{
			name: "detail", argument: "[PLACE]", group: toLook, do: keys.ShowDetail,
			words: "request and response of the selected exchange, or of another one", run: openPlace,
		},
		{
			name: "ladder", argument: "[N]", group: toLook, do: keys.ShowLadder,
			words: "all exchanges with the same task and context as the selection, or as exchange N",
			run:   ofExchange((*inspector).openLadder),
		},
		{
			name: "workflow", argument: "[N]", group: toLook, do: keys.ShowWorkflow,
			words: "the workflow of the selection, or of exchange N: all exchanges caused by one request of a user",
			run:   ofExchange((*inspector).openWorkflow),
		},
		{name: "text", group: toLook, words: "artifacts put together from their chunks", do: keys.ShowText},
		{name: "findings", group: toLook, words: "the findings, with their rules", do: keys.ShowFindings},
		{name: "coverage", group: toLook, words: "coverage: which rules were observed on each link, and which never", do: keys.ShowCoverage},
		{
			name: "rule", argument: "ID", group: toLook, words: "explain a rule",
			run: openRule, offer: func(m *inspector, _ string) []string { return m.shared.RuleIDs() },
		},
		{
			name: "view", argument: "[json|decoded|raw]", group: toLook, do: keys.ChangeView,
			words: "how bodies are shown", run: setView, offer: fixed("json", "decoded", "raw"),
		},
		{
			name: "time", argument: "[clock|elapsed]", group: toLook, do: keys.ChangeClock,
			words: "how times are shown", run: setTime, offer: fixed("clock", "elapsed"),
		},
		{
			name: "clock", argument: "[local|utc|relative]", group: toLook, do: keys.ChangeTimes,
			words: "which clock to use for times", run: setClock, offer: fixed(clockNames...),
		},
		{name: "zoom", group: toLook, words: "show only one pane, or all panes again", do: keys.OnePane},
		{name: "more", group: toLook, words: "show more of a body that was cut for display", do: keys.LoadMore},
		{
			name: "theme", also: []string{"colorscheme"}, argument: "[NAME]", group: toLook, do: keys.ChangeTheme,
			words: "the colors: " + style.ThemeNames(), run: setTheme,
			offer: fixed(strings.Split(style.ThemeNames(), ", ")...),
		},
		{
			name: "help", also: []string{"h", "?"}, argument: "[TOPIC]", group: toLook, do: keys.ShowHelp,
			words: "the keys of this panel, or a topic: keys, commands, filter, signs, or a command",
			run:   openTopic,
			offer: func(*inspector, string) []string { return topicNames() },
		},
	}
}

func findingVerbs() []verb {
	return []verb{
		{
			name: "filter", also: []string{"f"}, argument: "[EXPR]", group: toFind, do: keys.EditFilter, ofList: true,
			words: "show only exchanges that match", run: setFilter,
			offer: func(m *inspector, argument string) []string { return m.list.Filter.Words(argument) },
		},
		{
			name: "unfilter", also: []string{"all"}, group: toFind, words: "show all exchanges again",
			run: func(m *inspector, _ string) (tea.Cmd, error) { return setFilter(m, "") },
		},
		{
			name: "group", argument: "[task|workflow|off]", group: toFind, do: keys.ChangeGrouping, ofList: true,
			words: "how exchanges are grouped", run: setGrouping, offer: fixed(groupingNames[:]...),
		},
		{
			name: "sort", argument: "[number|time|duration|size|worst]", group: toFind, do: keys.ChangeOrder, ofList: true,
			words: "the order of exchanges", run: setOrder, offer: fixed(orderNames[:]...),
		},
		{name: "reverse", group: toFind, words: "reverse the order", do: keys.ReverseOrder, ofList: true},
		{
			name: "search", also: []string{"s"}, argument: "[WORDS]", group: toFind, do: keys.SearchText,
			words: "search the screen's contents, or all exchanges: a text, or /a regular expression/", run: searchWords,
		},
		{name: "next-match", group: toFind, words: "to the next match of the search", do: keys.NextMatch},
		{name: "previous-match", group: toFind, words: "to the previous match of the search", do: keys.PreviousMatch},
		{name: "fold", group: toFind, words: "fold the object or array", do: keys.FoldNode},
		{name: "unfold", group: toFind, words: "unfold the object or array", do: keys.UnfoldNode},
		{
			name: "fold-all", group: toFind, words: "fold all groups, or JSON below the first level, or unfold them",
			do: keys.FoldAll, ofList: true,
		},
		{name: "next-finding", group: toFind, words: "to the next finding", do: keys.NextFinding},
		{name: "previous-finding", group: toFind, words: "to the previous finding", do: keys.PreviousFinding},
		{name: "next-failed", group: toFind, words: "to the next failed exchange", do: keys.NextFailed},
		{name: "previous-failed", group: toFind, words: "to the previous failed exchange", do: keys.PreviousFailed},
		{
			name: "follow", argument: "[on|off]", group: toFind, do: keys.ToggleFollow, ofList: true,
			words: "stay at the newest exchange", run: setFollow, offer: fixed("on", "off"),
		},
	}
}

func doingVerbs() []verb {
	return []verb{
		{name: "mark", group: toDo, words: "mark or unmark the exchange", do: keys.Mark},
		{
			name: "comment", argument: "[WORDS]", group: toDo, do: keys.Comment, words: "comment on the exchange",
			run: commentWith,
		},
		{
			name: "diff", argument: "[N]", group: toDo, do: keys.Diff, words: "compare with exchange N, or with the marked one",
			run: diffWith,
		},
		{name: "resend", group: toDo, words: "resend the request, unchanged or edited, after a confirmation", do: keys.Resend},
		{name: "replay", group: toDo, words: "replay the task, after a confirmation", do: keys.Replay},
		{
			name: "hold", argument: "[requests|answers] [FILTER]", group: toDo, do: keys.ShowHeld,
			words: "hold matching messages in transit; without a filter, list held messages",
			run:   holdWhat, offer: holdWords,
		},
		{
			name: "unhold", group: toDo, words: "stop holding; held messages are released",
			run: func(m *inspector, _ string) (tea.Cmd, error) {
				if m.options.Holder == nil {
					return nil, errors.New(noHolder)
				}
				return m.holding.set(false, false, ""), nil
			},
		},
		{
			name: "export", also: []string{"write", "w"}, group: toDo, do: keys.Export,
			words: "export to a file: the exchange, its task, the marked or the filtered exchanges",
		},
		{
			name: "copy", also: []string{"yank"}, argument: "[WHAT]", group: toDo, do: keys.CopyMenu,
			words: "copy a value, its place, a body, an event, a transcript, a finding",
			run:   copyWhat, offer: fixed(copyNames...),
		},
		{
			name: "curl", group: toDo, words: "copy the request as a curl command",
			run: func(m *inspector, _ string) (tea.Cmd, error) { return copyWhat(m, "curl") },
		},
		{
			name: "mouse", argument: "[on|off]", group: toDo, do: keys.ToggleMouse,
			words: "mouse on or off; when off, the terminal selects text",
			run:   setMouse, offer: fixed("on", "off"),
		},
		{
			name: "set", argument: "NAME VALUE", group: toDo, words: "one of " + strings.Join(settings, ", "),
			run: setOne, offer: setWords,
		},
		{name: "actions", group: toDo, words: "all actions: type a word to find one", do: keys.ShowPalette},
		{name: "commands", group: toDo, words: "the command line", do: keys.OpenCommand},
		{name: "suspend", group: toDo, words: "back to the shell; fg returns", do: keys.Suspend},
		{name: "quit", also: []string{"q", "exit"}, group: toDo, words: "quit, after a confirmation", do: keys.Quit},
		{name: "quit!", also: []string{"q!"}, group: toDo, words: "quit at once", do: keys.QuitNow},
	}
}

// usage returns the verb as typed, with its argument.
func (v *verb) usage() string { return strings.TrimSpace(":" + v.name + " " + v.argument) }

// verbOf returns the verb of an action.
func verbOf(a keys.Action) (verb, error) {
	for _, v := range verbs() {
		if v.do == a && a != keys.None {
			return v, nil
		}
	}
	return verb{}, fmt.Errorf("action %d has no verb", a)
}

// verbNames returns the names of the verbs. Names of verbs with an argument end with a blank.
func verbNames() []string {
	var names []string
	for _, v := range verbs() {
		name := v.name
		if v.argument != "" {
			name += " "
		}
		names = append(names, name)
	}
	return names
}

// fixed returns an offer function that always returns list.
func fixed(list ...string) func(*inspector, string) []string {
	return func(*inspector, string) []string { return list }
}

// writeKeys writes the tables of keys and verbs as Markdown, the page docs/keys.md.
func writeKeys(w io.Writer) error {
	var b strings.Builder
	b.WriteString("<!-- Generated from tui/internal/keys/keys.go and tui/verbs.go: go test ./tui -update -->\n\n")
	b.WriteString("# Keys of the inspector\n")
	for _, p := range keys.Panels {
		fmt.Fprintf(&b, "\n## %s\n\n| key | does | command |\n|---|---|---|\n", p.Title)
		for _, k := range keys.Listed(p.In) {
			v, err := verbOf(k.Action)
			if err != nil {
				return fmt.Errorf("key %s: %w", k.Label, err)
			}
			labels := strings.ReplaceAll(k.Label, " ", "` `")
			fmt.Fprintf(&b, "| `%s` | %s | `:%s` |\n", labels, k.Words, v.name)
		}
	}
	b.WriteString("\nIf a key has no effect at the moment, the last line of the screen says why.\n\n## Commands\n\n")
	b.WriteString("Type commands after `:` ([more](inspector.md#commands-and-themes)).\n\n")
	b.WriteString("| command | does |\n|---|---|\n")
	for _, v := range verbs() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(v.usage(), "|", "\\|"), v.words)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// readPlace parses the number of an exchange, or a place as in findings.
func readPlace(m *inspector, argument string) (analysis.Place, error) {
	seq, err := strconv.ParseUint(argument, 10, 64)
	at := analysis.Place{Exchange: seq}
	if err != nil {
		if at, err = analysis.ParsePlace(argument); err != nil {
			return at, err
		}
	}
	if last := m.shared.Info.Exchanges; at.Exchange == 0 || at.Exchange > last {
		return at, fmt.Errorf("there is no exchange %d; the capture has %s", at.Exchange, text.Plural(last, "exchange"))
	}
	return at, nil
}

// gotoPlace selects an exchange in the list. It uses the detail if the detail is open, or if the place is within an
// exchange.
func gotoPlace(m *inspector, argument string) (tea.Cmd, error) {
	at, err := readPlace(m, argument)
	if err != nil {
		return nil, err
	}
	if d, is := m.top().(*detail.Panel); is {
		return m.replace(d, at), nil
	}
	if at != (analysis.Place{Exchange: at.Exchange}) {
		return m.openDetail(at), nil
	}
	if shown, filtered := m.list.Matches(); filtered && !slices.Contains(shown, at.Exchange) {
		return nil, fmt.Errorf("the filter hides exchange %d; open %d shows it, unfilter shows all", at.Exchange,
			at.Exchange)
	}
	cmd := m.home()
	m.list.Follow = false
	return tea.Batch(cmd, m.list.Choose(at.Exchange)), nil
}

func openPlace(m *inspector, argument string) (tea.Cmd, error) {
	at, err := readPlace(m, argument)
	if err != nil {
		return nil, err
	}
	if d, is := m.top().(*detail.Panel); is {
		return m.replace(d, at), nil
	}
	return m.openDetail(at), nil
}

// ofExchange makes a verb's run function, whose argument is an exchange number, from a function that opens a panel
// about an exchange.
func ofExchange(open func(*inspector, uint64) tea.Cmd) func(*inspector, string) (tea.Cmd, error) {
	return func(m *inspector, argument string) (tea.Cmd, error) {
		at, err := readPlace(m, argument)
		if err != nil {
			return nil, err
		}
		return open(m, at.Exchange), nil
	}
}

// openRule opens a page about a rule.
func openRule(m *inspector, id string) (tea.Cmd, error) {
	rules := m.shared.Load.Rules
	i := slices.IndexFunc(rules, func(r *analysis.Rule) bool { return strings.EqualFold(r.ID, id) })
	if i < 0 {
		return nil, unknown("rule", id, m.shared.RuleIDs(), "; type a few letters and tab to see matching ones")
	}
	return m.push(page.NewRule(rules[i])), nil
}

func setView(m *inspector, name string) (tea.Cmd, error) {
	d, is := m.shownDetail()
	i := slices.Index([]string{"json", "decoded", "raw"}, name)
	switch {
	case !is:
		return nil, errors.New(m.commands.unable(keys.ChangeView))
	case i < 0:
		return nil, fmt.Errorf("a view is json, decoded or raw, not %q", name)
	}
	return d.SetMode(document.View(i)), nil
}

func setTime(m *inspector, name string) (tea.Cmd, error) {
	if name != "clock" && name != "elapsed" {
		return nil, fmt.Errorf("times are clock or elapsed, not %q", name)
	}
	m.shared.Deltas = name == "elapsed"
	return nil, nil
}

// clockNames are the ways to show instants, in order.
var clockNames = []string{"local", "utc", "relative"}

func setClock(m *inspector, name string) (tea.Cmd, error) {
	i := slices.Index(clockNames, name)
	if i < 0 {
		return nil, fmt.Errorf("the clock is %s, not %q", orList(clockNames), name)
	}
	m.shared.Times = panel.Times(i)
	return m.shared.NeedFirst(), nil
}

func setTheme(m *inspector, name string) (tea.Cmd, error) {
	if !slices.Contains(style.Themes, style.Theme(name)) {
		return nil, unknown("theme", name, strings.Split(style.ThemeNames(), ", "), "; there are "+style.ThemeNames())
	}
	m.shared.Theme = style.Theme(name)
	m.shared.Message = "theme: " + name
	return nil, nil
}

// readSwitch parses on or off.
func readSwitch(word string) (bool, error) {
	if word != "on" && word != "off" {
		return false, fmt.Errorf("on or off, not %q", word)
	}
	return word == "on", nil
}

func setMouse(m *inspector, word string) (tea.Cmd, error) {
	on, err := readSwitch(word)
	if err != nil || on == m.mouse.on {
		return nil, err
	}
	return m.mouse.toggle(), nil
}

func setFollow(m *inspector, word string) (tea.Cmd, error) {
	on, err := readSwitch(word)
	if why := m.list.Why(keys.ToggleFollow); err == nil && on && why != "" {
		err = errors.New(why)
	}
	if err != nil {
		return nil, err
	}
	cmd := m.home()
	m.list.Follow = on
	return tea.Batch(cmd, m.list.Reposition()), nil
}

// Names of orders and groupings in the command line.
var (
	orderNames = [sorting.Orders]string{
		sorting.ByNumber: "number", sorting.ByTime: "time", sorting.ByDuration: "duration", sorting.BySize: "size",
		sorting.ByWorst: "worst",
	}
	groupingNames = [sorting.Groupings]string{
		sorting.Flat: "off", sorting.ByTask: "task", sorting.ByWorkflow: "workflow",
	}
)

func setOrder(m *inspector, name string) (tea.Cmd, error) {
	i := slices.Index(orderNames[:], name)
	if i < 0 {
		return nil, unknown("order", name, orderNames[:], "; there are "+strings.Join(orderNames[:], ", "))
	}
	return tea.Batch(m.home(), m.list.Order.By(sorting.Order(i))), nil
}

func setGrouping(m *inspector, name string) (tea.Cmd, error) {
	i := slices.Index(groupingNames[:], name)
	if i < 0 {
		return nil, unknown("grouping", name, groupingNames[:], "; there are "+strings.Join(groupingNames[:], ", "))
	}
	return tea.Batch(m.home(), m.list.Order.Under(sorting.Grouping(i))), nil
}

func commentWith(m *inspector, words string) (tea.Cmd, error) {
	if why := m.commands.unable(keys.Comment); why != "" {
		return nil, errors.New(why)
	}
	return m.notebook.setComment(m.top().Target().Exchange, words), nil
}

// diffWith compares an exchange with the selected one.
func diffWith(m *inspector, argument string) (tea.Cmd, error) {
	at, err := readPlace(m, argument)
	now := m.top().Target().Exchange
	switch why := m.commands.unable(keys.Diff); {
	case err != nil:
		return nil, err
	case why != "":
		return nil, errors.New(why)
	case at.Exchange == now:
		return nil, fmt.Errorf("%d is the selected exchange; select the other one", now)
	}
	return m.openDiff(diff.Side{Seq: at.Exchange}, diff.Side{Seq: now}), nil
}

// setFilter shows the exchanges that match an expression.
func setFilter(m *inspector, expr string) (tea.Cmd, error) {
	if _, err := filter.Parse(expr); err != nil {
		return nil, err
	}
	return tea.Batch(m.home(), m.list.Filter.Apply(expr)), nil
}

// settings are the verbs that set something, for users who expect a verb "set".
var settings = []string{"theme", "mouse", "time", "clock", "view", "follow", "sort", "group"}

// setOne performs the verb that sets something.
func setOne(m *inspector, argument string) (tea.Cmd, error) {
	name, value, _ := strings.Cut(strings.Replace(argument, "=", " ", 1), " ")
	if !slices.Contains(settings, name) {
		return nil, unknown("setting", name, settings, "; there are "+strings.Join(settings, ", "))
	}
	if value = strings.TrimSpace(value); value == "" {
		return nil, fmt.Errorf("%s needs a value; tab shows them", name)
	}
	return m.commands.execute(name + " " + value)
}

func setWords(m *inspector, argument string) []string {
	name, _, there := strings.Cut(argument, " ")
	if !there {
		return settings
	}
	if v, err := findVerb(name); err == nil && slices.Contains(settings, v.name) {
		return v.offer(m, "")
	}
	return nil
}

// findVerb returns the verb with a name: its main name, one of its other names, or an unambiguous prefix.
func findVerb(name string) (*verb, error) {
	var begun []*verb
	list := verbs()
	for i := range list {
		v := &list[i]
		for _, n := range append([]string{v.name}, v.also...) {
			if n == name {
				return v, nil
			}
		}
		if name != "" && strings.HasPrefix(v.name, name) {
			begun = append(begun, v)
		}
	}
	switch len(begun) {
	case 1:
		return begun[0], nil
	case 0:
		return nil, unknown("command", name, verbNames(), "; tab shows them all")
	}
	var names []string
	for _, v := range begun {
		names = append(names, v.name)
	}
	return nil, fmt.Errorf("%q may be %s", name, orList(names))
}

// unknown returns an error about an unknown word, with similar known words, or else with instead.
func unknown(noun, word string, known []string, instead string) error {
	return fmt.Errorf("there is no %s %q%s", noun, word, cmp.Or(spelling.Hint(word, known), instead))
}

// orList joins words with commas and "or".
func orList(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}
