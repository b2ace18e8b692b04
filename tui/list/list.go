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
	"a2atap/proxy/capture"
	"a2atap/tui/keys"
	"a2atap/tui/load"
	"a2atap/tui/panel"
	"a2atap/tui/sorting"
	"a2atap/tui/text"
)

// A Panel is the panel of all exchanges, or of those that match a filter. It reads only the visible exchanges and a page
// around them.
type Panel struct {
	shared    *panel.Shared
	window    panel.Window // over positions; its height is that of the exchanges
	height    int          // of the panel
	cache     cache
	filtering *filtering // nil without a filter
	search    *search    // nil while nothing is searched for
	sorting   order
	bar       *bar   // not nil while a filter is typed
	anchor    uint64 // the exchange that the user selected last: the cursor stays at or near it
	Follow    bool
	hints     []string // shown while the list is empty
	Err       error
}

// New returns the list of a capture. The hints are shown while nothing is recorded.
func New(s *panel.Shared, hints []string) *Panel {
	l := &Panel{shared: s, hints: hints}
	l.cache = cache{list: l, entries: make(map[uint64]load.Entry), stale: make(map[uint64]bool)}
	l.sorting = order{list: l, table: &sorting.Table{}, stale: make(map[uint64]bool)}
	return l
}

func (l *Panel) Scope() keys.Scope { return keys.InList }

func (l *Panel) Title() string { return "exchanges" }

// Length returns the number of lines of the list.
func (l *Panel) Length() int { return l.rows().length() }

// rows says what stands in which line now.
func (l *Panel) rows() rows {
	matches, filtered := l.Matches()
	return rows{l.sorting.now, matches, filtered, int(l.shared.Info.Exchanges)}
}

// Selected returns the exchange under the cursor, the first one under a heading, or 0.
func (l *Panel) Selected() uint64 {
	if l.window.Cursor >= l.Length() {
		return 0
	}
	if h, _, is := l.rows().headingAt(l.window.Cursor); is {
		return l.rows().standIn(&h)
	}
	return l.rows().at(l.window.Cursor)
}

// Matches returns the exchanges that the filter lets through, as far as they are known, and whether there is a filter.
func (l *Panel) Matches() (seqs []uint64, is bool) {
	if l.filtering == nil {
		return nil, false
	}
	return l.filtering.matches, true
}

// Idle reports whether all is shown as it is to be: no row is being read, the filter was tried on all exchanges, and the
// list is sorted and grouped.
func (l *Panel) Idle() bool {
	done := l.filtering == nil || l.filtering.done() && l.filtering.err == nil
	return l.cache.loading == 0 && done && (!l.sorting.wanted() || l.sorting.now != nil)
}

// Typing reports whether a filter is being typed.
func (l *Panel) Typing() bool { return l.bar != nil }

// AtEnd reports whether the last exchange of the list is selected.
func (l *Panel) AtEnd() bool { return l.window.Cursor >= l.window.Length-1 }

// Entry returns the row of an exchange, if it was read.
func (l *Panel) Entry(seq uint64) (load.Entry, bool) {
	e, there := l.cache.entries[seq]
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
	l.window.Height = max(l.height-1-len(l.drawing().filterLines()), 0)
	switch {
	case l.Follow && l.sorting.now != nil:
		l.anchor, l.sorting.key = l.sorting.now.Newest(), sorting.Key{}
		l.window.Move(l.rows().position(l.anchor, l.window.Cursor))
	case l.Follow:
		l.window.Move(l.window.Length - 1)
		l.anchor = l.Selected()
	case l.anchor > 0:
		l.window.Move(l.sorting.anchored())
	default:
		l.window.Move(l.window.Cursor)
	}
	return l.cache.loadMissing()
}

// Newest puts the cursor on the newest exchange.
func (l *Panel) Newest() {
	l.anchor = l.shared.Info.Exchanges
}

func (l *Panel) Update(msg tea.Msg) tea.Cmd { return tea.Batch(l.handle(msg), l.sorting.update(msg)) }

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
			return l.filtering.retestChanged(l.shared.Load, &l.shared.Found, msg.Seqs)
		}
	case panel.NotesChanged:
		return l.filtering.retestMarks(l, msg.Seqs)
	case entries:
		return l.cache.store(msg)
	case typed:
		if l.bar != nil {
			return l.bar.paused(msg)
		}
	case load.Narrowed, load.Scanned, load.Retested:
		return l.filtering.take(l, msg)
	case found:
		return l.search.update(l, msg)
	case panel.LinksChanged, relinked:
		return l.filtering.relinked(l, msg)
	case panel.RowsChanged:
		return l.changed(msg.Seqs)
	case panel.CardsLearned:
		for seq := range l.cache.entries {
			l.cache.stale[seq] = true
		}
		return l.cache.refresh()
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
		return l.sorting.change(a)
	case a == keys.FoldAll:
		return l.sorting.foldAll()
	case a == keys.Back && l.filtering != nil:
		return l.Apply("")
	case !l.window.Act(a):
		return nil
	}
	if l.window.Cursor < before {
		l.Follow = false
	}
	l.sorting.hold()
	return tea.Batch(l.cache.loadMissing(), l.cache.refresh())
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
		if _, there := l.cache.entries[seq]; there {
			l.cache.stale[seq] = true
		}
	}
	var test tea.Cmd
	if l.filtering != nil {
		test = l.filtering.retestChanged(l.shared.Load, &l.shared.Found, seqs)
	}
	return tea.Batch(l.Reposition(), l.cache.refresh(), test)
}

func (l *Panel) Status() string {
	count := text.Plural(l.shared.Info.Exchanges, "exchange")
	if l.filtering != nil {
		count = text.Number(len(l.filtering.matches)) + " of " + count
	}
	if words := l.sorting.progress(); words != "" {
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
		l.sorting.hold()
	}
	return nil
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

// entries is the message of readEntries.
type entries struct {
	ticket uint64
	list   []load.Entry
	left   []uint64 // not read, since the time was up
	took   time.Duration
	err    error
}

// readEntries makes the rows of a sorted list of exchanges for the list panel, and reads those that no reading tells of.
func readEntries(l *load.Loader, ticket uint64, seqs []uint64) tea.Cmd {
	return func() tea.Msg {
		answer := entries{ticket: ticket}
		begin := time.Now()
		var unread []uint64
		for _, seq := range seqs {
			if row := l.Reading.Row(l.Context, seq); row != nil {
				answer.list = append(answer.list, load.RowEntry(row))
			} else {
				unread = append(unread, seq)
			}
		}
		answer.left, answer.err = l.Each(unread, load.EntryEvents, begin.Add(load.BatchTime), func(seq uint64, x *capture.Exchange) {
			if x == nil {
				answer.list = append(answer.list, load.Entry{Seq: seq, Absent: true})
				return
			}
			answer.list = append(answer.list, l.EntryOf(x))
		})
		answer.took = time.Since(begin)
		return answer
	}
}

// maxCached bounds the entries that the list keeps.
const maxCached = 4096

// A cache holds rows that were read, those on the screen and some around them.
type cache struct {
	list       *Panel
	entries    map[uint64]load.Entry
	stale      map[uint64]bool // those that are out of date
	loading    uint64          // ticket of the entries under way; 0 if none are
	refreshing uint64          // the same for stale entries
	took       time.Duration   // how long reading stale entries took the last time
}

// loadMissing returns the command that loads missing entries in and around the window.
func (c *cache) loadMissing() tea.Cmd {
	l := c.list
	if c.loading != 0 {
		return nil
	}
	var missing, seen []uint64
	margin := max(l.window.Height, 1)
	for i := max(l.window.Top-margin, 0); i < min(l.window.Bottom()+margin, l.Length()); i++ {
		seq := l.rows().described(i)
		if _, there := c.entries[seq]; seq == 0 || there {
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
	c.loading = l.shared.Ticket()
	return readEntries(l.shared.Load, c.loading, missing)
}

// refresh returns the command that loads visible stale entries again. What is slow to read is read less often.
func (c *cache) refresh() tea.Cmd {
	l := c.list
	if c.refreshing != 0 {
		return nil
	}
	var seen []uint64
	for i := l.window.Top; i < min(l.window.Bottom(), l.Length()); i++ {
		if seq := l.rows().described(i); c.stale[seq] {
			seen = append(seen, seq)
		}
	}
	if len(seen) == 0 {
		return nil
	}
	slices.Sort(seen)
	for _, seq := range seen {
		delete(c.stale, seq)
	}
	c.refreshing = l.shared.Ticket()
	load, pause := l.shared.Load, min(10*c.took, 2*time.Second)
	read := readEntries(load, c.refreshing, seen)
	return func() tea.Msg {
		load.Pause(pause)
		return read()
	}
}

// store keeps entries that were read, and loads those that are still missing.
func (c *cache) store(msg entries) tea.Cmd {
	l := c.list
	switch msg.ticket {
	case c.loading:
		c.loading = 0
	case c.refreshing:
		c.refreshing = 0
		c.took = msg.took
		for _, seq := range msg.left {
			c.stale[seq] = true
		}
	default:
		return nil
	}
	if l.Err = msg.err; msg.err != nil {
		return panel.Say(msg.err.Error())
	}
	for _, e := range msg.list {
		c.entries[e.Seq] = e
	}
	c.evict()
	return tea.Batch(c.loadMissing(), c.refresh())
}

// evict drops entries that are far from the window, if there are too many.
func (c *cache) evict() {
	l := c.list
	if len(c.entries) <= maxCached {
		return
	}
	for seq := range c.entries {
		if i := l.rows().position(seq, l.window.Cursor); i < l.window.Top-2*l.window.Height || i > l.window.Bottom()+2*l.window.Height {
			delete(c.entries, seq)
			delete(c.stale, seq)
		}
	}
}

// Beside returns the exchange that follows one in the list, or that comes before it if step is -1; 0 if there is none.
func (l *Panel) Beside(seq uint64, step int) uint64 { return l.rows().beside(seq, step) }

// Fold folds or unfolds the heading under the cursor. It returns false if none is there.
func (l *Panel) Fold() (tea.Cmd, bool) {
	h, row, is := l.rows().headingAt(l.window.Cursor)
	if !is {
		return nil, false
	}
	s := &l.sorting
	l.sorting.hold()
	s.now.Fold(row.Heading, !s.folds.Folded(h.Key), &s.folds)
	return l.Reposition(), true
}

// Reveal unfolds the headings above an exchange.
func (l *Panel) Reveal(seq uint64) {
	s := &l.sorting
	if s.now == nil {
		return
	}
	for _, k := range s.now.Keys(seq) {
		if s.folds.Folded(k) {
			s.folds.Fold(k, false)
			s.now.Lay(&s.folds)
		}
	}
}

// FindingFrom returns the first exchange with a finding behind an exchange of the list, or before it if step is -1; 0
// if there is none.
func (l *Panel) FindingFrom(seq uint64, step int) uint64 {
	found, now := &l.shared.Found, l.sorting.now
	switch {
	case now != nil:
		place := now.Place(seq) + step
		if h, row, is := l.rows().headingAt(l.window.Cursor); is && l.rows().standIn(&h) == seq {
			if place = now.PlaceOf(row); step < 0 {
				place--
			}
		}
		for ; place >= 0 && place < now.Len(); place += step {
			if _, marked := found.Worst(now.At(place)); marked {
				return now.At(place)
			}
		}
		return 0
	case l.filtering != nil:
		return found.NextOf(l.filtering.matches, seq, step)
	}
	return found.Next(seq, step)
}

// A drawing draws a list as it is.
type drawing struct{ list *Panel }

func (l *Panel) drawing() drawing { return drawing{l} }

func (l *Panel) columns() panel.Columns {
	c := panel.ColumnsOf(l.window.Width-l.sorting.indent(), l.shared.Info.Exchanges)
	c.Number += l.sorting.indent()
	return c
}
