// Package list is the panel of all exchanges of a capture, or of those that match a filter; sorted, and grouped under
// headings that fold, if the user wants. A list of a million exchanges costs what its rows on the screen cost: only these
// and a page around them are read.
//
// Three things go on beside the screen, each a piece at a time in commands, and are kept up to date while the capture
// grows: the filter is tried on all exchanges (filtering.go), a text is searched in them (search.go), and what sorting
// needs of them is read (sort.go).
package list

import (
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/keys"
	"a2atap/tui/load"
	"a2atap/tui/panel"
	"a2atap/tui/sorting"
	"a2atap/tui/text"
)

// maxCached bounds the entries that the list keeps.
const maxCached = 4096

// A Panel is the panel of all exchanges, or of those that match a filter. It reads only the visible exchanges and a page
// around them.
type Panel struct {
	shared     *panel.Shared
	window     panel.Window // over positions; its height is that of the exchanges
	height     int          // of the panel
	cache      map[uint64]load.Entry
	stale      map[uint64]bool // entries of cache that are out of date
	loading    uint64          // ticket of the entries under way; 0 if none are
	refreshing uint64          // the same for stale entries
	took       time.Duration   // how long reading stale entries took the last time
	filtering  *filtering      // nil without a filter
	search     *search         // nil while nothing is searched for
	sorting    order
	bar        *bar   // not nil while a filter is typed
	anchor     uint64 // the exchange that the user selected last: the cursor stays at or near it
	Follow     bool
	hints      []string // shown while the list is empty
	Err        error
}

func New(s *panel.Shared, hints []string) *Panel {
	return &Panel{
		shared: s, hints: hints, cache: make(map[uint64]load.Entry), stale: make(map[uint64]bool),
		sorting: order{table: &sorting.Table{}, stale: make(map[uint64]bool)},
	}
}

func (l *Panel) Scope() keys.Scope { return keys.InList }

func (l *Panel) Title() string { return "exchanges" }

// Length returns the number of lines of the list.
func (l *Panel) Length() int {
	if l.sorting.now != nil {
		return l.sorting.now.Rows()
	}
	if l.filtering != nil {
		return len(l.filtering.matches)
	}
	return int(l.shared.Info.Exchanges)
}

// at returns the exchange at a position, 0 if a heading is there.
func (l *Panel) at(i int) uint64 {
	if l.sorting.now != nil {
		return l.sorting.now.Row(i).Exchange
	}
	if l.filtering != nil {
		return l.filtering.matches[i]
	}
	return uint64(i) + 1
}

// position returns the position of an exchange, or of the heading that hides it. Of one that is not in the list it
// returns the one where it would be inserted, or, where that is not known, the one of the cursor.
func (l *Panel) position(seq uint64) int {
	if l.sorting.now != nil {
		if row, there := l.sorting.now.RowOf(seq); there {
			return row
		}
		return l.window.Cursor
	}
	if l.filtering != nil {
		i, _ := slices.BinarySearch(l.filtering.matches, seq)
		return i
	}
	return int(seq) - 1
}

// Selected returns the exchange under the cursor, the first one under a heading, or 0.
func (l *Panel) Selected() uint64 {
	if l.window.Cursor >= l.Length() {
		return 0
	}
	if h, _, is := l.headingAt(l.window.Cursor); is {
		return l.standIn(&h)
	}
	return l.at(l.window.Cursor)
}

// Matches returns the exchanges that the filter lets through, as far as they are known, and whether there is a filter.
func (l *Panel) Matches() (seqs []uint64, is bool) {
	if l.filtering == nil {
		return nil, false
	}
	return l.filtering.matches, true
}

// FilterDone reports whether the filter, if there is one, was tried on all exchanges.
func (l *Panel) FilterDone() bool {
	return l.filtering == nil || l.filtering.done() && l.filtering.err == nil
}

// arranged reports whether the list is shown sorted or grouped.
func (l *Panel) Arranged() bool { return l.sorting.now != nil }

// Loading reports whether rows are being read.
func (l *Panel) Loading() bool { return l.loading != 0 }

// Typing reports whether a filter is being typed.
func (l *Panel) Typing() bool { return l.bar != nil }

// AtEnd reports whether the last exchange of the list is selected.
func (l *Panel) AtEnd() bool { return l.window.Cursor >= l.window.Length-1 }

// Entry returns the row of an exchange, if it was read.
func (l *Panel) Entry(seq uint64) (load.Entry, bool) {
	e, there := l.cache[seq]
	return e, there
}

// Choose puts the cursor on an exchange, or near it if it is not in the list.
func (l *Panel) Choose(seq uint64) tea.Cmd {
	l.anchor = seq
	return l.Reposition()
}

func (l *Panel) Target() analyzer.Place { return analyzer.Place{Exchange: l.Selected()} }

func (l *Panel) Resize(width, height int) tea.Cmd {
	l.window.Width, l.height = width, height
	return l.Reposition()
}

// Reposition keeps the cursor at its exchange when the list has changed, and loads what is then visible.
func (l *Panel) Reposition() tea.Cmd {
	l.window.Length = l.Length()
	l.window.Height = max(l.height-1-len(l.filterLines()), 0)
	switch {
	case l.Follow && l.sorting.now != nil:
		l.anchor, l.sorting.key = l.sorting.now.Newest(), sorting.Key{}
		l.window.Move(l.position(l.anchor))
	case l.Follow:
		l.window.Move(l.window.Length - 1)
		l.anchor = l.Selected()
	case l.anchor > 0:
		l.window.Move(l.anchored())
	default:
		l.window.Move(l.window.Cursor)
	}
	return l.loadMissing()
}

// Newest puts the cursor on the newest exchange.
func (l *Panel) Newest() {
	l.anchor = l.shared.Info.Exchanges
}

// loadMissing returns the command that loads missing entries in and around the window.
func (l *Panel) loadMissing() tea.Cmd {
	if l.loading != 0 {
		return nil
	}
	var missing, seen []uint64
	margin := max(l.window.Height, 1)
	for i := max(l.window.Top-margin, 0); i < min(l.window.Bottom()+margin, l.Length()); i++ {
		seq := l.described(i)
		if _, there := l.cache[seq]; seq == 0 || there {
			continue
		}
		missing = append(missing, seq)
		if i >= l.window.Top && i < l.window.Bottom() {
			seen = append(seen, seq)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if len(seen) > 0 { // these come first, what is around them later
		missing = seen
	}
	slices.Sort(missing)
	l.loading = l.shared.Ticket()
	return readEntries(l.shared.Load, l.loading, missing)
}

// refresh returns the command that loads visible stale entries again. What is slow to read is read less often.
func (l *Panel) refresh() tea.Cmd {
	if l.refreshing != 0 {
		return nil
	}
	var seen []uint64
	for i := l.window.Top; i < min(l.window.Bottom(), l.Length()); i++ {
		if seq := l.described(i); l.stale[seq] {
			seen = append(seen, seq)
		}
	}
	if len(seen) == 0 {
		return nil
	}
	slices.Sort(seen)
	for _, seq := range seen {
		delete(l.stale, seq)
	}
	l.refreshing = l.shared.Ticket()
	load, pause := l.shared.Load, min(10*l.took, 2*time.Second)
	read := readEntries(load, l.refreshing, seen)
	return func() tea.Msg {
		load.Pause(pause)
		return read()
	}
}

func (l *Panel) Update(msg tea.Msg) tea.Cmd { return tea.Batch(l.handle(msg), l.resort(msg)) }

func (l *Panel) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case keys.Action:
		return l.act(msg)
	case panel.ExchangesChanged:
		return l.grow(msg.Seqs)
	case panel.FindingsChanged:
		if l.filtering != nil && l.filtering.judging() {
			return l.filtering.retestChanged(l.shared.Load, &l.shared.Found, msg.Seqs)
		}
	case panel.NotesChanged:
		return l.retestMarks(msg.Seqs)
	case entries:
		return l.store(msg)
	case typed:
		return l.paused(msg)
	case load.Narrowed, load.Scanned, load.Retested:
		return l.filtered(msg)
	case found:
		return l.take(msg)
	case panel.LinksChanged, relinked:
		return l.relinked(msg)
	case panel.RowsChanged:
		return l.changed(msg.Seqs)
	case panel.CardsLearned:
		for seq := range l.cache {
			l.stale[seq] = true
		}
		return l.refresh()
	}
	return nil
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
	case a == keys.EditFilter:
		return l.edit()
	case a == keys.NextMatch:
		return l.goOn(1)
	case a == keys.PreviousMatch:
		return l.goOn(-1)
	case a == keys.ChangeGrouping || a == keys.ChangeOrder || a == keys.ReverseOrder:
		return l.changeSorting(a)
	case a == keys.FoldAll:
		return l.foldAll()
	case a == keys.Back && l.filtering != nil:
		return l.Apply("")
	case !l.window.Act(a):
		return nil
	}
	if l.window.Cursor < before {
		l.Follow = false
	}
	l.hold()
	return tea.Batch(l.loadMissing(), l.refresh())
}

// jump moves to the next exchange with a finding, in a direction.
func (l *Panel) jump(step int) tea.Cmd {
	seq := l.FindingFrom(l.Selected(), step)
	if seq == 0 {
		return panel.Say(l.shared.NoFurther(step, l.FindingFrom(l.Selected(), -step) != 0))
	}
	l.Reveal(seq)
	l.Follow, l.anchor, l.sorting.key = false, seq, sorting.Key{}
	return l.Reposition()
}

// changed marks changed exchanges as stale, and reads them again where that is seen.
func (l *Panel) changed(seqs []uint64) tea.Cmd {
	for _, seq := range seqs {
		if _, there := l.cache[seq]; there {
			l.stale[seq] = true
		}
	}
	var test tea.Cmd
	if l.filtering != nil {
		test = l.filtering.retestChanged(l.shared.Load, &l.shared.Found, seqs)
	}
	return tea.Batch(l.Reposition(), l.refresh(), test)
}

// grow takes note of changed exchanges, and loads what is visible.
func (l *Panel) grow(seqs []uint64) tea.Cmd {
	cmds := []tea.Cmd{l.changed(seqs)}
	if l.search != nil {
		cmds = append(cmds, l.search.grow(l.shared, seqs), l.search.next(l.shared))
	}
	return tea.Batch(cmds...)
}

// store keeps entries that were read, and loads those that are still missing.
func (l *Panel) store(msg entries) tea.Cmd {
	switch msg.ticket {
	case l.loading:
		l.loading = 0
	case l.refreshing:
		l.refreshing = 0
		l.took = msg.took
		for _, seq := range msg.left {
			l.stale[seq] = true
		}
	default:
		return nil
	}
	if l.Err = msg.err; msg.err != nil {
		return panel.Say(msg.err.Error())
	}
	for _, e := range msg.list {
		l.cache[e.Seq] = e
	}
	l.evict()
	return tea.Batch(l.loadMissing(), l.refresh())
}

// evict drops entries that are far from the window, if there are too many.
func (l *Panel) evict() {
	if len(l.cache) <= maxCached {
		return
	}
	for seq := range l.cache {
		if i := l.position(seq); i < l.window.Top-2*l.window.Height || i > l.window.Bottom()+2*l.window.Height {
			delete(l.cache, seq)
			delete(l.stale, seq)
		}
	}
}

func (l *Panel) Status() string {
	count := text.Plural(l.shared.Info.Exchanges, "exchange")
	if l.filtering != nil {
		count = text.Number(len(l.filtering.matches)) + " of " + count
	}
	if words := l.progressOfSorting(); words != "" {
		count += ", " + words
	}
	switch below := l.window.Below(); {
	case l.Follow:
		count += ", following"
	case below > 0 && l.shared.Info.Live:
		count += fmt.Sprintf(", %s newer below", text.Number(below))
	}
	if l.search != nil {
		count += ", " + l.search.words(l)
	}
	return count
}

func (l *Panel) Click(y int) tea.Cmd {
	if l.window.Click(y - 1) { // below the heading
		l.hold()
	}
	return nil
}

// retestMarks tests exchanges again whose notes have changed, if the filter may ask for marks.
func (l *Panel) retestMarks(seqs []uint64) tea.Cmd {
	if l.filtering == nil || !l.filtering.filter.Asks("is") {
		return nil
	}
	if seqs == nil {
		for _, note := range l.shared.Notes.All() {
			if note.Seq <= l.shared.Info.Exchanges {
				seqs = append(seqs, note.Seq)
			}
		}
	}
	return l.filtering.retestChanged(l.shared.Load, &l.shared.Found, seqs)
}

func (l *Panel) Why(a keys.Action) string {
	switch a {
	case keys.Back:
		return panel.Unless(l.filtering != nil || l.search != nil, "there is no filter; Q quits")
	case keys.FoldAll:
		return panel.Unless(l.sorting.now != nil && l.sorting.now.Grouped(), panel.NothingGrouped)
	case keys.ToggleFollow:
		return panel.Unless(l.shared.Info.Live, "the recording has ended; there is nothing to follow")
	}
	return ""
}
