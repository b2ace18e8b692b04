package playback

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/compare"
)

// match finds the exchange for a call to an upstream, and returns the call's form. Among the exchanges with the same request, it
// takes those of the latest state that was reached; of these the first unplayed one, or the last.
func (p *Player) match(call *a2a.Call, at string) (*exchange, *form, *Miss) {
	if !call.A2A() || call.Batch != nil {
		return nil, nil, &Miss{Operation: "request", Why: "it is not an A2A call that can be played back"}
	}
	f := newForm(call)
	f.upstream = at
	if p.theirs[call.TaskID] {
		return nil, nil, &Miss{Operation: f.String(), Why: "its task belongs to the live agent"}
	}
	var found choice
	var state uint64
	for g := range p.index.mayMatch(&f, &p.names) {
		if g.after != nil && (g.after.uses == 0 || g.after.seq < state) || !p.matches(g, call, &f) {
			continue
		}
		if g.after != nil && g.after.seq > state {
			found, state = choice{}, g.after.seq
		}
		if g.after == nil && state > 0 {
			continue
		}
		found.among(g, &f)
	}
	switch a := found.exchange(); {
	case a == nil:
		return nil, nil, p.explain(call, &f)
	case a.uses > 0 && !p.mayRepeat(f.op):
		return nil, nil, &Miss{Operation: f.String(), Nearest: a.seq, Why: "all recorded answers to it were used"}
	default:
		return a, &f, nil
	}
}

// matches reports whether a call matches the exchanges of a group.
func (p *Player) matches(g *group, call *a2a.Call, f *form) bool {
	if !speaks(call, f, g.first()) {
		return false
	}
	for range p.differences(g.first(), call, f) {
		return false
	}
	return true
}

// speaks reports whether a recorded answer can serve a call: from the same upstream, in the same binding, or in 1.0 in
// any.
func speaks(call *a2a.Call, f *form, a *exchange) bool {
	if f.upstream != "" && f.upstream != a.form.upstream {
		return false
	}
	same := call.Dialects.Empty() || a.dialects.Empty() || !call.Dialects.Intersect(a.dialects).Empty()
	return same && (call.Binding == a.binding || call.Dialects.Has(a2a.V1_0) && a.dialects.Has(a2a.V1_0))
}

// explain returns why no recorded exchange matches.
func (p *Player) explain(call *a2a.Call, f *form) *Miss {
	m := &Miss{Operation: f.String()}
	var nearest *exchange
	least := 0
	for _, a := range p.recording.exchanges {
		if a.form.op != f.op || !speaks(call, f, a) {
			continue
		}
		n := 0
		for range p.differences(a, call, f) {
			n++
		}
		if n > 0 && (nearest == nil || n < least) {
			nearest, least = a, n
		}
	}
	if nearest != nil {
		m.Nearest, m.Changes = nearest.seq, p.changes(nearest, call, f)
		m.Why = fmt.Sprintf("no recorded request matches; the nearest is exchange %d", nearest.seq)
		return m
	}
	var others []string
	for _, a := range p.recording.exchanges {
		if name := a.form.String(); !slices.Contains(others, name) {
			others = append(others, name)
		}
		if a.form.op == f.op && a.after != nil && a.after.uses == 0 {
			m.Nearest = a.seq
			m.Why = fmt.Sprintf("exchange %d matches, but follows exchange %d, which was not requested yet",
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

// changes returns the differences between a call and a recorded one for display.
func (p *Player) changes(a *exchange, call *a2a.Call, f *form) (changes []compare.Change) {
	whole := a.form
	p.mu.Unlock() // others get their answers while the capture is read
	was, err := p.recording.open(p.ctx, a)
	p.mu.Lock()
	if err == nil {
		whole = newForm(&was.call)
		whole.failed = a.form.failed
	}
	recorded := *a
	recorded.form = whole
	for d := range p.differences(&recorded, call, f) {
		changes = append(changes, compare.Change{Pointer: d.at, Was: shown(d.was), Now: shown(d.now)})
	}
	return changes
}

// String describes the request.
func (f *form) String() string {
	if f.op != a2a.NoOperation {
		return f.op.String()
	}
	return f.method
}

// choose finds the exchange that answers a call to an upstream, and marks it as played. Names are the ids that its answer has for this
// client.
func (p *Player) choose(call *a2a.Call, at string) (*exchange, naming, *Miss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, form, miss := p.match(call, at)
	if miss != nil {
		return nil, naming{}, miss
	}
	if a.uses++; a.uses > 1 {
		p.report.Repeated++
	}
	p.report.Served++
	close(p.progress)
	p.progress = make(chan struct{})
	if a.form.whole == form.whole {
		p.report.Exact++
	}
	if n := a.form.differ(form); n > 0 {
		p.report.Differed++
		p.report.Ignored += n
	}
	p.names.learn(call, a)
	p.hook(a, call)
	return a, p.names.now(), nil
}

// A difference is a place in which a live form differs from a recorded one.
type difference struct {
	at       string // JSON Pointer from the parameters, or the name of another part of the form
	was, now string // the texts, if the recorded form has them
}

// differences yields the differences between a call and an exchange that the options consider. The names translate
// ids of the live client.
func (p *Player) differences(a *exchange, call *a2a.Call, live *form) iter.Seq[difference] {
	recorded, n := &a.form, &p.names
	return func(yield func(difference) bool) {
		// A live agent that takes what is unmatched may know a task that the recorded one did not.
		unknown := live.op.Sends() || n.free && recorded.failed && p.opts.Forward == nil
		task := n.means("task", live.task, recorded.task) || unknown && n.mayName(live.task, recorded.task)
		for _, head := range [...]struct {
			at, was, now string
			same         bool
		}{
			{"/method", recorded.method, live.method, recorded.method == live.method},
			{"/task", recorded.task, live.task, task && !(a.after != nil && n.begins(call))},
			{"/contextId", recorded.ctx, live.ctx, n.means("context", live.ctx, recorded.ctx)},
			{"/config", recorded.config, live.config, recorded.config == live.config ||
				live.op == a2a.CreatePushConfig || live.op.Sends()},
			{"/pageToken", recorded.page, live.page, recorded.page == live.page},
			{"/message/parts", recorded.parts, live.parts, p.opts.Match != ByOperation || recorded.parts == live.parts},
		} {
			if !head.same && !yield(difference{head.at, head.was, head.now}) {
				return
			}
		}
		if p.opts.Match == ByOperation && len(p.opts.Pointers) == 0 {
			return
		}
		for was, now := range recorded.values(live) {
			d, counts := difference{}, p.opts.Match == ByValue
			if was != nil {
				d.at, d.was = was.at, was.text
			}
			if now != nil {
				d.at, d.now = now.at, now.text
			}
			counts = counts || p.opts.Match == ByShape && (was == nil || now == nil || was.kind != now.kind) ||
				slices.ContainsFunc(p.opts.Pointers, func(p string) bool { return beneath(d.at, p) })
			if counts && !yield(d) {
				return
			}
		}
	}
}
