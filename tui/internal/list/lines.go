package list

import (
	"math"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/sorting"
	"a2atap/tui/load"
)

// Lines are the current lines of the list: the contents of each, the cursor, and the loaded rows. Loaded rows are those
// on the screen and some around them.
type Lines struct {
	shared    *panel.Shared
	window    panel.Window // over positions; its height is that of the exchanges
	height    int          // of the panel
	below     int          // number of lines that the filter takes
	filtering *filtering   // nil without a filter

	now   *sorting.Arrangement // the shown order; nil: exchanges by number, or the matches of the filter
	folds sorting.Folds

	Follow  bool
	anchor  uint64      // the exchange that the user selected last: the cursor stays at or near it
	key     sorting.Key // of the heading under the cursor; its Kind is None if the cursor is on an exchange
	keyOf   uint64      // the anchor that represents the heading
	keyNear int         // the number that the heading had

	entries    map[uint64]load.Entry
	stale      map[uint64]bool // entries that are out of date
	loading    uint64          // ticket of the command that loads entries; 0 for none
	refreshing uint64          // the same for stale entries
	took       time.Duration   // duration of the last load of stale entries
	Err        error
}

// rows returns the current mapping from lines to contents.
func (l *Lines) rows() rows {
	matches, filtered := l.Matches()
	return rows{l.now, matches, filtered, int(l.shared.Info.Exchanges)}
}

// Matches returns the known matches of the filter, and whether there is a filter.
func (l *Lines) Matches() (seqs []uint64, is bool) {
	if l.filtering == nil {
		return nil, false
	}
	return l.filtering.matches, true
}

// Length returns the number of lines of the list.
func (l *Lines) Length() int { return l.rows().length() }

// Selected returns the exchange under the cursor, the first one under a heading, or 0.
func (l *Lines) Selected() uint64 {
	if l.window.Cursor >= l.Length() {
		return 0
	}
	if h, _, is := l.rows().headingAt(l.window.Cursor); is {
		return l.rows().standIn(&h)
	}
	return l.rows().at(l.window.Cursor)
}

// AtEnd reports whether the last exchange of the list is selected.
func (l *Lines) AtEnd() bool { return l.window.Cursor >= l.window.Length-1 }

// Beside returns the exchange after one in the list, or before it if step is -1; 0 at the end.
func (l *Lines) Beside(seq uint64, step int) uint64 { return l.rows().beside(seq, step) }

// NextFinding returns the next exchange with a finding after one in the list, or before it if step is -1, wrapping
// around at the end. words reports the wrap, or why there is no other one, in which case next is 0.
func (l *Lines) NextFinding(seq uint64, step int) (next uint64, words string) {
	if next = l.findingFrom(seq, step); next != 0 {
		return next, ""
	}
	if l.shared.Judged.Behind {
		return 0, "no further finding in this direction so far; " + l.shared.Running()
	}
	switch next = l.outermostFinding(step); {
	case next == 0 || next == seq:
		return 0, "no further finding in the list"
	}
	return next, panel.OnFrom("finding", step)
}

// findingFrom returns the next exchange with a finding after one in the list, or before it if step is -1. It returns 0
// if it finds none.
func (l *Lines) findingFrom(seq uint64, step int) uint64 {
	found, now := &l.shared.Found, l.now
	switch {
	case now != nil:
		place := now.Place(seq) + step
		if h, row, is := l.rows().headingAt(l.window.Cursor); is && l.rows().standIn(&h) == seq {
			if place = now.PlaceOf(row); step < 0 {
				place--
			}
		}
		return l.findingAt(place, step)
	case l.filtering != nil:
		return found.NextOf(l.filtering.matches, seq, step)
	}
	return found.Next(seq, step)
}

// findingAt returns the first exchange with a finding from a place in a sorted list on; 0 if it finds none.
func (l *Lines) findingAt(place, step int) uint64 {
	for ; place >= 0 && place < l.now.Len(); place += step {
		if _, marked := l.shared.Found.Worst(l.now.At(place)); marked {
			return l.now.At(place)
		}
	}
	return 0
}

// outermostFinding returns the first exchange of the list with a finding, or the last one if step is -1.
func (l *Lines) outermostFinding(step int) uint64 {
	seq, place := uint64(0), 0
	if step < 0 {
		seq, place = math.MaxUint64, l.rows().places()-1
	}
	switch {
	case l.now != nil:
		return l.findingAt(place, step)
	case l.filtering != nil:
		return l.shared.Found.NextOf(l.filtering.matches, seq, step)
	}
	return l.shared.Found.Next(seq, step)
}

// Choose puts the cursor on an exchange, or near it if it is not in the list.
func (l *Lines) Choose(seq uint64) tea.Cmd {
	l.anchor = seq
	return l.Reposition()
}

// Begin places the cursor at the start: on the first exchange of a finished capture, on the newest of a growing one.
func (l *Lines) Begin() {
	l.anchor = min(1, l.shared.Info.Exchanges)
	if l.shared.Info.Live {
		l.anchor = l.shared.Info.Exchanges
	}
}

// goTo moves the cursor to an exchange that the user requested, even if it is folded away.
func (l *Lines) goTo(seq uint64) tea.Cmd {
	l.Reveal(seq)
	l.Follow, l.anchor, l.key = false, seq, sorting.Key{}
	return l.Reposition()
}

// Reposition keeps the cursor at its exchange when the list has changed, and loads visible rows.
func (l *Lines) Reposition() tea.Cmd {
	l.window.Length = l.Length()
	l.window.Height = max(l.height-1-l.below, 0)
	switch {
	case l.Follow && l.now != nil:
		l.anchor, l.key = l.now.Newest(), sorting.Key{}
		l.window.Move(l.rows().position(l.anchor, l.window.Cursor))
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

// hold anchors the cursor to the line under it.
func (l *Lines) hold() {
	h, row, is := l.rows().headingAt(l.window.Cursor)
	l.key = sorting.Key{}
	if is {
		l.key, l.keyNear = h.Key, row.Heading
	}
	l.anchor = l.Selected()
	l.keyOf = l.anchor
}

// anchored returns the position of the anchor.
func (l *Lines) anchored() int {
	if l.now != nil && l.key.Kind != sorting.None && l.keyOf == l.anchor {
		if row, there := l.now.RowOfHeading(l.key, l.keyNear); there {
			return row
		}
	}
	return l.rows().position(l.anchor, l.window.Cursor)
}

// rearrange shows another arrangement. The cursor keeps its contents and its line on the screen.
func (l *Lines) rearrange(now *sorting.Arrangement) tea.Cmd {
	line := l.window.Cursor - l.window.Top
	l.now = now
	l.now.Lay(&l.folds)
	l.window.Length = l.Length()
	l.window.Top = max(l.anchored()-line, 0)
	return tea.Batch(l.Reposition(), l.refresh())
}

// Fold folds or unfolds the heading under the cursor. It returns false if the cursor is not on a heading.
func (l *Lines) Fold() (tea.Cmd, bool) {
	h, row, is := l.rows().headingAt(l.window.Cursor)
	if !is {
		return nil, false
	}
	l.hold()
	l.now.Fold(row.Heading, !l.folds.Folded(h.Key), &l.folds)
	return l.Reposition(), true
}

// foldAll folds all headings, or unfolds them if they are folded.
func (l *Lines) foldAll() tea.Cmd {
	l.folds.FoldAll(!l.folds.All())
	l.now.Lay(&l.folds)
	return l.Reposition()
}

// Reveal unfolds the headings above an exchange.
func (l *Lines) Reveal(seq uint64) {
	if l.now == nil {
		return
	}
	for _, k := range l.now.Keys(seq) {
		if l.folds.Folded(k) {
			l.folds.Fold(k, false)
			l.now.Lay(&l.folds)
		}
	}
}

// Entry returns the row of an exchange, if it is loaded.
func (l *Lines) Entry(seq uint64) (load.Entry, bool) {
	e, there := l.entries[seq]
	return e, there
}

// entries is the message of readEntries.
type entries struct {
	ticket uint64
	list   []load.Entry
	left   []uint64 // not read, since time was up
	glance bool     // the entries omit everything that may have to be hidden
	took   time.Duration
	err    error
}

// readEntries makes the rows of a sorted list of exchanges. It reads exchanges that have no row in the reading.
func readEntries(l *load.Loader, ticket uint64, seqs []uint64) tea.Cmd {
	return func() tea.Msg {
		answer := entries{ticket: ticket, glance: !l.Known()}
		begin := time.Now()
		var unread []uint64
		for _, seq := range seqs {
			if row := l.Reading.Row(l.Context, seq); row != nil {
				answer.list = append(answer.list, load.RowEntry(row))
			} else {
				unread = append(unread, seq)
			}
		}
		answer.left, answer.err = l.Glance(unread, begin.Add(load.BatchTime), func(seq uint64, x *capture.Exchange) {
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

// loadMissing returns the command that loads missing entries in and around the window.
func (l *Lines) loadMissing() tea.Cmd {
	if l.loading != 0 {
		return nil
	}
	var missing, seen []uint64
	margin := max(l.window.Height, 1)
	for i := max(l.window.Top-margin, 0); i < min(l.window.Bottom()+margin, l.Length()); i++ {
		seq := l.rows().described(i)
		if _, there := l.entries[seq]; seq == 0 || there {
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
	if len(seen) > 0 { // visible entries come first, entries around them later
		missing = seen
	}
	slices.Sort(missing)
	l.loading = l.shared.Ticket()
	return readEntries(l.shared.Load, l.loading, missing)
}

// refresh returns the command that reloads visible stale entries. Slow reads are less frequent.
func (l *Lines) refresh() tea.Cmd {
	if l.refreshing != 0 {
		return nil
	}
	var seen []uint64
	for i := l.window.Top; i < min(l.window.Bottom(), l.Length()); i++ {
		if seq := l.rows().described(i); l.stale[seq] {
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

// outdate marks exchanges as changed, and returns the command that reloads the visible ones.
func (l *Lines) outdate(seqs []uint64) tea.Cmd {
	for _, seq := range seqs {
		if _, there := l.entries[seq]; there {
			l.stale[seq] = true
		}
	}
	return tea.Batch(l.Reposition(), l.refresh())
}

// outdateAll is outdate for all exchanges.
func (l *Lines) outdateAll() tea.Cmd {
	for seq := range l.entries {
		l.stale[seq] = true
	}
	return l.refresh()
}

// store stores loaded entries, and loads those that are still missing.
func (l *Lines) store(msg entries) tea.Cmd {
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
		l.entries[e.Seq] = e
		if msg.glance && l.shared.Load.Known() {
			l.stale[e.Seq] = true
		}
	}
	l.evict()
	return tea.Batch(l.loadMissing(), l.refresh())
}

// evict drops entries far from the window, if there are too many.
func (l *Lines) evict() {
	if len(l.entries) <= maxCached {
		return
	}
	for seq := range l.entries {
		if i := l.rows().position(seq, l.window.Cursor); i < l.window.Top-2*l.window.Height || i > l.window.Bottom()+2*l.window.Height {
			delete(l.entries, seq)
			delete(l.stale, seq)
		}
	}
}
