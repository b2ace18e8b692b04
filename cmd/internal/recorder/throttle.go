package recorder

import (
	"sync/atomic"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture/bolt"
)

// How judging shares the machine with the traffic that it judges.
const (
	judgeSlice = 300 * time.Microsecond // of judging at a time
	judgePause = 10 * time.Millisecond  // after a slice, while there is no time to spare; leaves 3 % of a processor

	judgeBacklog = 1 << 20 // bytes that wait to be recorded or stored, from which on there is no time to spare

	judgePatience = time.Second // after which a recording that ends says that it waits for its verdict

	lagNotice        = 1_000  // exchanges that judging is behind when the user is told
	lagMax           = 50_000 // exchanges that it may be behind because it pauses
	stepsPerExchange = 16     // so many steps of a stream count as one exchange
)

// A throttle pauses judging while traffic needs the processors. It is for the goroutine that judges, but for lift.
type throttle struct {
	busy   func() bool          // traffic passes, and there is no time to spare
	stored func() bolt.Position // how far judging could be
	onLag  func(lag)            // called once, when judging is far behind
	lifted chan struct{}        // closed when there is no traffic to go first any more

	began    time.Time     // the slice
	seq      atomic.Uint64 // the last exchange of which something was judged
	arrival  atomic.Uint64 // a step that was judged not long ago
	timer    *time.Timer
	reported bool
}

// lift ends all pauses. It is called once.
func (p *throttle) lift() { close(p.lifted) }

// A lag is how far judging is behind what is stored.
type lag struct{ exchanges, steps uint64 }

// weight is the lag in exchanges, where the events of a stream count too.
func (l lag) weight() uint64 { return max(l.exchanges, l.steps/stepsPerExchange) }

func (l lag) String() string {
	if l.exchanges >= l.steps/stepsPerExchange {
		return analysis.Plural(l.exchanges, "exchange")
	}
	return analysis.Plural(l.steps, "event")
}

// begin begins a slice.
func (p *throttle) begin() { p.began = time.Now() }

// judged is called for each step that was judged, with its exchange.
func (p *throttle) judged(seq uint64) {
	if seq > p.seq.Load() {
		p.seq.Store(seq)
	}
}

// pauseIfDue is called now and then, with the last step that was judged, and pauses if it is time to.
func (p *throttle) pauseIfDue(arrival uint64) {
	if time.Since(p.began) < judgeSlice {
		return
	}
	p.arrival.Store(arrival)
	if p.isLifted() {
		return
	}
	stored := p.stored().Arrival
	l := lag{p.exchanges(), stored - min(arrival, stored)} // what is stored is read before what is judged
	if !p.reported && l.weight() >= lagNotice {
		p.reported = true
		p.onLag(l)
	}
	if p.busy() && l.weight() < lagMax {
		p.pause(judgePause)
	}
	p.begin()
}

func (p *throttle) isLifted() bool {
	select {
	case <-p.lifted:
		return true
	default:
		return false
	}
}

// exchanges is how many exchanges are stored and were not judged. Anybody may ask.
func (p *throttle) exchanges() uint64 {
	judged, stored := p.seq.Load(), p.stored().Seq
	return stored - min(judged, stored)
}

func (p *throttle) pause(d time.Duration) {
	if p.timer == nil {
		p.timer = time.NewTimer(d)
	} else {
		p.timer.Reset(d)
	}
	select {
	case <-p.timer.C:
	case <-p.lifted:
	}
}
