// Package list is the panel of all exchanges of a capture, or of those that match a filter. Users can sort the list,
// and group it under headings that fold. The cost of a list depends on its rows on the screen, not on its length: it
// reads only these and a page around them.
//
// A Panel consists of its Lines and three parts that change them. Lines have the contents of each line and the cursor.
// The Filter tests all exchanges; the search looks for a text; the Order sorts by values that it reads from the
// exchanges. Each works in the background, in commands that do one piece at a time, and stays up to date while the
// capture grows.
package list

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/sorting"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// A Panel is the panel of all exchanges, or of those that match a filter.
type Panel struct {
	Lines
	Filter  Filter
	Order   Order
	search  *search  // nil without a search
	seeking *seeking // nil until the user looks for a failure
	hints   []string // shown while the list is empty
}

// New returns the list of a capture. The hints are shown while nothing is recorded.
func New(s *panel.Shared, hints []string) *Panel {
	l := &Panel{hints: hints, Lines: Lines{
		shared: s, entries: make(map[uint64]load.Entry), stale: make(map[uint64]bool),
	}}
	l.Order = Order{lines: &l.Lines, table: &sorting.Table{}, stale: make(map[uint64]bool)}
	l.Filter = Filter{lines: &l.Lines, order: &l.Order}
	return l
}

func (l *Panel) Scope() keys.Scope { return keys.InList }

func (l *Panel) Title() string { return "exchanges" }

func (l *Panel) Target() analysis.Place { return analysis.Place{Exchange: l.Selected()} }

// Idle reports whether the list is complete: no row is being read, the filter has tested all exchanges, and the list is
// sorted and grouped.
func (l *Panel) Idle() bool {
	done := l.filtering == nil || l.filtering.done() && l.filtering.err == nil
	return l.loading == 0 && done && (!l.Order.wanted() || l.now != nil)
}

func (l *Panel) Resize(width, height int) tea.Cmd {
	l.window.Width, l.height = width, height
	return l.Filter.reposition()
}

func (l *Panel) Update(msg tea.Msg) tea.Cmd { return tea.Batch(l.handle(msg), l.Order.update(msg)) }

func (l *Panel) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case keys.Action:
		return l.act(msg)
	case panel.ExchangesChanged:
		cmds := []tea.Cmd{l.changed(msg.Seqs)}
		if l.search != nil {
			cmds = append(cmds, l.search.grow(l.shared, msg.Seqs), l.search.next(l.shared))
		}
		return tea.Batch(cmds...)
	case panel.FindingsChanged:
		if l.filtering != nil && l.filtering.judging() {
			return l.filtering.retestChanged(msg.Seqs)
		}
	case panel.NotesChanged:
		return l.filtering.retestMarks(msg.Seqs)
	case entries:
		return l.store(msg)
	case typed:
		return l.Filter.paused(msg)
	case load.Narrowed, load.Scanned, load.Retested:
		if next, mine := l.filtering.take(msg); mine {
			return tea.Batch(l.Reposition(), next)
		}
	case exchangesSearched:
		return l.search.update(&l.Lines, msg)
	case sought:
		return l.seeking.take(msg)
	case panel.LinksChanged, relinked:
		return l.filtering.relinked(msg)
	case panel.RowsChanged:
		return l.changed(msg.Seqs)
	case panel.CardsLearned:
		return l.outdateAll()
	}
	return nil
}

// changed reloads changed exchanges that are visible, and tests whether they match now.
func (l *Panel) changed(seqs []uint64) tea.Cmd {
	seen := l.outdate(seqs)
	if l.filtering == nil {
		return seen
	}
	return tea.Batch(seen, l.filtering.retestChanged(seqs))
}

func (l *Panel) act(a keys.Action) tea.Cmd {
	before := l.window.Cursor
	switch {
	case a == keys.ToggleFollow:
		l.Follow = !l.Follow
		return l.Reposition()
	case a == keys.NextFinding:
		return l.jump(1)
	case a == keys.PreviousFinding:
		return l.jump(-1)
	case a == keys.NextFailed:
		return l.NextFailed(l.Selected(), 1, l.goTo)
	case a == keys.PreviousFailed:
		return l.NextFailed(l.Selected(), -1, l.goTo)
	case a == keys.EditFilter:
		return l.Filter.edit()
	case a == keys.NextMatch:
		return l.goOn(1)
	case a == keys.PreviousMatch:
		return l.goOn(-1)
	case a == keys.ChangeGrouping || a == keys.ChangeOrder || a == keys.ReverseOrder:
		return l.Order.change(a)
	case a == keys.FoldAll:
		return l.foldAll()
	case a == keys.Back && l.filtering != nil:
		return l.Filter.Apply("")
	case !l.window.Act(a):
		return nil
	}
	if l.window.Cursor < before {
		l.Follow = false
	}
	l.hold()
	return tea.Batch(l.loadMissing(), l.refresh())
}

// jump moves to the next exchange with a finding, or else to the next failed one, in a direction.
func (l *Panel) jump(step int) tea.Cmd {
	if l.SeeksFailed() {
		return l.NextFailed(l.Selected(), step, l.goTo)
	}
	seq, words := l.NextFinding(l.Selected(), step)
	if seq == 0 {
		return panel.Say(words)
	}
	l.shared.Message = words
	return l.goTo(seq)
}

// LookFor searches all exchanges for a pattern, and moves to the first match from the selected exchange on. A nil
// pattern ends the search. The list still shows all exchanges.
func (l *Panel) LookFor(p *find.Pattern) tea.Cmd {
	if l.search != nil {
		l.search.end()
		l.search = nil
	}
	if p == nil {
		return nil
	}
	l.search = newSearch(l.shared, p, l.Selected())
	l.search.step, l.search.here = 1, true
	return l.search.next(l.shared)
}

// Found returns the known exchanges in the list with a match.
func (l *Panel) Found() []uint64 {
	if l.search == nil {
		return nil
	}
	return l.search.among(l.filtering)
}

// Searching reports whether there is a search.
func (l *Panel) Searching() bool { return l.search != nil }

// StopSearch stops a running search, and reports whether one was running. Its matches remain.
func (l *Panel) StopSearch() bool {
	if l.search == nil || !l.search.running(l.shared.Info.Exchanges) {
		return false
	}
	l.search.stop()
	return true
}

// goOn moves to the next or previous exchange with a match, once it is known.
func (l *Panel) goOn(step int) tea.Cmd {
	if l.search == nil || l.search.pattern != l.shared.Pattern { // the pattern was typed in another panel
		cmd := l.LookFor(l.shared.Pattern)
		l.search.step, l.search.here = step, false
		return cmd
	}
	l.search.step, l.search.here = step, false
	l.search.resume(l.shared)
	return tea.Batch(l.search.next(l.shared), l.search.advance(&l.Lines))
}

func (l *Panel) Status() string {
	count := text.Plural(l.shared.Info.Exchanges, "exchange")
	if l.filtering != nil {
		count = text.Number(len(l.filtering.matches)) + " of " + count
	}
	if words := l.Order.progress(); words != "" {
		count += ", " + words
	}
	switch below := l.window.Below(); {
	case l.Follow:
		count += ", following"
	case below > 0 && l.shared.Info.Live:
		count += fmt.Sprintf(", %s newer below", text.Number(below))
	}
	if l.search != nil {
		count += ", " + l.search.words(&l.Lines)
	}
	return count
}

func (l *Panel) Click(y int) tea.Cmd {
	if l.window.Click(y - 1) { // below the heading
		l.hold()
	}
	return nil
}

func (l *Panel) Why(a keys.Action) string {
	switch a {
	case keys.Back:
		return panel.Unless(l.filtering != nil || l.search != nil, "no filter is set; Q quits")
	case keys.FoldAll:
		return panel.Unless(l.now != nil && l.now.Grouped(), panel.NothingGrouped)
	case keys.ToggleFollow:
		return panel.Unless(l.shared.Info.Live, "the recording has ended; nothing to follow")
	}
	return ""
}
