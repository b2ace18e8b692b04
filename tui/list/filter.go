package list

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/filter"
	"a2atap/tui/command"
	"a2atap/tui/keys"
	"a2atap/tui/load"
	"a2atap/tui/panel"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// typePause is how long the list waits for the next character before it applies the filter.
const typePause = 150 * time.Millisecond

// A bar is the line in which a filter is typed.
type bar struct {
	list   *Panel
	input  textinput.Model
	before string // the previous filter, restored by esc
	ticket uint64 // of the pause under way
	offer  command.Completion
	err    error
}

// typed says that the user has paused.
type typed struct{ ticket uint64 }

// edit opens the line for the filter.
func (l *Panel) edit() tea.Cmd {
	l.bar = &bar{list: l, input: panel.NewInput()}
	if l.filtering != nil {
		l.bar.before = l.filtering.expr
		l.bar.input.SetValue(l.filtering.expr)
		l.bar.input.CursorEnd()
	}
	return l.Reposition()
}

// Type handles a key in the filter line.
func (l *Panel) Type(msg tea.KeyMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		cmd := l.Apply(l.bar.input.Value())
		if l.bar.err == nil {
			l.bar = nil
		}
		return tea.Batch(cmd, l.Reposition())
	case "esc":
		before := l.bar.before
		l.bar = nil
		return tea.Batch(l.Apply(before), l.Reposition())
	case "up", "down", "pgup", "pgdown":
		l.window.Act(keys.Lookup(msg.String(), keys.InList).Action)
		l.sorting.hold()
		return l.cache.loadMissing()
	case "tab":
		return l.bar.complete(1)
	case "shift+tab":
		return l.bar.complete(-1)
	}
	value := l.bar.input.Value()
	var cmd tea.Cmd
	l.bar.input, cmd = l.bar.input.Update(msg)
	if l.bar.input.Value() == value {
		return cmd
	}
	var over tea.Cmd
	if l.bar.offer.Words != nil {
		l.bar.offer = command.Completion{}
		over = l.Reposition()
	}
	return tea.Batch(cmd, over, l.bar.awaitPause())
}

// awaitPause returns the command that waits until typing pauses.
func (b *bar) awaitPause() tea.Cmd {
	l := b.list
	b.ticket = l.shared.Ticket()
	load, pause := l.shared.Load, typed{b.ticket}
	return func() tea.Msg {
		load.Pause(typePause)
		return pause
	}
}

// complete puts the next word into the filter that is typed: a key, or a value of a key.
func (b *bar) complete(step int) tea.Cmd {
	l := b.list
	if b.offer.Words == nil || len(b.offer.Words) == 1 && b.offer.Chosen() == 0 {
		line := b.input.Value()
		before := line[:strings.LastIndexAny(line, " (")+1]
		b.offer = command.Complete(before, line[len(before):], l.FilterWords(line))
	}
	line, ok := b.offer.Next(step)
	if !ok {
		return nil
	}
	b.input.SetValue(line)
	b.input.CursorEnd()
	return tea.Batch(l.Reposition(), b.awaitPause())
}

// paused applies what was typed, unless typing went on.
func (b *bar) paused(msg typed) tea.Cmd {
	l := b.list
	if msg.ticket != b.ticket {
		return nil
	}
	return tea.Batch(l.Apply(b.input.Value()), l.Reposition())
}

// Apply sets the filter. An invalid expression changes nothing.
func (l *Panel) Apply(expr string) tea.Cmd {
	expr = strings.TrimSpace(expr)
	f, err := filter.Parse(expr)
	if l.bar != nil {
		l.bar.err = err
	}
	switch {
	case err != nil:
		return nil
	case expr == "":
		l.filtering = nil
		return tea.Batch(l.sorting.refiltered(), l.Reposition())
	case l.filtering != nil && l.filtering.expr == expr:
		return nil
	}
	l.filtering = newFiltering(expr, f, l.shared.Ticket(), l.shared.Info.Exchanges)
	return tea.Batch(l.sorting.refiltered(), l.Reposition(), l.shared.Load.Narrow(l.filtering.ticket, f))
}

// line draws the input, with a cursor.
func (b *bar) line(columns int, progress string) style.Line {
	return panel.InputLine("/", b.input, columns, progress)
}

// wrong returns the error of the expression, with a mark below its column.
func (b *bar) wrong(columns int) []style.Line {
	var bad *filter.Error
	if !errors.As(b.err, &bad) {
		return []style.Line{style.Text(style.Error, " ! "+b.err.Error())}
	}
	value := []rune(b.input.Value())
	indent := 3 + text.Width(text.Clean(string(value[:min(bad.Column-1, len(value))])))
	said := fmt.Sprintf("column %d: %s", bad.Column, bad.Message)
	mark := "^ "
	if indent > columns/2 {
		indent, mark = 3, ""
	}
	var lines []style.Line
	for i, piece := range text.Prose(said, columns-indent-3) {
		if i == 3 {
			break
		}
		lines = append(lines, style.Text(style.Error, text.Blanks(indent)+mark+piece))
		mark = text.Blanks(len(mark))
	}
	return lines
}

// FilterWords offers words for the end of a filter: keys, and behind a key the values that are known.
func (l *Panel) FilterWords(expr string) []string {
	last := expr[strings.LastIndexAny(expr, " (")+1:]
	negated := last[:len(last)-len(strings.TrimLeft(last, "-"))]
	name, _, valued := strings.Cut(last[len(negated):], ":")
	var list []string
	if !valued {
		for _, k := range filter.Keys() {
			list = append(list, negated+k.Name+":")
		}
		return list
	}
	for _, value := range filterValues(l, name) {
		if strings.ContainsAny(value, " ()\"") {
			value = strconv.Quote(value)
		}
		list = append(list, negated+name+":"+value)
	}
	return list
}

// filterValues offers values for a key of the filter: all, where there are few, or else those that were seen.
func filterValues(l *Panel, name string) []string {
	switch name {
	case "agent":
		return seen(l, func(e *load.Entry) string { return e.Agent })
	case "client":
		return seen(l, func(e *load.Entry) string { return e.Client })
	case "link":
		return seen(l, func(e *load.Entry) string { return e.Client + "->" + e.Agent })
	case "op":
		return names(a2a.SendMessage, a2a.Operation.String)
	case "state":
		return names(a2a.Submitted, a2a.State.String)
	case "dialect":
		return names(a2a.V0_1, dialectName)
	case "rule":
		return l.shared.RuleIDs()
	case "severity":
		return []string{analyzer.Error.String(), analyzer.Warning.String(), analyzer.Note.String()}
	}
	return filter.Values(name)
}

func dialectName(d a2a.Dialect) string {
	if d > a2a.V1_0 {
		return ""
	}
	return d.String()
}

// names returns the names of values that are numbered, from one on until one has no name.
func names[N ~uint8](from N, name func(N) string) (list []string) {
	for v := from; name(v) != ""; v++ {
		list = append(list, name(v))
	}
	return list
}

// seen returns what the entries that were read have, each once.
func seen(l *Panel, of func(e *load.Entry) string) []string {
	values := make(map[string]bool)
	for _, e := range l.cache.entries {
		if !e.Absent {
			values[of(&e)] = true
		}
	}
	return slices.Sorted(maps.Keys(values))
}
