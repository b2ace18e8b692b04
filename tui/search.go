package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
)

// scanPage is how many exchanges one command tests.
const scanPage = 256

// A search is a filter and the exchanges that match it. It goes from the newest exchange to the oldest, since people
// usually look for the newest, and is then kept up to date.
type search struct {
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
	testing bool     // a command for them is under way
	err     error

	linked    linked // of a filter that asks for workflows
	relinking bool   // a command looks whether there are other links
}

// Messages of a search.
type (
	// narrowed says which exchanges can match at all, as far as the capture's index knows.
	narrowed struct {
		ticket uint64
		pool   []uint64
		all    bool
		linked linked
		err    error
	}
	// scanned says which of the exchanges from..below match.
	scanned struct {
		ticket      uint64
		from, below uint64
		matches     []uint64
		err         error
	}
	// retested says which of some exchanges match.
	retested struct {
		ticket        uint64
		seqs, matches []uint64
		err           error
	}
)

// newSearch returns a search, which starts with loader.narrow.
func newSearch(expr string, f *filter.Filter, ticket, exchanges uint64) *search {
	return &search{expr: expr, filter: f, ticket: ticket, bound: exchanges + 1, started: exchanges + 1, all: true}
}

// judging reports whether the filter asks for findings.
func (s *search) judging() bool { return s.filter.Asks("rule", "severity", "side") }

// done reports whether all exchanges have been tested.
func (s *search) done() bool { return s.err != nil || s.bound <= 1 }

// percent returns the progress.
func (s *search) percent() int {
	if s.started <= 1 {
		return 100
	}
	return int(100 * (s.started - s.bound) / (s.started - 1))
}

// replace updates matches for the exchanges that were tested.
func (s *search) replace(seqs, matches []uint64) {
	s.matches = slices.DeleteFunc(s.matches, func(seq uint64) bool {
		_, there := slices.BinarySearch(seqs, seq)
		return there
	})
	s.version++
	s.insert(matches)
}

// insert adds sorted exchanges, which are not in matches yet.
func (s *search) insert(found []uint64) {
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
func (s *search) next(l *loader, index *findingIndex) tea.Cmd {
	if s.done() {
		return nil
	}
	if l.kept.reading() != nil {
		below, list, all, f, ticket := s.bound, s.pool, s.all, s.filter, s.ticket
		var found map[uint64][]analyzer.Finding
		if !l.kept.whole() {
			found = s.facts(index, 1, below-1)
		}
		return func() tea.Msg { return l.scanRows(ticket, f, list, all, below, found) }
	}
	if s.all {
		from := uint64(1)
		if s.bound > scanPage {
			from = s.bound - scanPage
		}
		return l.scan(s.ticket, s.filter, nil, from, s.bound, s.facts(index, from, s.bound-1))
	}
	i, _ := slices.BinarySearch(s.pool, s.bound)
	page := s.pool[max(i-scanPage, 0):i]
	if len(page) == 0 {
		return l.scan(s.ticket, s.filter, nil, 1, 1, nil)
	}
	from := page[0]
	if i <= scanPage {
		from = 1
	}
	return l.scan(s.ticket, s.filter, page, from, s.bound, s.facts(index, page[0], page[len(page)-1]))
}

// facts returns the findings that the filter may ask for.
func (s *search) facts(found *findingIndex, from, to uint64) map[uint64][]analyzer.Finding {
	if !s.judging() {
		return nil
	}
	return found.within(from, to)
}

// retestChanged adds exchanges to retest, and returns the command for it unless one is under way. Those that the search
// has not reached yet wait until it has, since it may read them as they were before.
func (s *search) retestChanged(l *loader, found *findingIndex, seqs []uint64) tea.Cmd {
	s.retest = slices.Compact(slices.Sorted(slices.Values(append(s.retest, seqs...))))
	first, _ := slices.BinarySearch(s.retest, s.bound)
	if s.testing || first == len(s.retest) || s.err != nil {
		return nil
	}
	last := min(first+4*scanPage, len(s.retest))
	seqs = slices.Clone(s.retest[first:last])
	s.retest = slices.Delete(s.retest, first, last)
	s.testing = true
	facts := s.facts(found, seqs[0], seqs[len(seqs)-1])
	filter, ticket := s.filter, s.ticket
	return func() tea.Msg {
		answer := retested{ticket: ticket, seqs: seqs}
		answer.matches, answer.err = l.matching(filter, seqs, facts)
		return answer
	}
}

// narrow asks the capture's index, if it has one, which exchanges can match.
func (l *loader) narrow(ticket uint64, f *filter.Filter) tea.Cmd {
	return func() tea.Msg {
		answer := narrowed{ticket: ticket, all: true}
		if f.Asks("workflow") {
			if answer.err = l.narrowToWorkflows(&answer, f); answer.err != nil {
				return answer
			}
		}
		index, ok := l.src.(capture.Index)
		keys := f.Keys()
		if r := l.kept.reading(); r != nil && answer.all && len(keys) == 0 {
			pool, ok, err := withFindings(l.ctx, r, f)
			switch {
			case err != nil:
				l.kept.letGo(l.ctx, err)
			case ok:
				answer.pool, answer.all = pool, false
			}
			return answer
		}
		if !ok || len(keys) == 0 || !answer.all {
			return answer
		}
		answer.all = false
		key := keys[0]
		if key.Kind == "operation" {
			key.Value = reading.Facts{Reading: &reading.Reading{}}.Normalise("op", key.Value)
		}
		for seq, err := range index.Find(l.ctx, key, 1) {
			if err != nil {
				answer.err = err
				return answer
			}
			answer.pool = append(answer.pool, seq)
		}
		return answer
	}
}

// scan tests the exchanges from up to below, or only those of a list among them.
func (l *loader) scan(
	ticket uint64, f *filter.Filter, list []uint64, from, below uint64, found map[uint64][]analyzer.Finding,
) tea.Cmd {
	return func() tea.Msg {
		answer := scanned{ticket: ticket, from: from, below: below}
		if list != nil {
			answer.matches, answer.err = l.matching(f, list, found)
			return answer
		}
		if from >= below {
			return answer
		}
		if answer.err = l.needCards(); answer.err != nil {
			return answer
		}
		for x, err := range l.src.Exchanges(l.ctx, from) {
			if err != nil {
				answer.err = err
				break
			}
			if x.Seq >= below {
				break
			}
			if l.matches(f, x, found) {
				answer.matches = append(answer.matches, x.Seq)
			}
		}
		return answer
	}
}

// matching returns those exchanges of a sorted list that match a filter.
func (l *loader) matching(f *filter.Filter, seqs []uint64, found map[uint64][]analyzer.Finding) ([]uint64, error) {
	if l.kept.reading() != nil {
		return l.deciding(f, seqs, found)
	}
	if err := l.needCards(); err != nil {
		return nil, err
	}
	var chosen []uint64
	_, err := l.each(seqs, 0, time.Now().Add(time.Hour), func(seq uint64, x *capture.Exchange) {
		if x != nil && l.matches(f, x, found) {
			chosen = append(chosen, seq)
		}
	})
	return chosen, err
}

func (l *loader) matches(f *filter.Filter, x *capture.Exchange, found map[uint64][]analyzer.Finding) bool {
	return f.Match(x, reading.Facts{
		Reading: l.reader.Read(x), Findings: found[x.Seq], Workflow: l.links.index.Of(x.Seq).Workflow,
		Marked: l.notes.Now().Of(x.Seq, x.ID).Marked,
	})
}
