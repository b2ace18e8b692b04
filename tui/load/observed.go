package load

import (
	"sync"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
)

// observed is what was observed in the capture so far: by the loader's own engine or, where this process judges the
// recording already, by the engine of that and by the one that has judged what was there before. It may be asked by
// several goroutines at once.
type observed struct {
	own engine.Watch

	mu      sync.Mutex
	others  *Verdicts        // that judge; nil if the loader's own engine does
	earlier *judgment.Result // what was observed before these
	kept    *judgment.Result // what a reading says; nil if an engine judges
	whole   bool             // that is of all there is
}

// fromReading takes what a reading says; whole if that is of all there is.
func (o *observed) fromReading(r *judgment.Result, whole bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept, o.whole = r, whole
}

// FoundAll reports whether the result counts all findings there are.
func (o *observed) FoundAll() bool {
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

// Result returns what was observed so far.
func (o *observed) Result() *judgment.Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := &judgment.Result{}
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
