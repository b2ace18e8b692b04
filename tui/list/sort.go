package list

import (
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
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

// Messages of the commands with which the list is sorted.
type (
	// tableRead says how far what sorting needs was read.
	tableRead struct {
		ticket     uint64
		read, goal uint64   // exchanges up to read are there; all were wanted up to goal
		left       []uint64 // to be read again, and were not yet
		err        error
	}
	// arranged brings a list that is sorted.
	arranged struct {
		ticket   uint64
		now      *sorting.Arrangement
		of       *filtering // whose matches they are; nil for all
		by       sorting.Order
		reversed bool
		under    sorting.Grouping
		took     time.Duration
		err      error
	}
	// sortingPaused says that the list may be sorted again.
	sortingPaused struct{ ticket uint64 }
)

// readTable reads what sorting needs: of exchanges that have changed, and then of those after one, up to another one,
// as far as it comes in a moment. What a reading tells is not read again.
func readTable(l *load.Loader, ticket uint64, r *sorting.Table, after, goal uint64, stale []uint64) tea.Cmd {
	return func() tea.Msg {
		end := time.Now().Add(load.BatchTime)
		answer := tableRead{ticket: ticket, read: after, goal: goal}
		if answer.left, answer.err = tableOf(l, r, stale, end); answer.err != nil || after >= goal {
			return answer
		}
		if l.Reading.Now() == nil {
			answer.err = tableFrom(l, r, &answer, end)
			return answer
		}
		for answer.read < goal && !time.Now().After(end) {
			var page []uint64
			for seq := answer.read + 1; seq <= min(answer.read+load.ScanPage, goal); seq++ {
				page = append(page, seq)
			}
			left, err := tableOf(l, r, page, end)
			if answer.err = err; err != nil {
				return answer
			}
			if answer.read = page[len(page)-1]; len(left) > 0 {
				answer.read = left[0] - 1
			}
		}
		return answer
	}
}

// tableOf puts exchanges of a sorted list into a table until the time end, and returns those that are left.
func tableOf(l *load.Loader, r *sorting.Table, seqs []uint64, end time.Time) (left []uint64, err error) {
	var unread []uint64
	for _, seq := range seqs {
		row := l.Reading.Row(l.Context, seq)
		switch {
		case row != nil:
			r.Put(seq, sortedExchange(&row.Summary))
		case !l.Reading.Whole() || l.Reading.Behind(seq):
			unread = append(unread, seq)
		}
	}
	if len(unread) == 0 {
		return nil, nil
	}
	if err := l.NeedCards(); err != nil {
		return nil, err
	}
	return l.Each(unread, load.EntryEvents, end, func(seq uint64, x *capture.Exchange) {
		if x != nil {
			s := l.Summarise(x)
			r.Put(seq, sortedExchange(&s))
		}
	})
}

// tableFrom reads exchanges on into a table until the time end.
func tableFrom(l *load.Loader, r *sorting.Table, answer *tableRead, end time.Time) error {
	if err := l.NeedCards(); err != nil {
		return err
	}
	for x, err := range l.Source.Ends(l.Context, answer.read+1, load.EntryEvents) {
		if err != nil {
			return err
		}
		if x.Seq > answer.goal {
			break
		}
		s := l.Summarise(x)
		r.Put(x.Seq, sortedExchange(&s))
		if answer.read = x.Seq; time.Now().After(end) {
			return nil
		}
	}
	answer.read = answer.goal // what the capture does not have counts, too
	return nil
}

// sortedExchange returns what sorting needs of an exchange.
func sortedExchange(s *summary.Summary) sorting.Exchange {
	e := sorting.Exchange{
		Started: s.Started, Took: s.Took, Size: max(s.RequestSize, 0) + max(s.ResponseSize, 0), State: s.State,
		Task: only(s.Task, s.Tasks), Context: only("", s.Contexts), Failed: s.Failed(),
	}
	if e.State != a2a.NoState && !e.State.Terminal() { // what ended a task is not taken back
		for _, state := range s.States {
			if state.Terminal() {
				e.State = state
			}
		}
	}
	return e
}

// only returns the id that the exchange is known to be about, or else the one of those that were seen. A list of tasks
// is about none.
func only(named string, seen []string) string {
	switch {
	case named != "":
		return named
	case len(seen) == 1:
		return seen[0]
	}
	return ""
}

// plan says how the list is to be arranged now.
func (o *order) plan() arrangePlan {
	l := o.list
	s := o
	p := arrangePlan{of: l.filtering, Plan: sorting.Plan{
		Exchanges: s.read, By: s.by, Reversed: s.reversed, Under: s.under, Worst: slices.Clone(l.shared.Found.Marks),
		Folds:    s.folds.Clone(),
		Workflow: func(n uint64) uint64 { return l.shared.Load.Links.Index.Of(n).Workflow },
	}}
	if l.filtering != nil {
		p.Chosen = append([]uint64{}, l.filtering.matches...)
	}
	return p
}

// An arrangePlan is a plan for the exchanges of a search, or for all.
type arrangePlan struct {
	sorting.Plan
	of *filtering
}

// arrangeRows arranges what was read.
func arrangeRows(l *load.Loader, ticket uint64, r *sorting.Table, p arrangePlan) tea.Cmd {
	return func() tea.Msg {
		if p.Under == sorting.ByWorkflow {
			l.NeedLinks()
		}
		begin := time.Now()
		answer := arranged{ticket: ticket, of: p.of, by: p.By, reversed: p.Reversed, under: p.Under}
		answer.now, answer.err = r.Arrange(l.Context, p.Plan)
		answer.took = time.Since(begin)
		return answer
	}
}

// hold remembers what is under the cursor: the cursor stays at it.
func (o *order) hold() {
	l := o.list
	s := o
	h, row, is := l.rows().headingAt(l.window.Cursor)
	s.key = sorting.Key{}
	if is {
		s.key, s.keyNear = h.Key, row.Heading
	}
	l.anchor = l.Selected()
	s.keyOf = l.anchor
}

// anchored returns the position of what the cursor stays at.
func (o *order) anchored() int {
	l := o.list
	s := o
	if s.now != nil && s.key.Kind != sorting.None && s.keyOf == l.anchor {
		if row, there := s.now.RowOfHeading(s.key, s.keyNear); there {
			return row
		}
	}
	return l.rows().position(l.anchor, l.window.Cursor)
}

// foldAll folds all headings, or unfolds them if they are folded.
func (o *order) foldAll() tea.Cmd {
	l := o.list
	s := o
	s.folds.FoldAll(!s.folds.All())
	s.now.Lay(&s.folds)
	return l.Reposition()
}
