package bolt

import (
	"cmp"
	"slices"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
)

// losses counts data that could not be stored, until that can be recorded in the capture itself. An exchange that was
// lost completely is only counted, so there are entries only for exchanges that are open or have a gap.
type losses struct {
	steps     int64
	exchanges map[uint64]*loss
	whole     capture.Lost // what is not recorded by exchange
	reason    string
}

// A loss is the missing part of one exchange.
type loss struct {
	bytes  int64
	opened bool          // its beginning is missing too
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
	if lost, ok := s.What.(capture.Lost); ok {
		n = lost.Bytes
		l.whole.Exchanges = capture.AddLost(l.whole.Exchanges, lost.Exchanges)
	}
	if s.Seq == 0 {
		l.whole.Bytes = capture.AddLost(l.whole.Bytes, n)
		return
	}
	x := l.exchanges[s.Seq]
	if x == nil {
		x = &loss{}
		l.exchanges[s.Seq] = x
	}
	x.bytes = capture.AddLost(x.bytes, n)
	switch s.What.(type) {
	case capture.Opened:
		x.opened = true
	case capture.Closed:
		if x.opened {
			l.whole.Exchanges = capture.AddLost(l.whole.Exchanges, 1)
			l.whole.Bytes = capture.AddLost(l.whole.Bytes, x.bytes)
			delete(l.exchanges, s.Seq)
			return
		}
		end := *s
		x.end = &end
	}
}

func (l *losses) any() bool {
	return len(l.exchanges) > 0 || l.whole.Exchanges != 0 || l.whole.Bytes != 0
}

// pending returns steps that report losses: a gap and the end for each exchange that has steps in the capture,
// according to holds, and one step for all others.
func (l *losses) pending(holds func(seq uint64) bool) []capture.Step {
	whole := l.whole
	var steps []capture.Step
	for seq, x := range l.exchanges {
		if !x.opened && !holds(seq) { // learned of an exchange that was lost before
			whole.Bytes = capture.AddLost(whole.Bytes, x.bytes)
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

// total returns the losses that the capture does not report, if nothing more can be stored.
func (l *losses) total(holds func(seq uint64) bool) layout.Unreported {
	sum := layout.Unreported{Exchanges: l.whole.Exchanges, Bytes: l.whole.Bytes}
	for seq, x := range l.exchanges {
		sum.Bytes = capture.AddLost(sum.Bytes, x.bytes)
		if x.opened && !holds(seq) {
			sum.Exchanges = capture.AddLost(sum.Exchanges, 1)
		}
	}
	return sum
}

// clear forgets what pending returned: it is in the capture now.
func (l *losses) clear() {
	l.exchanges, l.whole = nil, capture.Lost{}
}
