package tui

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/tui/document"
	"a2atap/tui/find"
	"a2atap/tui/load"
)

// eventsSearched is the message of loader.searchEvents.
type eventsSearched struct {
	ticket  uint64
	next    int            // events before this one were searched
	arrival uint64         // where it is looked for
	found   []eventMatches // those that match; upto is how many matches the event itself has
	err     error
}

// searchEvents searches the events of a stream from one on, which is looked for from an arrival number on, for a while.
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
			answer.err = fmt.Errorf("event %d of exchange %d is not in the capture any more",
				s.Events.Number(answer.next), s.Exchange.Seq)
		}
		return answer
	}
}

// hunted is the message of loader.hunt and loader.huntAgain.
type hunted struct {
	ticket  uint64
	from    uint64 // the exchanges from this one
	next    uint64 // to before this one were searched
	matches []uint64
	again   bool // they were searched before
	took    time.Duration
	err     error
}

// huntPage is how many exchanges one command searches at most, so that what was found is told on fast machines, too.
const huntPage = 1024

// searchExchanges searches the exchanges from one on to before another for a while.
func searchExchanges(l *load.Loader, ctx context.Context, ticket uint64, p *find.Pattern, from, below uint64) tea.Cmd {
	return func() tea.Msg {
		answer := hunted{ticket: ticket, from: from, next: from}
		if answer.err = l.NeedCards(); answer.err != nil {
			return answer
		}
		end := time.Now().Add(load.BatchTime)
		for x, err := range l.Source.Ends(ctx, from, load.EntryEvents) {
			if err == nil && x.Seq < below {
				err = answer.test(ctx, l, p, x)
			}
			if answer.err = err; err != nil {
				return answer
			}
			if x.Seq >= below-1 {
				break
			}
			if answer.next = x.Seq + 1; answer.next-from >= huntPage || time.Now().After(end) {
				return answer
			}
		}
		answer.next = below
		return answer
	}
}

// searchAgain searches exchanges that have changed, after a pause.
func searchAgain(l *load.Loader,
	ctx context.Context, ticket uint64, p *find.Pattern, seqs []uint64, pause time.Duration,
) tea.Cmd {
	return func() tea.Msg {
		l.Pause(pause)
		begin := time.Now()
		answer := hunted{ticket: ticket, again: true}
		for _, seq := range seqs {
			x, err := l.Ends(seq, load.EntryEvents)
			if err == nil {
				err = answer.test(ctx, l, p, x)
			}
			if answer.err = err; err != nil {
				return answer
			}
		}
		answer.took = time.Since(begin)
		return answer
	}
}

// test notes an exchange in which the pattern occurs.
func (h *hunted) test(ctx context.Context, l *load.Loader, p *find.Pattern, x *capture.Exchange) error {
	s := document.Source{Context: ctx, Excerpt: load.Excerpt{Exchange: x}, Load: l, Width: document.Unwrapped, Limit: document.MaxShown, Pattern: p}
	yes, err := s.Occurs()
	if yes {
		h.matches = append(h.matches, x.Seq)
	}
	return err
}
