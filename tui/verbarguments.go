package tui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/proxy/capture/filter"
	"a2atap/tui/detail"
	"a2atap/tui/diff"
	"a2atap/tui/document"
	"a2atap/tui/keys"
	"a2atap/tui/page"
	"a2atap/tui/panel"
	"a2atap/tui/sorting"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// readPlace reads the number of an exchange, or a place as findings name it.
func readPlace(m *inspector, argument string) (analyzer.Place, error) {
	seq, err := strconv.ParseUint(argument, 10, 64)
	at := analyzer.Place{Exchange: seq}
	if err != nil {
		if at, err = analyzer.ParsePlace(argument); err != nil {
			return at, err
		}
	}
	if last := m.shared.Info.Exchanges; at.Exchange == 0 || at.Exchange > last {
		return at, fmt.Errorf("there is no exchange %d; the capture has %s", at.Exchange, text.Plural(last, "exchange"))
	}
	return at, nil
}

// gotoPlace selects an exchange: in the list or, in the detail and for what is within an exchange, in the detail.
func gotoPlace(m *inspector, argument string) (tea.Cmd, error) {
	at, err := readPlace(m, argument)
	if err != nil {
		return nil, err
	}
	if d, is := m.top().(*detail.Panel); is {
		return m.replace(d, at), nil
	}
	if at != (analyzer.Place{Exchange: at.Exchange}) {
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

// ofExchange makes of what opens a panel about an exchange the performance of a verb that takes its number.
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
	i := slices.IndexFunc(rules, func(r *analyzer.Rule) bool { return strings.EqualFold(r.ID, id) })
	if i < 0 {
		return nil, unknown("rule", id, m.shared.RuleIDs(), "; tab after a few letters shows those that begin so")
	}
	return m.push(page.NewRule(rules[i])), nil
}

func setView(m *inspector, name string) (tea.Cmd, error) {
	d, is := m.shownDetail()
	i := slices.Index([]string{"json", "decoded", "raw"}, name)
	switch {
	case !is:
		return nil, errors.New(m.unable(keys.ChangeView))
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

// clockNames are the ways to show instants, in their order.
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

// readSwitch reads on or off.
func readSwitch(word string) (bool, error) {
	if word != "on" && word != "off" {
		return false, fmt.Errorf("on or off, not %q", word)
	}
	return word == "on", nil
}

func setMouse(m *inspector, word string) (tea.Cmd, error) {
	on, err := readSwitch(word)
	if err != nil || on == m.mouse {
		return nil, err
	}
	return m.toggleMouse(), nil
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

// How orders and groupings are typed.
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
	return tea.Batch(m.home(), m.list.SortBy(sorting.Order(i))), nil
}

func setGrouping(m *inspector, name string) (tea.Cmd, error) {
	i := slices.Index(groupingNames[:], name)
	if i < 0 {
		return nil, unknown("grouping", name, groupingNames[:], "; there are "+strings.Join(groupingNames[:], ", "))
	}
	return tea.Batch(m.home(), m.list.GroupBy(sorting.Grouping(i))), nil
}

func commentWith(m *inspector, words string) (tea.Cmd, error) {
	if why := m.unable(keys.Comment); why != "" {
		return nil, errors.New(why)
	}
	return m.setComment(m.top().Target().Exchange, words), nil
}

// diffWith compares an exchange with the selected one.
func diffWith(m *inspector, argument string) (tea.Cmd, error) {
	at, err := readPlace(m, argument)
	now := m.top().Target().Exchange
	switch why := m.unable(keys.Diff); {
	case err != nil:
		return nil, err
	case why != "":
		return nil, errors.New(why)
	case at.Exchange == now:
		return nil, fmt.Errorf("%d is selected itself; select the other one", now)
	}
	return m.openDiff(diff.Side{Seq: at.Exchange}, diff.Side{Seq: now}), nil
}

// setFilter shows the exchanges that match an expression.
func setFilter(m *inspector, expr string) (tea.Cmd, error) {
	if _, err := filter.Parse(expr); err != nil {
		return nil, err
	}
	return tea.Batch(m.home(), m.list.Apply(expr)), nil
}

// settings are the verbs that set something, for people who are used to say so.
var settings = []string{"theme", "mouse", "time", "clock", "view", "follow", "sort", "group"}

// setOne performs the verb that sets something.
func setOne(m *inspector, argument string) (tea.Cmd, error) {
	name, value, _ := strings.Cut(strings.Replace(argument, "=", " ", 1), " ")
	if !slices.Contains(settings, name) {
		return nil, unknown("setting", name, settings, "; there are "+strings.Join(settings, ", "))
	}
	if value = strings.TrimSpace(value); value == "" {
		return nil, fmt.Errorf("%s is set to what? tab shows it", name)
	}
	return m.execute(name + " " + value)
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
