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

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/filter"
	"a2atap/tui/internal/command"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// typePause is how long the list waits for the next character before it applies the filter.
const typePause = 150 * time.Millisecond

// A Filter is the filter of the list: the line in which the user types it, and its current value.
type Filter struct {
	lines *Lines
	order *Order
	bar   *bar // nil unless the user is typing
}

// A bar is the input line of the filter.
type bar struct {
	input  textinput.Model
	before string // the previous filter, restored by esc
	ticket uint64 // of the current pause
	offer  command.Completion
	err    error
}

// typed reports that the user has paused typing.
type typed struct{ ticket uint64 }

// Typing reports whether a filter is being typed.
func (f *Filter) Typing() bool { return f.bar != nil }

// edit opens the line for the filter.
func (f *Filter) edit() tea.Cmd {
	f.bar = &bar{input: panel.NewInput()}
	if s := f.lines.filtering; s != nil {
		f.bar.before = s.expr
		f.bar.input.SetValue(s.expr)
		f.bar.input.CursorEnd()
	}
	return f.reposition()
}

// reposition gives the list the lines that the filter does not need.
func (f *Filter) reposition() tea.Cmd {
	f.lines.below = len(f.draw())
	return f.lines.Reposition()
}

// Type handles a key in the filter line.
func (f *Filter) Type(msg tea.KeyMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		cmd := f.Apply(f.bar.input.Value())
		if f.bar.err == nil {
			f.bar = nil
		}
		return tea.Batch(cmd, f.reposition())
	case "esc":
		before := f.bar.before
		f.bar = nil
		return tea.Batch(f.Apply(before), f.reposition())
	case "up", "down", "pgup", "pgdown":
		f.lines.window.Act(keys.Lookup(msg.String(), keys.InList).Action)
		f.lines.hold()
		return f.lines.loadMissing()
	case "tab":
		return f.complete(1)
	case "shift+tab":
		return f.complete(-1)
	}
	value := f.bar.input.Value()
	var cmd tea.Cmd
	f.bar.input, cmd = f.bar.input.Update(msg)
	if f.bar.input.Value() == value {
		return cmd
	}
	var over tea.Cmd
	if f.bar.offer.Words != nil {
		f.bar.offer = command.Completion{}
		over = f.reposition()
	}
	return tea.Batch(cmd, over, f.awaitPause())
}

// awaitPause returns the command that waits until typing pauses.
func (f *Filter) awaitPause() tea.Cmd {
	f.bar.ticket = f.lines.shared.Ticket()
	load, pause := f.lines.shared.Load, typed{f.bar.ticket}
	return func() tea.Msg {
		load.Pause(typePause)
		return pause
	}
}

// complete inserts the next completion into the filter: a key, or a value of a key.
func (f *Filter) complete(step int) tea.Cmd {
	b := f.bar
	if b.offer.Words == nil || len(b.offer.Words) == 1 && b.offer.Chosen() == 0 {
		line := b.input.Value()
		before := line[:strings.LastIndexAny(line, " (")+1]
		b.offer = command.Complete(before, line[len(before):], f.Words(line))
	}
	line, ok := b.offer.Next(step)
	if !ok {
		return nil
	}
	b.input.SetValue(line)
	b.input.CursorEnd()
	return tea.Batch(f.reposition(), f.awaitPause())
}

// paused applies the typed filter, unless the user has typed more.
func (f *Filter) paused(msg typed) tea.Cmd {
	if f.bar == nil || msg.ticket != f.bar.ticket {
		return nil
	}
	return tea.Batch(f.Apply(f.bar.input.Value()), f.reposition())
}

// Apply sets the filter. An invalid expression changes nothing.
func (f *Filter) Apply(expr string) tea.Cmd {
	expr = strings.TrimSpace(expr)
	parsed, err := filter.Parse(expr)
	if f.bar != nil {
		f.bar.err = err
	}
	l := f.lines
	switch {
	case err != nil:
		return nil
	case expr == "":
		l.filtering = nil
		return tea.Batch(f.order.refiltered(), f.reposition())
	case l.filtering != nil && l.filtering.expr == expr:
		return nil
	}
	l.filtering = newFiltering(l.shared, expr, parsed)
	return tea.Batch(f.order.refiltered(), f.reposition(), l.shared.Load.Narrow(l.filtering.ticket, parsed))
}

// draw returns the lines below the list: completions, the filter, the progress of its search, and the error of an
// expression that is being typed, below its column.
func (f *Filter) draw() []style.Line {
	var lines []style.Line
	width, progress := f.lines.window.Width, f.lines.filtering.progress()
	switch {
	case f.bar != nil:
		if o := &f.bar.offer; o.Words != nil {
			lines = append(lines, panel.Choices(o.Words, o.Chosen(), width))
		}
		lines = append(lines, panel.InputLine("/", f.bar.input, width, progress))
		if f.bar.err != nil {
			lines = append(lines, f.bar.wrong(width)...)
		}
	case f.lines.filtering != nil:
		lines = append(lines, style.Text(style.Title, " / ").Add(style.Normal,
			text.Pad(f.lines.filtering.expr, width-4-text.Width(progress))).Add(style.Dim, progress))
	}
	return lines[:min(len(lines), max(f.lines.height-1, 0))]
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

// Words returns completions for the end of a filter: keys, or the known values after a key.
func (f *Filter) Words(expr string) []string {
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
	for _, value := range f.values(name) {
		if strings.ContainsAny(value, " ()\"") {
			value = strconv.Quote(value)
		}
		list = append(list, negated+name+":"+value)
	}
	return list
}

// values returns completions for a key of the filter: all values, if there are few, or else those that occurred.
func (f *Filter) values(name string) []string {
	switch name {
	case "agent":
		return f.seen(func(e *load.Entry) string { return e.Agent })
	case "client":
		return f.seen(func(e *load.Entry) string { return e.Client })
	case "link":
		return f.seen(func(e *load.Entry) string { return e.Client + "->" + e.Agent })
	case "op":
		return names(a2a.SendMessage, a2a.Operation.String)
	case "state":
		return names(a2a.Submitted, a2a.State.String)
	case "dialect":
		return names(a2a.V0_1, dialectName)
	case "rule":
		return f.lines.shared.RuleIDs()
	case "severity":
		return []string{analysis.Error.String(), analysis.Warning.String(), analysis.Note.String()}
	}
	return filter.Values(name)
}

func dialectName(d a2a.Dialect) string {
	if d > a2a.V1_0 {
		return ""
	}
	return d.String()
}

// names returns the names of numbered values, starting at from, up to the first value without a name.
func names[N ~uint8](from N, name func(N) string) (list []string) {
	for v := from; name(v) != ""; v++ {
		list = append(list, name(v))
	}
	return list
}

// seen returns the distinct values of the entries read so far.
func (f *Filter) seen(of func(e *load.Entry) string) []string {
	values := make(map[string]bool)
	for _, e := range f.lines.entries {
		if !e.Absent {
			values[of(&e)] = true
		}
	}
	return slices.Sorted(maps.Keys(values))
}
