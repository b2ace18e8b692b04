package list

import (
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/sorting"
	"a2atap/tui/load"
)

// An Order is how the list is sorted and grouped. Commands read the values that this needs once, one command at a time,
// and keep them up to date. Before all values are read, the list stays unchanged.
type Order struct {
	lines *Lines

	by       sorting.Order
	reversed bool
	under    sorting.Grouping

	table  *sorting.Table  // used only by the command that busy names
	read   uint64          // exchanges up to this one are in the table
	goal   uint64          // exchanges up to this one will be in the table after the command
	stale  map[uint64]bool // exchanges in the table that have changed since
	whole  bool            // everything was read a moment ago
	dirty  bool            // there are new values to arrange
	busy   uint64          // ticket of the command that uses the table; 0 for none
	resume uint64          // ticket of the pause before it continues on its own; 0 without a pause
	told   uint64          // number of links at the last arrangement
}

// wanted reports whether the list is to be ordered other than by number.
func (o *Order) wanted() bool {
	return o.by != sorting.ByNumber || o.reversed || o.under != sorting.Flat
}

// Names of orders, of their reverse, and of groupings.
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

// words describes the sort order; "" if by number.
func (o *Order) words() string {
	order := orderWords[o.by][0]
	if o.reversed {
		order = orderWords[o.by][1]
	}
	switch group := groupingWords[o.under]; {
	case group == "":
		return order
	case order == "":
		return group
	default:
		return group + ", " + order
	}
}

// change handles the keys for grouping and sorting.
func (o *Order) change(a keys.Action) tea.Cmd {
	switch a {
	case keys.ChangeGrouping:
		o.under = (o.under + 1) % sorting.Groupings
	case keys.ChangeOrder:
		o.by, o.reversed = (o.by+1)%sorting.Orders, false
	case keys.ReverseOrder:
		o.reversed = !o.reversed
	}
	return o.changed()
}

// By sorts the list.
func (o *Order) By(by sorting.Order) tea.Cmd {
	o.by, o.reversed = by, false
	return o.changed()
}

// Under groups the list.
func (o *Order) Under(under sorting.Grouping) tea.Cmd {
	o.under = under
	return o.changed()
}

// changed applies a changed order or grouping.
func (o *Order) changed() tea.Cmd {
	said := "exchanges " + o.words()
	if !o.wanted() {
		o.lines.now = nil
		said = "exchanges by number"
	}
	o.dirty, o.resume = true, 0
	o.lines.shared.Message = said // now, so that it does not hide an error of sorting
	return tea.Batch(o.arrange(), o.lines.Reposition())
}

// refiltered drops the arrangement, since the filter has changed.
func (o *Order) refiltered() tea.Cmd {
	o.lines.now, o.dirty, o.resume = nil, true, 0
	return o.arrange()
}

// outdate marks exchanges as changed.
func (o *Order) outdate(seqs []uint64) {
	for _, seq := range seqs {
		if seq <= max(o.read, o.goal) {
			o.stale[seq] = true
		}
	}
}

// update records the changes in a message.
func (o *Order) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case panel.ExchangesChanged:
		o.outdate(msg.Seqs)
	case panel.RowsChanged:
		o.outdate(msg.Seqs)
	case panel.FindingsChanged:
		o.dirty = o.dirty || o.by == sorting.ByWorst || o.under != sorting.Flat
	case panel.LinksChanged:
		o.dirty = o.dirty || o.under == sorting.ByWorkflow && o.told != o.lines.shared.Load.Links.Told.Load()
	case load.Scanned, load.Retested:
		o.dirty = true
	case tableRead:
		return o.tableRead(msg)
	case arranged:
		return o.arranged(msg)
	case sortingPaused:
		if msg.ticket != o.resume {
			return nil
		}
		o.resume = 0
	}
	return o.arrange()
}

// arrange returns the command that reads more values, or else the one that arranges them, unless one is running.
func (o *Order) arrange() tea.Cmd {
	load := o.lines.shared.Load
	unread := o.read < o.lines.shared.Info.Exchanges || len(o.stale) > 0
	switch {
	case !o.wanted() || o.busy != 0 || o.resume != 0 || !o.lines.shared.Opened || !unread && !o.dirty:
		return nil
	case unread && !(o.whole && o.dirty): // new values wait until those read before are shown
		o.busy = o.lines.shared.Ticket()
		o.goal = o.lines.shared.Info.Exchanges
		return readTable(load, o.busy, o.table, o.read, o.goal, o.takeStale())
	}
	o.busy = o.lines.shared.Ticket()
	o.whole, o.dirty, o.told = false, false, load.Links.Told.Load()
	return arrangeRows(load, o.busy, o.table, o.plan())
}

// takeStale returns exchanges to read again, in order, as many as one command reads.
func (o *Order) takeStale() []uint64 {
	seqs := load.SortedKeys(o.stale)
	seqs = seqs[:min(len(seqs), load.ScanPage)]
	for _, seq := range seqs {
		delete(o.stale, seq)
	}
	return seqs
}

// tableRead stores the values that a command has read.
func (o *Order) tableRead(msg tableRead) tea.Cmd {
	if msg.ticket != o.busy {
		return nil
	}
	o.busy, o.read, o.dirty = 0, max(o.read, msg.read), true
	for _, seq := range msg.left {
		o.stale[seq] = true
	}
	o.whole = msg.read == msg.goal
	if msg.err != nil {
		return o.giveUp(msg.err)
	}
	return o.arrange()
}

// giveUp shows the list by number after an error.
func (o *Order) giveUp(err error) tea.Cmd {
	o.by, o.reversed, o.under, o.lines.now = sorting.ByNumber, false, sorting.Flat, nil
	o.lines.shared.Message = "the list cannot be sorted: " + err.Error()
	return o.lines.Reposition()
}

// arranged shows an arrangement.
func (o *Order) arranged(msg arranged) tea.Cmd {
	if msg.ticket != o.busy {
		return nil
	}
	o.busy = 0
	if msg.err != nil {
		return o.giveUp(msg.err)
	}
	if !o.wanted() || msg.of != o.lines.filtering || msg.under != o.under || msg.by != o.by || msg.reversed != o.reversed {
		o.dirty = true // the user has changed the order since
		return o.arrange()
	}
	shown := o.lines.rearrange(msg.now)
	o.resume = o.lines.shared.Ticket()
	from, ended := o.lines.shared.Load, sortingPaused{o.resume}
	pause := max(load.BatchPause, min(10*msg.took, 2*time.Second))
	return tea.Batch(shown, func() tea.Msg {
		from.Pause(pause)
		return ended
	})
}

// progress describes why the sorted list is delayed; "" if it is not.
func (o *Order) progress() string {
	switch all := o.lines.shared.Info.Exchanges; {
	case !o.wanted() || o.lines.now != nil:
		return o.words()
	case o.read < all:
		return fmt.Sprintf("%s: reading, %d %%", o.words(), 100*o.read/max(all, 1))
	}
	return o.words() + " …"
}

// indent returns the maximum indentation of exchanges in columns.
func (o *Order) indent() int {
	switch now := o.lines.now; {
	case now == nil:
		return 0
	case o.under == sorting.ByTask:
		return 4
	case o.under == sorting.ByWorkflow:
		return 2
	}
	return 0
}

// Messages of the commands that sort the list.
type (
	// tableRead reports the progress of reading the values for sorting.
	tableRead struct {
		ticket     uint64
		read, goal uint64   // exchanges up to read are in the table, of those wanted up to goal
		left       []uint64 // exchanges that still have to be read again
		err        error
	}
	// arranged has a sorted list.
	arranged struct {
		ticket   uint64
		now      *sorting.Arrangement
		of       *filtering // the source of its matches; nil for all
		by       sorting.Order
		reversed bool
		under    sorting.Grouping
		took     time.Duration
		err      error
	}
	// sortingPaused reports that the list may be sorted again.
	sortingPaused struct{ ticket uint64 }
)

// readTable reads the values for sorting within a time limit: those of changed exchanges, and then those of exchanges
// after after, up to goal. It does not read exchanges that have a row in the reading.
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

// tableOf puts exchanges of a sorted list into a table until the time end, and returns the remaining ones.
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
			s := l.Summarize(x)
			r.Put(seq, sortedExchange(&s))
		}
	})
}

// tableFrom continues to read exchanges into a table until the time end.
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
		s := l.Summarize(x)
		r.Put(x.Seq, sortedExchange(&s))
		if answer.read = x.Seq; time.Now().After(end) {
			return nil
		}
	}
	answer.read = answer.goal // missing exchanges count, too
	return nil
}

// sortedExchange returns the values of an exchange for sorting.
func sortedExchange(s *summary.Summary) sorting.Facts {
	e := sorting.Facts{
		Started: s.Started, Took: s.Took, Size: max(s.RequestSize, 0) + max(s.ResponseSize, 0), State: s.State,
		Task: only(s.Task, s.Tasks), Context: only("", s.Contexts), Failed: s.Failed(),
	}
	if e.State != a2a.NoState && !e.State.Terminal() { // final states of tasks stay final
		for _, state := range s.States {
			if state.Terminal() {
				e.State = state
			}
		}
	}
	return e
}

// only returns the id that the exchange is known to be about, or else the only one seen. A list of tasks is about none.
func only(named string, seen []string) string {
	switch {
	case named != "":
		return named
	case len(seen) == 1:
		return seen[0]
	}
	return ""
}

// plan returns the list's current arrangement plan.
func (o *Order) plan() arrangePlan {
	shared, filtering := o.lines.shared, o.lines.filtering
	p := arrangePlan{of: filtering, Plan: sorting.Plan{
		Exchanges: o.read, By: o.by, Reversed: o.reversed, Under: o.under, Worst: slices.Clone(shared.Found.Marks),
		Folds:    o.lines.folds.Clone(),
		Workflow: func(n uint64) uint64 { return shared.Load.Links.Index.Of(n).Workflow },
	}}
	if filtering != nil {
		p.Chosen = append([]uint64{}, filtering.matches...)
	}
	return p
}

// An arrangePlan is a plan for the exchanges of a search, or for all.
type arrangePlan struct {
	sorting.Plan
	of *filtering
}

// arrangeRows arranges the values read.
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
