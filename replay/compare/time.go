package compare

import (
	"fmt"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// times compares the agent's delays: of an answer until its arrival, of a stream's events since the previous ones. A
// subscription begins at an arbitrary time, so its first update starts the measurement.
func (c *Comparison) times() {
	if c.Tolerance <= 0 {
		return
	}
	if !c.Recorded.Stream || !c.Live.Stream {
		late := c.Live.took - c.Recorded.took
		if c.Recorded.took >= 0 && c.Live.took >= 0 && c.Recorded.End == Whole && late > c.Tolerance {
			c.late("the answer", "", "", c.Recorded.took, c.Live.took)
		}
		return
	}
	for i, p := range c.pairs {
		if c.Recorded.Call.Operation == a2a.SubscribeToTask && (i == 0 || c.pairs[i-1][0].Kind == a2a.TaskPayload) {
			continue
		}
		was, okWas := c.Recorded.gap(p[0])
		now, okNow := c.Live.gap(p[1])
		if okWas && okNow && now-was > c.Tolerance {
			c.late(p[0].String(), event(p[0]), event(p[1]), was, now)
		}
	}
}

// late adds a difference at a place in the answers.
func (c *Comparison) late(what, at, liveAt string, was, now time.Duration) {
	a, b := rounded(was), rounded(now)
	c.add(Difference{
		Kind: DifferentTime, Place: fmt.Sprintf("%d.response%s", c.Recorded.Seq, at),
		LivePlace: c.liveHead() + liveAt, Want: a, Got: b,
		Message: fmt.Sprintf("%s took %s, recorded %s", what, b, a),
	})
}

func rounded(d time.Duration) string { return d.Round(time.Millisecond).String() }

// gap returns the longest silence of the agent before one of an item's events, measured from the previous event or the
// request. It reports false if the times are unknown.
func (r *Reply) gap(it Item) (longest time.Duration, ok bool) {
	for _, event := range it.events() {
		at, known := r.times[event]
		before := r.before(event)
		if !known || at == capture.NotKnown || before == capture.NotKnown {
			return 0, false
		}
		longest = max(longest, at-before)
	}
	return longest, it.Event > 0
}

// events returns the numbers of the events of an item.
func (i Item) events() []int {
	all := []int{i.Event}
	for _, c := range i.chunks {
		all = append(all, c.event)
	}
	return all
}

// before returns when the previous event arrived; 0 for the first event.
func (r *Reply) before(event int) time.Duration {
	for k := event - 1; k > 0; k-- {
		if at, ok := r.times[k]; ok {
			return at
		}
	}
	return 0
}
