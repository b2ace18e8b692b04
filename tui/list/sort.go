package list

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/keys"
	"a2atap/tui/load"
	"a2atap/tui/panel"
	"a2atap/tui/sorting"
)

// A order is how the list is sorted and grouped. What that needs of each exchange is read once, by commands of which
// only one runs at a time, and then kept up to date. Until it was read, the list stays as it was.
type order struct {
	list *Panel

	by       sorting.Order
	reversed bool
	under    sorting.Grouping

	now   *sorting.Arrangement // what is shown; nil: exchanges by number, or the matches of the filter
	folds sorting.Folds
	key   sorting.Key // of the heading under the cursor; its Kind is None if that is at an exchange
	keyOf uint64      // the anchor that stands for it

	keyNear int // the number that the heading had

	table  *sorting.Table  // for the command that busy names
	read   uint64          // exchanges up to this one are in the table
	goal   uint64          // up to this one when the command is done
	stale  map[uint64]bool // of these, which have changed since
	whole  bool            // all was read a moment ago
	dirty  bool            // there is something new to arrange
	busy   uint64          // ticket of the command that uses the table; 0 if none does
	resume uint64          // ticket of the pause before it goes on by itself; 0 if there is none
	told   uint64          // how many links were told when it was last arranged
}

// wanted reports whether the list is to be other than by number.
func (s *order) wanted() bool {
	return s.by != sorting.ByNumber || s.reversed || s.under != sorting.Flat
}

// How orders are called, and their reverse; and groupings.
var (
	orderWords = [sorting.Orders][2]string{
		sorting.ByNumber:   {"", "newest first"},
		sorting.ByTime:     {"earliest first", "latest first"},
		sorting.ByDuration: {"longest first", "shortest first"},
		sorting.BySize:     {"biggest first", "smallest first"},
		sorting.ByWorst:    {"worst findings first", "mildest findings first"},
	}
	groupingWords = [sorting.Groupings]string{
		sorting.Flat: "", sorting.ByTask: "by context and task", sorting.ByWorkflow: "by workflow",
	}
)

// words says how the list is sorted, "" if it is by number.
func (s *order) words() string {
	order := orderWords[s.by][0]
	if s.reversed {
		order = orderWords[s.by][1]
	}
	switch group := groupingWords[s.under]; {
	case group == "":
		return order
	case order == "":
		return group
	default:
		return group + ", " + order
	}
}

// change handles the keys that group and sort.
func (o *order) change(a keys.Action) tea.Cmd {
	s := o
	switch a {
	case keys.ChangeGrouping:
		s.under = (s.under + 1) % sorting.Groupings
	case keys.ChangeOrder:
		s.by, s.reversed = (s.by+1)%sorting.Orders, false
	case keys.ReverseOrder:
		s.reversed = !s.reversed
	}
	return o.changed()
}

// SortBy sorts the list.
func (l *Panel) SortBy(by sorting.Order) tea.Cmd {
	l.sorting.by, l.sorting.reversed = by, false
	return l.sorting.changed()
}

// GroupBy groups the list.
func (l *Panel) GroupBy(under sorting.Grouping) tea.Cmd {
	l.sorting.under = under
	return l.sorting.changed()
}

// changed shows the list as it is to be sorted and grouped now.
func (o *order) changed() tea.Cmd {
	l := o.list
	s := o
	said := "exchanges " + s.words()
	if !s.wanted() {
		s.now = nil
		said = "exchanges by number"
	}
	s.dirty, s.resume = true, 0
	l.shared.Message = said // now, so that it does not hide why it cannot be sorted
	return tea.Batch(o.arrange(), l.Reposition())
}

// refiltered drops the arrangement, since the filter is another one.
func (o *order) refiltered() tea.Cmd {
	o.now, o.dirty, o.resume = nil, true, 0
	return o.arrange()
}

// outdate says that exchanges have changed.
func (s *order) outdate(seqs []uint64) {
	for _, seq := range seqs {
		if seq <= max(s.read, s.goal) {
			s.stale[seq] = true
		}
	}
}

// update takes into account what a message has changed.
func (o *order) update(msg tea.Msg) tea.Cmd {
	l := o.list
	s := o
	switch msg := msg.(type) {
	case panel.ExchangesChanged:
		s.outdate(msg.Seqs)
	case panel.RowsChanged:
		s.outdate(msg.Seqs)
	case panel.FindingsChanged:
		s.dirty = s.dirty || s.by == sorting.ByWorst || s.under != sorting.Flat
	case panel.LinksChanged:
		s.dirty = s.dirty || s.under == sorting.ByWorkflow && s.told != l.shared.Load.Links.Told.Load()
	case load.Scanned, load.Retested:
		s.dirty = true
	case tableRead:
		return o.tableRead(msg)
	case arranged:
		return o.arranged(msg)
	case sortingPaused:
		if msg.ticket != s.resume {
			return nil
		}
		s.resume = 0
	}
	return o.arrange()
}

// arrange returns the command that reads on, or else the one that arranges what was read, unless one is under way.
func (o *order) arrange() tea.Cmd {
	l := o.list
	s, load := o, l.shared.Load
	unread := s.read < l.shared.Info.Exchanges || len(s.stale) > 0
	switch {
	case !s.wanted() || s.busy != 0 || s.resume != 0 || !l.shared.Opened || !unread && !s.dirty:
		return nil
	case unread && !(s.whole && s.dirty): // what is new waits until what was read is shown
		s.busy = l.shared.Ticket()
		s.goal = l.shared.Info.Exchanges
		return readTable(load, s.busy, s.table, s.read, s.goal, s.takeStale())
	}
	s.busy = l.shared.Ticket()
	s.whole, s.dirty, s.told = false, false, load.Links.Told.Load()
	return arrangeRows(load, s.busy, s.table, o.plan())
}

// takeStale returns the exchanges that have to be read again, in order, as many as one command reads.
func (s *order) takeStale() []uint64 {
	seqs := load.SortedKeys(s.stale)
	seqs = seqs[:min(len(seqs), load.ScanPage)]
	for _, seq := range seqs {
		delete(s.stale, seq)
	}
	return seqs
}

// tableRead takes note of what was read.
func (o *order) tableRead(msg tableRead) tea.Cmd {
	s := o
	if msg.ticket != s.busy {
		return nil
	}
	s.busy, s.read, s.dirty = 0, max(s.read, msg.read), true
	for _, seq := range msg.left {
		s.stale[seq] = true
	}
	s.whole = msg.read == msg.goal
	if msg.err != nil {
		return o.giveUp(msg.err)
	}
	return o.arrange()
}

// giveUp shows the list by number, since it cannot be sorted.
func (o *order) giveUp(err error) tea.Cmd {
	l := o.list
	s := o
	s.by, s.reversed, s.under, s.now = sorting.ByNumber, false, sorting.Flat, nil
	l.shared.Message = "the list cannot be sorted: " + err.Error()
	return l.Reposition()
}

// arranged shows an arrangement. What was at the cursor stays there, in the same line of the screen.
func (o *order) arranged(msg arranged) tea.Cmd {
	l := o.list
	s := o
	if msg.ticket != s.busy {
		return nil
	}
	s.busy = 0
	if msg.err != nil {
		return o.giveUp(msg.err)
	}
	if !s.wanted() || msg.of != l.filtering || msg.under != s.under || msg.by != s.by || msg.reversed != s.reversed {
		s.dirty = true // the user has changed it since
		return o.arrange()
	}
	line := l.window.Cursor - l.window.Top
	s.now = msg.now
	s.now.Lay(&s.folds)
	l.window.Length = l.Length()
	l.window.Top = max(o.anchored()-line, 0)
	s.resume = l.shared.Ticket()
	from, ended := l.shared.Load, sortingPaused{s.resume}
	pause := max(load.BatchPause, min(10*msg.took, 2*time.Second))
	return tea.Batch(l.Reposition(), l.cache.refresh(), func() tea.Msg {
		from.Pause(pause)
		return ended
	})
}

// progress says what the list waits for before it can be sorted, "" if it does not wait.
func (o *order) progress() string {
	l := o.list
	s := o
	switch all := l.shared.Info.Exchanges; {
	case !s.wanted() || s.now != nil:
		return s.words()
	case s.read < all:
		return fmt.Sprintf("%s: reading, %d %%", s.words(), 100*s.read/max(all, 1))
	}
	return s.words() + " …"
}

// indent is how many columns the exchanges may be indented.
func (o *order) indent() int {
	switch now := o.now; {
	case now == nil:
		return 0
	case o.under == sorting.ByTask:
		return 4
	case o.under == sorting.ByWorkflow:
		return 2
	}
	return 0
}
