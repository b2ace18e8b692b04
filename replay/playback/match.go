package playback

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/compare"
)

// match finds the exchange for a call, and returns what the call asks: among those with the same request, the ones of
// the latest state that was reached; of these the first that was not played yet, or the last.
func (p *Player) match(call *a2a.Call) (*exchange, *form, *Miss) {
	if !call.A2A() || call.Batch != nil {
		return nil, nil, &Miss{Operation: "request", Why: "it is not an A2A call that can be played back"}
	}
	f := newForm(call)
	if p.theirs[call.TaskID] {
		return nil, nil, &Miss{Operation: f.String(), Why: "the live agent has made its task"}
	}
	var state []*exchange
	var nearest *exchange
	var changes []compare.Change
	for _, a := range p.recording.exchanges {
		if a.form.op != f.op || !speaks(call, a) {
			continue
		}
		different := a.form.differences(&f, &p.names, &p.opts)
		if a.after != nil && p.names.begins(call) {
			different = append(different, compare.Change{Pointer: "/task", Was: a.form.task, Now: f.task})
		}
		if len(different) > 0 {
			if nearest == nil || len(different) < len(changes) {
				nearest, changes = a, different
			}
			continue
		}
		if a.after == nil || a.after.uses > 0 {
			state = latest(state, a)
		}
	}
	switch a := next(state, &f); {
	case a == nil:
		return nil, nil, p.explain(&f, nearest, changes)
	case a.uses > 0 && p.opts.UsedUp == Refuse:
		return nil, nil, &Miss{Operation: f.String(), Nearest: a.seq, Why: "the recorded answers to it have run out"}
	default:
		return a, &f, nil
	}
}

// speaks reports whether a recorded answer can be given to a call: in its own binding, or in 1.0 in any.
func speaks(call *a2a.Call, a *exchange) bool {
	same := call.Dialects.Empty() || a.call.Dialects.Empty() || !call.Dialects.Intersect(a.call.Dialects).Empty()
	return same && (call.Binding == a.call.Binding || call.Dialects.Has(a2a.V1_0) && a.call.Dialects.Has(a2a.V1_0))
}

// latest returns the exchanges that follow the same, latest one.
func latest(state []*exchange, a *exchange) []*exchange {
	if len(state) == 0 || rank(a) > rank(state[0]) {
		return []*exchange{a}
	}
	if rank(a) == rank(state[0]) {
		return append(state, a)
	}
	return state
}

func rank(a *exchange) uint64 {
	if a.after == nil {
		return 0
	}
	return a.after.seq
}

// next returns the first exchange that was not played yet, or the last one, or nil. One with the very parameters goes
// before others.
func next(state []*exchange, f *form) *exchange {
	var fresh, same *exchange
	for _, a := range state {
		is := len(a.form.values(f)) == 0
		switch {
		case a.uses == 0 && is:
			return a
		case a.uses == 0 && fresh == nil:
			fresh = a
		case is:
			same = a
		}
	}
	switch {
	case fresh != nil:
		return fresh
	case same != nil:
		return same
	case len(state) == 0:
		return nil
	}
	return state[len(state)-1]
}

// explain says why nothing matches.
func (p *Player) explain(f *form, nearest *exchange, changes []compare.Change) *Miss {
	m := &Miss{Operation: f.String()}
	if nearest != nil {
		m.Nearest, m.Changes = nearest.seq, quoted(changes)
		m.Why = fmt.Sprintf("nothing recorded matches; the nearest is exchange %d", nearest.seq)
		return m
	}
	var others []string
	for _, a := range p.recording.exchanges {
		if name := a.form.String(); !slices.Contains(others, name) {
			others = append(others, name)
		}
		if a.form.op == f.op && a.after != nil && a.after.uses == 0 {
			m.Nearest = a.seq
			m.Why = fmt.Sprintf("exchange %d matches, but comes after exchange %d, which was not requested yet",
				a.seq, a.after.seq)
			return m
		}
	}
	m.Why = "it is not in the recording, which has " + strings.Join(others, ", ")
	if len(others) == 0 {
		m.Why = "the recording is empty"
	}
	return m
}

// String names what the form asks.
func (f *form) String() string {
	if f.op != a2a.NoOperation {
		return f.op.String()
	}
	return f.method
}

// choose finds the exchange that answers a call, and marks it as played.
func (p *Player) choose(call *a2a.Call, r *http.Request) (*exchange, compare.Substitute, *Miss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, form, miss := p.match(call)
	if miss != nil {
		return nil, nil, miss
	}
	a.uses++
	p.report.Served++
	if n := len(a.form.values(form)); n > 0 {
		p.report.Differed++
		p.report.Ignored += n
	}
	p.names.learn(call, a)
	p.hook(a, call)
	return a, p.names.substitute(call, &a.call, p.cardURLs(a, r)), nil
}

// differences returns where a live form differs from a recorded one, as far as the options ask, with the values as they
// are; see quoted. The names translate ids of the live client.
func (recorded *form) differences(live *form, n *names, o *Options) []compare.Change {
	var changes []compare.Change
	add := func(at, was, now string) {
		changes = append(changes, compare.Change{Pointer: at, Was: was, Now: now})
	}
	if recorded.method != live.method {
		add("/method", recorded.method, live.method)
	}
	// A live agent that takes what is unmatched may know a task that the recorded one did not.
	unknown := live.op.Sends() || n.free && recorded.failed && o.Forward == nil
	if !n.means("task", live.task, recorded.task) && !(unknown && n.mayName(live.task, recorded.task)) {
		add("/task", recorded.task, live.task)
	}
	if !n.means("context", live.ctx, recorded.ctx) {
		add("/contextId", recorded.ctx, live.ctx)
	}
	if recorded.config != live.config && live.op != a2a.CreatePushConfig && !live.op.Sends() {
		add("/config", recorded.config, live.config)
	}
	if recorded.page != live.page {
		add("/pageToken", recorded.page, live.page)
	}
	switch o.Match {
	case ByShape:
		changes = append(changes, recorded.shapes(live)...)
	case ByValue:
		return append(changes, recorded.values(live)...)
	default:
		if !slices.Equal(recorded.parts, live.parts) {
			add("/message/parts", words(recorded.parts), words(live.parts))
		}
	}
	if len(o.Pointers) == 0 {
		return changes
	}
	for _, c := range recorded.values(live) {
		if slices.ContainsFunc(o.Pointers, func(p string) bool { return beneath(c.Pointer, p) }) &&
			!slices.Contains(changes, c) {
			changes = append(changes, c)
		}
	}
	return changes
}
