package document

import (
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/tui/load"
)

// MatchesIn returns the number of matches in the lines of a part of the detail.
func MatchesIn(lines []Line) int {
	if len(lines) == 0 {
		return 0
	}
	return lines[len(lines)-1].Upto
}

// counter returns a writer that only counts matches.
func (s *Source) counter() writer {
	w := writer{Source: *s, counting: true}
	w.doc.Reading = s.Reading
	return w
}

// MatchesInEvent counts the matches in the detail's view of an event.
func (s *Source) MatchesInEvent(e *capture.Event) int {
	s.Exchange.ReadEvent(e)
	w := s.counter()
	w.event(load.EventAt(s.Exchange, e.K), e, func(analysis.Place) bool { return false })
	return w.matched
}

// Unwrapped is a width that wraps hardly any line.
const Unwrapped = 1 << 20

// Occurs reports whether the detail of an exchange has a match. The exchange may have only its ends. Occurs reads the
// events of a long stream one by one.
func (s *Source) Occurs() (bool, error) {
	res := s.Exchange.Response
	if res == nil || len(res.Events) < 2*load.EntryEvents {
		return s.matchesAround() || res != nil && slices.ContainsFunc(res.Events, s.inEvent), nil
	}
	var x *capture.Exchange
	for step, err := range s.Load.Source.StepsOf(s.Context, s.Exchange.Seq, 0) {
		if err != nil {
			return false, err
		}
		if what, event := step.What.(capture.ResponseEvent); !event {
			x = capture.Assemble(x, step)
		} else if s.inEvent(what.Event) {
			return true, nil
		}
	}
	whole := *s
	whole.Exchange = x
	return whole.matchesAround(), s.Context.Err()
}

func (s *Source) inEvent(e capture.Event) bool { return s.MatchesInEvent(&e) > 0 }

// matchesAround reports whether there is a match outside the events.
func (s *Source) matchesAround() bool {
	w := s.counter()
	w.request()
	w.answer()
	w.ending()
	return w.matched > 0
}
