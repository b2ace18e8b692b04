package list

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture/filter"
	"a2atap/tui/command"
	"a2atap/tui/keys"
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

// filterLines returns the lines below the list: words that complete the filter, the filter, the progress of its search,
// and the error of an expression that is being typed, below its column.
func (d drawing) filterLines() []style.Line {
	l := d.list
	var lines []style.Line
	switch {
	case l.bar != nil:
		if o := &l.bar.offer; o.Words != nil {
			lines = append(lines, panel.Choices(o.Words, o.Chosen(), l.window.Width))
		}
		lines = append(lines, l.bar.line(l.window.Width, d.progress()))
		if l.bar.err != nil {
			lines = append(lines, l.bar.wrong(l.window.Width)...)
		}
	case l.filtering != nil:
		progress := d.progress()
		lines = append(lines, style.Text(style.Title, " / ").Add(style.Normal,
			text.Pad(l.filtering.expr, l.window.Width-4-text.Width(progress))).Add(style.Dim, progress))
	}
	return lines[:min(len(lines), max(l.height-1, 0))]
}

// progress describes the progress of the search.
func (d drawing) progress() string {
	l := d.list
	switch s := l.filtering; {
	case s == nil:
		return ""
	case s.err != nil:
		return "! " + s.err.Error()
	case !s.done():
		return fmt.Sprintf("searching, %d %%", s.percent())
	case !l.shared.Judged.Behind || l.shared.Load.Reading.Whole(): // rows tell it
	case s.filter.Asks("workflow"):
		return "what caused what is still being read"
	case s.judging():
		return l.shared.Running()
	}
	return ""
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
