package bolt

import (
	"cmp"
	"slices"

	"a2atap/proxy/capture"
)

// maxLosses bounds how many exchanges are remembered one by one while nothing can be stored.
const maxLosses = 4096

// losses counts what could not be stored, until it can be recorded in the capture itself.
type losses struct {
	steps     int64
	exchanges map[uint64]*loss
	whole     capture.Lost // what is not told by exchange
	reason    string
}

// A loss is what is missing of one exchange.
type loss struct {
	bytes  int64
	opened bool
	end    *capture.Step // its Closed, which is stored as soon as something can be
}

func (l *losses) add(steps []capture.Step, reason error) {
	if l.exchanges == nil {
		l.exchanges = make(map[uint64]*loss)
	}
	l.reason = reason.Error()
	for i := range steps {
		l.addStep(&steps[i])
	}
}

func (l *losses) addStep(s *capture.Step) {
	l.steps++
	n := payload(s)
	_, isOpened := s.What.(capture.Opened)
	if lost, ok := s.What.(capture.Lost); ok {
		n = lost.Bytes
		l.whole.Exchanges += lost.Exchanges
	}
	x := l.exchanges[s.Seq]
	if x == nil && (s.Seq == 0 || len(l.exchanges) >= maxLosses) {
		l.whole.Bytes += n
		if isOpened {
			l.whole.Exchanges++
		}
		return
	}
	if x == nil {
		x = &loss{}
		l.exchanges[s.Seq] = x
	}
	x.bytes += n
	x.opened = x.opened || isOpened
	if _, ok := s.What.(capture.Closed); ok {
		end := *s
		x.end = &end
	}
}

// pending returns steps that say what was lost. An exchange that was lost from its beginning to its end is only
// counted; one of which something is in the capture, or will be, gets a step that says it has a gap, and its end.
func (l *losses) pending() []capture.Step {
	whole := l.whole
	var steps []capture.Step
	for seq, x := range l.exchanges {
		if x.opened && x.end != nil {
			whole.Exchanges++
			whole.Bytes += x.bytes
			continue
		}
		steps = append(steps, capture.Step{
			Seq: seq, Offset: capture.NotKnown, What: capture.Lost{Bytes: x.bytes, Reason: l.reason},
		})
		if x.end != nil {
			steps = append(steps, *x.end)
		}
	}
	slices.SortStableFunc(steps, func(a, b capture.Step) int { return cmp.Compare(a.Seq, b.Seq) })
	if whole.Exchanges != 0 || whole.Bytes != 0 {
		whole.Reason = l.reason
		steps = append(steps, capture.Step{Offset: capture.NotKnown, What: whole})
	}
	return steps
}

// clear forgets what pending returned: it is in the capture now.
func (l *losses) clear() {
	l.exchanges, l.whole = nil, capture.Lost{}
}
