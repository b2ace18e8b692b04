package list

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/tui/load"
	"a2atap/tui/sorting"
)

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
func sortedExchange(s *analyzer.Summary) sorting.Exchange {
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
