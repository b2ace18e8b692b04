package list

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture/filter"
	"a2atap/tui/internal/panel"
	"a2atap/tui/load"
)

// seekPage is the number of exchanges that one command examines.
const seekPage = 16 * load.ScanPage

// A seeking searches the list for the next failed exchange, from a place to the end, and then from the other end. It
// works in pieces, since a large capture takes a while.
type seeking struct {
	lines  *Lines
	ticket uint64
	from   int // place of the exchange where the search began
	step   int // 1 or -1
	next   int // place to examine next
	left   int // number of places not examined yet
	arrive func(seq uint64) tea.Cmd
}

// sought is the message of a seeking: the first failed exchange of a piece, or 0.
type sought struct {
	ticket uint64
	seq    uint64
	err    error
}

// NextFailed searches for the next failed exchange after one in the list, or before it if step is -1. It calls arrive
// with the result.
func (l *Panel) NextFailed(seq uint64, step int, arrive func(seq uint64) tea.Cmd) tea.Cmd {
	from := l.rows().place(seq)
	l.seeking = &seeking{lines: &l.Lines, from: from, step: step, next: from + step, left: l.rows().places(), arrive: arrive}
	return l.seeking.piece()
}

// SeeksFailed reports whether the keys for the next finding move to the next failed call instead. They do if the filter
// selects failures, or if failed calls are the only problems found.
func (l *Panel) SeeksFailed() bool {
	if l.filtering != nil && (l.filtering.filter.Needs("failed") || l.filtering.filter.Needs("error")) {
		return true
	}
	s := l.shared
	return s.Found.Total() == 0 && !s.Judged.Behind && s.Judged.Counts.Failed > 0
}

// piece returns the command that examines the next exchanges.
func (s *seeking) piece() tea.Cmd {
	r := s.lines.rows()
	last := r.places() - 1
	var seqs []uint64
	for ; s.left > 0 && last >= 0 && len(seqs) < seekPage; s.left-- {
		if s.next > last {
			s.next = 0
		} else if s.next < 0 {
			s.next = last
		}
		seqs = append(seqs, r.atPlace(s.next))
		s.next += s.step
	}
	if len(seqs) == 0 {
		return panel.Say("no exchange of the list failed")
	}
	s.ticket = s.lines.shared.Ticket()
	l, ticket := s.lines.shared.Load, s.ticket
	return func() tea.Msg {
		answer := sought{ticket: ticket}
		f, err := filter.Parse("is:failed")
		var failed []uint64
		if err == nil {
			failed, err = l.Matching(f, slices.Sorted(slices.Values(seqs)), nil)
		}
		answer.err = err
		for _, seq := range seqs {
			if _, did := slices.BinarySearch(failed, seq); did {
				answer.seq = seq
				break
			}
		}
		return answer
	}
}

// take moves to the exchange found, or continues the search.
func (s *seeking) take(msg sought) tea.Cmd {
	switch {
	case s == nil || msg.ticket != s.ticket:
		return nil
	case msg.err != nil:
		return panel.Say(msg.err.Error())
	case msg.seq == 0:
		return s.piece()
	}
	s.ticket = 0
	at, shared := s.lines.rows().place(msg.seq), s.lines.shared
	switch {
	case at == s.from:
		shared.Message = "no other exchange of the list failed"
	case (at-s.from)*s.step < 0:
		shared.Message = panel.OnFrom("failure", s.step)
	}
	return s.arrive(msg.seq)
}
