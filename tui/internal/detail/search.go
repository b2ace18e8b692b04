package detail

import (
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/tui/document"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/panel"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// A match is one place in the detail where the pattern occurs: the n-th, from 0, before the events, in one event, or
// after the events.
type match struct {
	zone  zone
	index int // of the event
	n     int
}

// A search is the search in a detail. Matches before and after the events are counted with the document. The search
// reads the events from the capture, from the first to the last, and stores sixteen bytes for each event with matches.
type search struct {
	in      *content
	rows    *eventRows
	ticket  uint64         // of the events being searched; 0 for none
	next    int            // events before this one have been searched
	arrival uint64         // where the search for that event begins
	events  []eventMatches // in order
	stopped bool           // by the user
	err     error
	quiet   bool   // no message if there is no match, since the user did not search here
	step    int    // which match to move to once it is known: 1 the next, -1 the previous, 0 none
	goal    *match // the match to move to once the document shows it
	tries   int    // number of documents that did not show it
	here    match  // the current match
	there   bool   // here is set
}

// An eventMatches has the number of matches in the events up to one with matches.
type eventMatches struct{ index, upto int }

// restart searches from the beginning, since the content has changed.
func (f *search) restart() {
	*f = search{in: f.in, rows: f.rows}
}

// stay cancels a pending move to a match.
func (f *search) stay() { f.step, f.goal = 0, nil }

// inEvents returns the number of matches in the events before one, and in it.
func (f *search) inEvents(index int) (before, in int) {
	n, exact := slices.BinarySearchFunc(f.events, index, func(e eventMatches, i int) int { return e.index - i })
	if n > 0 {
		before = f.events[n-1].upto
	}
	if exact {
		in = f.events[n].upto - before
	}
	return before, in
}

// numberIn returns the number of the current match in the part of the detail that a spot is in; -1 if the match is
// elsewhere.
func (f *search) numberIn(s spot) int {
	if f.there && f.here.zone == s.zone && (s.zone != zoneEvents || f.here.index == s.index) {
		return f.here.n
	}
	return -1
}

// counts returns the numbers of known matches before the events, in them and after them.
func (f *search) counts() (before, in, after int) {
	if n := len(f.events); n > 0 {
		in = f.events[n-1].upto
	}
	return document.MatchesIn(f.in.doc.Before), in, document.MatchesIn(f.in.doc.After)
}

// done reports whether everything available has been searched.
func (f *search) done() bool {
	return f.stopped || f.err != nil || !f.in.More && f.next >= f.in.Events.Length()
}

// running reports whether the search is incomplete.
func (f *search) running() bool { return f.in.pattern != nil && f.in.Exchange != nil && !f.done() }

// words describes the state of the search.
func (f *search) words() string {
	if f.in.pattern == nil || f.in.doc.Pattern != f.in.pattern {
		return ""
	}
	before, in, after := f.counts()
	words := text.Number(before+in+after) + " matches"
	if f.there {
		words = fmt.Sprintf("match %s of %s", text.Number(f.position(f.here)+1), text.Number(before+in+after))
	} else if before+in+after == 1 {
		words = "1 match"
	}
	switch {
	case f.err != nil:
		words += ", ! " + f.err.Error()
	case f.running():
		words += fmt.Sprintf(", searching %d %%", 100*f.next/max(f.in.Events.Length(), 1))
	case f.stopped && f.next < f.in.Events.Length():
		words += fmt.Sprintf(" in %s", text.Plural(f.next, "event"))
	}
	return words
}

// position returns the place of a match among all, from 0.
func (f *search) position(m match) int {
	before, in, _ := f.counts()
	switch m.zone {
	case zoneEvents:
		passed, _ := f.inEvents(m.index)
		return before + passed + m.n
	case zoneAfter:
		return before + in + m.n
	}
	return m.n
}

// at is the inverse of position.
func (f *search) at(position int) match {
	before, in, _ := f.counts()
	switch {
	case position < before:
		return match{zoneBefore, 0, position}
	case position >= before+in:
		return match{zoneAfter, 0, position - before - in}
	}
	position -= before
	n, _ := slices.BinarySearchFunc(f.events, position, func(e eventMatches, p int) int {
		if e.upto <= p {
			return -1
		}
		return 1
	})
	index := f.events[n].index
	passed, _ := f.inEvents(index)
	return match{zoneEvents, index, position - passed}
}

// lookFor searches for a pattern, and moves to the first match at or after the cursor. A nil pattern ends the search.
func (f *search) lookFor(p *find.Pattern) tea.Cmd {
	f.restart()
	if f.in.pattern = p; p != nil {
		f.step = 1
		f.in.limit = document.MaxShown
	}
	return f.in.build()
}

// goOn moves to the next or previous match, once it is known.
func (f *search) goOn(step int) tea.Cmd {
	if f.in.pattern != f.in.shared.Pattern { // another panel has changed it since
		cmd := f.lookFor(f.in.shared.Pattern)
		f.step = step
		return cmd
	}
	f.step, f.stopped, f.quiet = step, false, false
	return tea.Batch(f.searchOn(), f.advance())
}

// cancel stops a running search, and reports whether one was running.
func (f *search) cancel() bool {
	if !f.running() {
		return false
	}
	f.stay()
	f.stopped, f.ticket = true, 0
	return true
}

// searchOn returns the command that continues the search in the events.
func (f *search) searchOn() tea.Cmd {
	if f.in.pattern == nil || f.ticket != 0 || f.stopped || f.err != nil || f.next >= f.in.Events.Length() || !f.in.Ready {
		return nil
	}
	f.ticket = f.in.shared.Ticket()
	return searchEvents(f.in.shared.Load, f.ticket, f.in.source(), f.next, f.arrival)
}

// searched handles the results of searched events.
func (f *search) searched(msg eventsSearched) tea.Cmd {
	if msg.ticket != f.ticket {
		return nil
	}
	f.ticket, f.next, f.arrival, f.err = 0, msg.next, msg.arrival, msg.err
	_, sum, _ := f.counts()
	for _, e := range msg.found {
		sum += e.upto
		f.events = append(f.events, eventMatches{e.index, sum})
	}
	return tea.Batch(f.searchOn(), f.advance())
}

// advance moves to the requested match, if it is known by now.
func (f *search) advance() tea.Cmd {
	if f.step == 0 || !f.in.Ready || f.in.building != 0 || f.in.doc.Pattern != f.in.pattern {
		return nil
	}
	before, in, after := f.counts()
	all, step := before+in+after, f.step
	to, sure := f.nextMatch(step)
	if !sure && !f.done() {
		return nil
	}
	f.step = 0
	wrapped := to < 0 || to >= all
	switch {
	case all == 0 && f.quiet:
		return nil
	case all == 0:
		return panel.Say("no match for " + f.in.pattern.String())
	case to < 0:
		to = all - 1
	case to >= all:
		to = 0
	}
	m := f.at(to)
	f.goal, f.tries = &m, 0
	if wrapped && step > 0 {
		f.in.shared.Message = "no match further down; the search continues at the top"
	} else if wrapped {
		f.in.shared.Message = "no match further up; the search continues at the end"
	}
	return f.toMatch()
}

// nextMatch returns the position of the match before or after the cursor, which may not exist, and whether it is
// certain although the search is incomplete.
func (f *search) nextMatch(step int) (position int, sure bool) {
	s := f.in.spot()
	lines, _, i := f.in.part(s)
	n := 0 // matches of the part before the cursor
	if i > 0 {
		n = lines[min(i, len(lines))-1].Upto
	}
	if here := f.numberIn(s); here >= 0 && i >= 0 && i < len(lines) && lines[i].Has(here) {
		n = here
		if step > 0 {
			n++
		}
	}
	to := f.position(match{s.zone, s.index, n})
	if step < 0 {
		to--
		return to, to >= 0 && (s.zone == zoneBefore || s.zone == zoneEvents && s.index <= f.next)
	}
	before, in, _ := f.counts()
	return to, to < before+in
}

// toMatch moves to the goal. If the goal's event is closed or the goal is folded, it first opens or unfolds that.
func (f *search) toMatch() tea.Cmd {
	if f.goal == nil || f.in.building != 0 || !f.in.Ready {
		return nil
	}
	m := *f.goal
	if f.tries++; f.tries > document.MaxPointed+2 { // the exchange has changed
		f.goal = nil
		return nil
	}
	if _, open := f.in.doc.Open[m.index]; m.zone == zoneEvents && !open {
		return f.in.openFor(m.index)
	}
	lines, first, _ := f.in.part(spot{m.zone, m.index, 0})
	i := slices.IndexFunc(lines, func(l document.Line) bool { return l.Upto > m.n })
	switch {
	case i < 0:
		f.goal = nil
		return nil
	case !lines[i].Has(m.n):
		f.in.folding.Toggle(lines[i].Place)
		return f.in.build()
	}
	f.goal, f.here, f.there = nil, m, true
	f.in.show(first + i)
	return f.rows.read()
}

// eventsSearched is the message of searchEvents.
type eventsSearched struct {
	ticket  uint64
	next    int            // events before this one have been searched
	arrival uint64         // where the search for it begins
	found   []eventMatches // events with matches; upto is the number of matches in the event itself
	err     error
}

// searchEvents searches the events of a stream for a limited time, starting with event from. It searches for that event
// from an arrival number on.
func searchEvents(l *load.Loader, ticket uint64, s document.Source, from int, arrival uint64) tea.Cmd {
	return func() tea.Msg {
		end := time.Now().Add(load.PieceTime)
		answer := eventsSearched{ticket: ticket, next: from, arrival: arrival}
		s.Load = l
		if s.View == document.Decoded {
			s.Reading = l.Reader.Read(s.Exchange)
		}
		for step, err := range l.Source.StepsOf(s.Context, s.Exchange.Seq, arrival) {
			if err != nil {
				answer.err = err
				return answer
			}
			what, event := step.What.(capture.ResponseEvent)
			if !event {
				continue
			}
			if n := s.MatchesInEvent(&what.Event); n > 0 {
				answer.found = append(answer.found, eventMatches{answer.next, n})
			}
			answer.next++
			answer.arrival = step.Arrival + 1
			if answer.next >= s.Events.Length() || answer.next%16 == 0 && time.Now().After(end) {
				return answer
			}
		}
		if answer.err = s.Context.Err(); answer.err == nil {
			answer.err = fmt.Errorf("event %d of exchange %d is no longer in the capture",
				s.Events.Number(answer.next), s.Exchange.Seq)
		}
		return answer
	}
}
