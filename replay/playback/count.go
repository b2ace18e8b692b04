package playback

import (
	"cmp"
	"slices"

	"a2atap/proxy/a2a"
)

// Report returns a summary of the playback so far.
func (p *Player) Report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.report
	r.Misses, r.Unused = slices.Clone(r.Misses), p.unused()
	for _, a := range p.recording.exchanges {
		r.Calls = append(r.Calls, Call{a.seq, a.agent.Name, a.form.String(), a.uses})
	}
	for _, c := range p.recording.neighbors.calls {
		if c.asks {
			r.Calls = append(r.Calls, Call{c.seq, c.agent, c.String(), c.uses})
		}
	}
	slices.SortFunc(r.Calls, func(a, b Call) int { return cmp.Compare(a.Exchange, b.Exchange) })
	for _, c := range r.Calls {
		r.Used += min(c.Uses, 1)
	}
	r.Exchange = len(r.Calls)
	r.Lacking, r.Unanswered, r.Batches = p.recording.neighbors.lacking, p.recording.unanswered, p.recording.batches
	return r
}

// unused returns the recorded calls that were not asked for, in order. The caller holds the lock.
func (p *Player) unused() (list []Unused) {
	polled := map[alike]bool{} // what was asked often enough, if a whole program is played
	for _, a := range p.recording.exchanges {
		if a.uses > 0 && p.opts.Upstream != nil && !changesTask(a.form.op) && p.mayRepeat(a.form.op) {
			polled[a.poll()] = true
		}
	}
	for _, a := range p.recording.exchanges {
		if a.uses == 0 && !polled[a.poll()] {
			list = append(list, Unused{a.seq, a.form.String()})
		}
	}
	for _, c := range p.recording.neighbors.calls {
		if c.asks && c.uses == 0 {
			list = append(list, Unused{c.seq, c.String()})
		}
	}
	slices.SortFunc(list, func(a, b Unused) int { return cmp.Compare(a.Exchange, b.Exchange) })
	return list
}

// poll returns what the exchanges have in common that ask for the same again: how often a program asks depends on time.
func (a *exchange) poll() alike {
	return alike{upstream: a.form.upstream, op: a.form.op, task: a.form.task, ctx: a.form.ctx, sum: a.form.sum()}
}

// mayRepeat reports whether the last answer may be given again: if a whole program is played, only to what changes no
// task, since how often a program polls depends on time.
func (p *Player) mayRepeat(op a2a.Operation) bool {
	return p.opts.UsedUp == RepeatLast || p.opts.UsedUp == "" && (p.opts.Upstream == nil || !changesTask(op))
}

// Refuse counts a request that matches nothing, and that could not even be read.
func (p *Player) Refuse(operation, why string) {
	m := Miss{Operation: operation, Why: why}
	p.count(&m)
	if p.opts.OnMiss != nil {
		p.opts.OnMiss(m)
	}
}

func (p *Player) count(m *Miss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Missed++
	if len(p.report.Misses) < maxMisses {
		p.report.Misses = append(p.report.Misses, *m)
	}
}
