package tui

import (
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/analyzer/report"
)

// observed is what was observed in the capture so far: by the loader's own engine or, where this process judges the
// recording already, by the engine of that and by the one that has judged what was there before. It may be asked by
// several goroutines at once.
type observed struct {
	own analyzer.Watch

	mu      sync.Mutex
	others  *Verdicts        // that judge; nil if the loader's own engine does
	earlier *analyzer.Result // what was observed before these
	kept    *analyzer.Result // what a reading says; nil if an engine judges
	whole   bool             // that is of all there is
}

// fromReading takes what a reading says; whole if that is of all there is.
func (o *observed) fromReading(r *analyzer.Result, whole bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept, o.whole = r, whole
}

// foundAll reports whether the result counts all findings there are.
func (o *observed) foundAll() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept != nil && o.whole
}

// byOthers says that the engine of verdicts judges from now on.
func (o *observed) byOthers(v *Verdicts) {
	earlier := o.own.Result()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.others, o.earlier = v, earlier
}

// bySelf says that the loader's own engine judges all, from the beginning.
func (o *observed) bySelf() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.others, o.earlier, o.kept, o.whole = nil, nil, nil, false
}

// result returns what was observed so far.
func (o *observed) result() *analyzer.Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := &analyzer.Result{}
	switch {
	case o.kept != nil:
		all.Add(o.kept)
		return all
	case o.others == nil:
		return o.own.Result()
	}
	all.Add(o.earlier)
	all.Add(o.others.watch.Result())
	return all
}

// coverage is the message of loader.coverage.
type coverage struct {
	ticket uint64
	result *analyzer.Result
	whole  bool // it counts all findings there are
	on     []report.Observed
	took   time.Duration
	err    error
}

// coverage reads what was observed so far, after a pause.
func (l *loader) coverage(ticket uint64, pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		l.pause(pause)
		begin := time.Now()
		info, err := l.src.Info(l.ctx)
		answer := coverage{ticket: ticket, whole: l.observed.foundAll(), result: l.observed.result(), err: err}
		answer.result.Note(info)
		answer.on = report.ObservedOn(answer.result, l.rules)
		answer.took = time.Since(begin)
		return answer
	}
}
