package recorder

import (
	"sync/atomic"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture/bolt"
)

// These constants set how checking shares the machine with the traffic. Without the pauses, 16 clients on two busy
// processors make 11 % fewer exchanges.
const (
	judgeSlice = 300 * time.Microsecond // of checking at a time
	judgePause = 10 * time.Millisecond  // after a slice, while processor time is short; leaves 3 % of a processor

	judgeBacklog = 1 << 20 // bytes waiting to be recorded or stored from which processor time counts as short

	judgePatience = time.Second // after which an ending recording prints that it waits for its verdict

	lagNotice        = 1_000  // lag of checking, in exchanges, that is reported to the user
	lagMax           = 50_000 // maximum lag in exchanges that pauses may cause
	stepsPerExchange = 16     // this many steps of a stream count as one exchange
)

// A throttle pauses checking while traffic needs the processors. Except for lift, it is for the goroutine that checks.
type throttle struct {
	busy   func() bool          // reports whether traffic passes and processor time is short
	stored func() bolt.Position // the last position that can be checked
	onLag  func(lag)            // called once, when checking is far behind
	lifted chan struct{}        // closed once no more traffic takes precedence

	began    time.Time     // start of the slice
	seq      atomic.Uint64 // the last exchange with a checked step
	arrival  atomic.Uint64 // a recently checked step
	timer    *time.Timer
	reported bool
}

// lift ends all pauses. Call it once.
func (p *throttle) lift() { close(p.lifted) }

// A lag is the distance between storing and checking.
type lag struct{ exchanges, steps uint64 }

// weight returns the lag in exchanges, including the events of streams.
func (l lag) weight() uint64 { return max(l.exchanges, l.steps/stepsPerExchange) }

func (l lag) String() string {
	if l.exchanges >= l.steps/stepsPerExchange {
		return analysis.Plural(l.exchanges, "exchange")
	}
	return analysis.Plural(l.steps, "event")
}

// begin starts a slice.
func (p *throttle) begin() { p.began = time.Now() }

// judged is called for each checked step, with its exchange.
func (p *throttle) judged(seq uint64) {
	if seq > p.seq.Load() {
		p.seq.Store(seq)
	}
}

// pauseIfDue is called now and then, with the last checked step. It pauses if a pause is due.
func (p *throttle) pauseIfDue(arrival uint64) {
	if time.Since(p.began) < judgeSlice {
		return
	}
	p.arrival.Store(arrival)
	if p.isLifted() {
		return
	}
	stored := p.stored().Arrival
	l := lag{p.exchanges(), stored - min(arrival, stored)} // reads the stored position before the checked one
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

// exchanges returns how many exchanges are stored but not checked. It is safe for concurrent use.
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
