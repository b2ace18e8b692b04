package list

import (
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/snapshot"
	"a2atap/proxy/capture/filter"
	"a2atap/tui/internal/panel"
	"a2atap/tui/load"
)

// A filtering is a filter and the exchanges that match it. It tests from the newest exchange to the oldest, since
// people usually look for the newest. It then stays up to date.
type filtering struct {
	shared  *panel.Shared
	expr    string
	filter  *filter.Filter
	ticket  uint64
	matches []uint64 // in order
	version int      // of matches; it grows when they change
	pool    []uint64 // exchanges to test, in order; if all is false
	all     bool     // all exchanges below bound are to be tested
	bound   uint64   // exchanges from here on have been tested; they are tested again when they change
	started uint64   // the first bound, to compute the progress
	retest  []uint64 // changed since they were tested
	testing bool     // a command is testing them
	err     error

	linked    load.Linked // links for a filter about workflows
	relinking bool        // a command is checking for changed links
}

// newFiltering returns a filter. It starts with Loader.Narrow.
func newFiltering(s *panel.Shared, expr string, f *filter.Filter) *filtering {
	all := s.Info.Exchanges + 1
	return &filtering{shared: s, expr: expr, filter: f, ticket: s.Ticket(), bound: all, started: all, all: true}
}

// judging reports whether the filter has terms about findings.
func (s *filtering) judging() bool { return s.filter.Asks(snapshot.FindingKeys...) }

// done reports whether all exchanges have been tested.
func (s *filtering) done() bool { return s.err != nil || s.bound <= 1 }

// percent returns the progress.
func (s *filtering) percent() int {
	if s.started <= 1 {
		return 100
	}
	return int(100 * (s.started - s.bound) / (s.started - 1))
}

// progress describes the progress of the search, and what may still change its matches.
func (s *filtering) progress() string {
	switch {
	case s == nil:
		return ""
	case s.err != nil:
		return "! " + s.err.Error()
	case !s.done():
		return fmt.Sprintf("searching, %d %%", s.percent())
	case !s.shared.Judged.Behind || s.shared.Load.Reading.Whole(): // rows have the results
	case s.filter.Asks("workflow"):
		return "causes are still being read"
	case s.judging():
		return s.shared.Running()
	}
	return ""
}

// replace updates matches for the exchanges that were tested.
func (s *filtering) replace(seqs, matches []uint64) {
	s.matches = slices.DeleteFunc(s.matches, func(seq uint64) bool {
		_, there := slices.BinarySearch(seqs, seq)
		return there
	})
	s.version++
	s.insert(matches)
}

// insert adds sorted exchanges, which are not in matches yet.
func (s *filtering) insert(found []uint64) {
	if len(found) == 0 {
		return
	}
	s.version++
	switch n := len(s.matches); {
	case n == 0 || found[0] > s.matches[n-1]:
		s.matches = append(s.matches, found...)
		return
	case found[len(found)-1] < s.matches[0]:
		s.matches = slices.Insert(s.matches, 0, found...)
		return
	}
	s.matches = append(s.matches, found...)
	slices.Sort(s.matches)
	s.matches = slices.Compact(s.matches)
}

// next returns the command that continues the search, or nil if nothing is left.
func (s *filtering) next() tea.Cmd {
	if s.done() {
		return nil
	}
	l := s.shared.Load
	if l.Reading.Now() != nil {
		below, list, all, f, ticket := s.bound, s.pool, s.all, s.filter, s.ticket
		var found map[uint64][]analysis.Finding
		if !l.Reading.Whole() {
			found = s.facts(1, below-1)
		}
		return func() tea.Msg { return l.ScanRows(ticket, f, list, all, below, found) }
	}
	if s.all {
		from := uint64(1)
		if s.bound > load.ScanPage {
			from = s.bound - load.ScanPage
		}
		return l.Scan(s.ticket, s.filter, nil, from, s.bound, s.facts(from, s.bound-1))
	}
	i, _ := slices.BinarySearch(s.pool, s.bound)
	page := s.pool[max(i-load.ScanPage, 0):i]
	if len(page) == 0 {
		return l.Scan(s.ticket, s.filter, nil, 1, 1, nil)
	}
	from := page[0]
	if i <= load.ScanPage {
		from = 1
	}
	return l.Scan(s.ticket, s.filter, page, from, s.bound, s.facts(page[0], page[len(page)-1]))
}

// facts returns the findings that the filter may need.
func (s *filtering) facts(from, to uint64) map[uint64][]analysis.Finding {
	if !s.judging() {
		return nil
	}
	return s.shared.Found.Within(from, to)
}

// retestChanged adds exchanges to retest, and returns the command for it unless one is running. It delays those that
// the search has not reached yet, since the search may read an older state of them.
func (s *filtering) retestChanged(seqs []uint64) tea.Cmd {
	s.retest = slices.Compact(slices.Sorted(slices.Values(append(s.retest, seqs...))))
	first, _ := slices.BinarySearch(s.retest, s.bound)
	if s.testing || first == len(s.retest) || s.err != nil {
		return nil
	}
	last := min(first+4*load.ScanPage, len(s.retest))
	seqs = slices.Clone(s.retest[first:last])
	s.retest = slices.Delete(s.retest, first, last)
	s.testing = true
	facts := s.facts(seqs[0], seqs[len(seqs)-1])
	l, filter, ticket := s.shared.Load, s.filter, s.ticket
	return func() tea.Msg {
		answer := load.Retested{Ticket: ticket, Seqs: seqs}
		answer.Matches, answer.Err = l.Matching(filter, seqs, facts)
		return answer
	}
}

// relinked has the exchanges whose workflow's first exchange has changed, if the filter depends on it.
type relinked struct {
	ticket  uint64
	linked  load.Linked
	changed []uint64
	took    time.Duration
}

// relinked retests the exchanges whose workflow has changed.
func (s *filtering) relinked(msg tea.Msg) tea.Cmd {
	if s == nil || !s.filter.Asks("workflow") {
		return nil
	}
	switch msg := msg.(type) {
	case relinked:
		if msg.ticket != s.ticket {
			return nil
		}
		s.linked, s.relinking = msg.linked, false
		return tea.Batch(s.retestChanged(msg.changed), s.relink(msg.took))
	case panel.LinksChanged:
		return s.relink(0)
	}
	return nil
}

// relink returns a command that finds exchanges whose workflow has changed, if there are new links. It runs less often
// if it is slow.
func (s *filtering) relink(took time.Duration) tea.Cmd {
	l, exchanges := s.shared.Load, s.shared.Info.Exchanges
	if s.relinking || s.linked.Begins == nil || s.linked.Told == l.Links.Told.Load() {
		return nil
	}
	s.relinking = true
	before, f, ticket := s.linked, s.filter, s.ticket
	return func() tea.Msg {
		l.Pause(min(10*took, 2*time.Second))
		begin := time.Now()
		answer := relinked{ticket: ticket, linked: l.Links.Now(exchanges)}
		may := func(began uint64) bool { return f.MayMatch("workflow", int64(began)) }
		for i, began := range answer.linked.Begins {
			if was := before.Began(i); was != began && (may(was) || may(began)) {
				answer.changed = append(answer.changed, uint64(i)+1)
			}
		}
		answer.took = time.Since(begin)
		return answer
	}
}

// take handles the result of a test. It returns the next command, and whether the message was for it.
func (s *filtering) take(msg tea.Msg) (cmd tea.Cmd, mine bool) {
	if s == nil {
		return nil, false
	}
	var relink tea.Cmd
	switch msg := msg.(type) {
	case load.Narrowed:
		if msg.Ticket != s.ticket {
			return nil, false
		}
		s.pool, s.all, s.err = msg.Pool, msg.All, msg.Err
		if msg.Decided {
			s.insert(msg.Pool)
			s.bound = 1
		}
		s.linked = msg.Linked
		relink = s.relink(0)
	case load.Scanned:
		if msg.Ticket != s.ticket {
			return nil, false
		}
		s.bound, s.err = msg.From, msg.Err
		s.insert(msg.Matches)
	case load.Retested:
		if msg.Ticket != s.ticket {
			return nil, false
		}
		s.testing, s.err = false, msg.Err
		s.replace(msg.Seqs, msg.Matches)
		return s.retestChanged(nil), true
	}
	return tea.Batch(relink, s.next(), s.retestChanged(nil)), true
}

// retestMarks retests exchanges whose notes have changed, if the filter may depend on marks.
func (s *filtering) retestMarks(seqs []uint64) tea.Cmd {
	if s == nil || !s.filter.Asks("is") {
		return nil
	}
	if seqs == nil {
		for _, note := range s.shared.Notes.All() {
			if note.Seq <= s.shared.Info.Exchanges {
				seqs = append(seqs, note.Seq)
			}
		}
	}
	return s.retestChanged(seqs)
}
