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
	"a2atap/tui/load"
	"a2atap/tui/panel"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// typePause is how long the list waits for the next character before it applies the filter.
const typePause = 150 * time.Millisecond

// A bar is the line in which a filter is typed.
type bar struct {
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
	l.bar = &bar{input: panel.NewInput()}
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
		l.hold()
		return l.loadMissing()
	case "tab":
		return l.completeFilter(1)
	case "shift+tab":
		return l.completeFilter(-1)
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
	return tea.Batch(cmd, over, l.awaitPause())
}

// awaitPause returns the command that waits until typing pauses.
func (l *Panel) awaitPause() tea.Cmd {
	l.bar.ticket = l.shared.Ticket()
	load, pause := l.shared.Load, typed{l.bar.ticket}
	return func() tea.Msg {
		load.Pause(typePause)
		return pause
	}
}

// completeFilter puts the next word into the filter that is typed: a key, or a value of a key.
func (l *Panel) completeFilter(step int) tea.Cmd {
	b := l.bar
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
	return tea.Batch(l.Reposition(), l.awaitPause())
}

// paused applies what was typed, unless typing went on.
func (l *Panel) paused(msg typed) tea.Cmd {
	if l.bar == nil || msg.ticket != l.bar.ticket {
		return nil
	}
	return tea.Batch(l.Apply(l.bar.input.Value()), l.Reposition())
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
		return tea.Batch(l.refiltered(), l.Reposition())
	case l.filtering != nil && l.filtering.expr == expr:
		return nil
	}
	l.filtering = newFiltering(expr, f, l.shared.Ticket(), l.shared.Info.Exchanges)
	return tea.Batch(l.refiltered(), l.Reposition(), l.shared.Load.Narrow(l.filtering.ticket, f))
}

// filtered handles a message of the search.
func (l *Panel) filtered(msg tea.Msg) tea.Cmd {
	s := l.filtering
	if s == nil {
		return nil
	}
	var relink tea.Cmd
	switch msg := msg.(type) {
	case load.Narrowed:
		if msg.Ticket != s.ticket {
			return nil
		}
		s.pool, s.all, s.err = msg.Pool, msg.All, msg.Err
		s.linked = msg.Linked
		relink = s.relink(l.shared.Load, l.shared.Info.Exchanges, 0)
	case load.Scanned:
		if msg.Ticket != s.ticket {
			return nil
		}
		s.bound, s.err = msg.From, msg.Err
		s.insert(msg.Matches)
	case load.Retested:
		if msg.Ticket != s.ticket {
			return nil
		}
		s.testing, s.err = false, msg.Err
		s.replace(msg.Seqs, msg.Matches)
		return tea.Batch(l.Reposition(), s.retestChanged(l.shared.Load, &l.shared.Found, nil))
	}
	load, found := l.shared.Load, &l.shared.Found
	return tea.Batch(l.Reposition(), relink, s.next(load, found), s.retestChanged(load, found, nil))
}

// filterLines returns the lines below the list: words that complete the filter, the filter, the progress of its search,
// and the error of an expression that is being typed, below its column.
func (l *Panel) filterLines() []style.Line {
	var lines []style.Line
	switch {
	case l.bar != nil:
		if o := &l.bar.offer; o.Words != nil {
			lines = append(lines, panel.Choices(o.Words, o.Chosen(), l.window.Width))
		}
		lines = append(lines, l.bar.line(l.window.Width, l.progress()))
		if l.bar.err != nil {
			lines = append(lines, l.bar.wrong(l.window.Width)...)
		}
	case l.filtering != nil:
		progress := l.progress()
		lines = append(lines, style.Text(style.Title, " / ").Add(style.Normal,
			text.Pad(l.filtering.expr, l.window.Width-4-text.Width(progress))).Add(style.Dim, progress))
	}
	return lines[:min(len(lines), max(l.height-1, 0))]
}

// progress describes the progress of the search.
func (l *Panel) progress() string {
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
