package playback

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay"
)

// match finds the act for a call: among those that ask the same, the ones of the latest state that has been reached; of
// these the first that was not played yet, or the last.
func (p *Player) match(call *a2a.Call) (*act, *Miss) {
	if !call.A2A() || call.Batch != nil {
		return nil, &Miss{Operation: "request", Why: "it is no A2A call that can be played back"}
	}
	f := newForm(call)
	var state []*act
	var nearest *act
	var changes []replay.Change
	for _, a := range p.score.acts {
		if a.form.op != f.op || !speaks(call, a) {
			continue
		}
		different := a.form.differences(&f, &p.names)
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
	switch a := next(state); {
	case a == nil:
		return nil, p.explain(&f, nearest, changes)
	case a.uses > 0 && p.opts.UsedUp == Refuse:
		return nil, &Miss{Operation: f.String(), Nearest: a.seq, Why: "all recorded answers to it have been given"}
	default:
		return a, nil
	}
}

// speaks reports whether a recorded answer can be given to a call: in its own binding, or in 1.0 in any.
func speaks(call *a2a.Call, a *act) bool {
	same := call.Dialects.Empty() || a.call.Dialects.Empty() || !call.Dialects.Intersect(a.call.Dialects).Empty()
	return same && (call.Binding == a.call.Binding || call.Dialects.Has(a2a.V1_0) && a.call.Dialects.Has(a2a.V1_0))
}

// latest keeps the acts that follow the same, latest act.
func latest(state []*act, a *act) []*act {
	if len(state) == 0 || rank(a) > rank(state[0]) {
		return []*act{a}
	}
	if rank(a) == rank(state[0]) {
		return append(state, a)
	}
	return state
}

func rank(a *act) uint64 {
	if a.after == nil {
		return 0
	}
	return a.after.seq
}

// next returns the first act that was not played yet, or the last one, or nil.
func next(state []*act) *act {
	for _, a := range state {
		if a.uses == 0 {
			return a
		}
	}
	if len(state) == 0 {
		return nil
	}
	return state[len(state)-1]
}

// explain says why nothing matches.
func (p *Player) explain(f *form, nearest *act, changes []replay.Change) *Miss {
	m := &Miss{Operation: f.String()}
	if nearest != nil {
		m.Nearest, m.Changes = nearest.seq, changes
		m.Why = fmt.Sprintf("nothing recorded matches; the nearest is exchange %d", nearest.seq)
		return m
	}
	var others []string
	for _, a := range p.score.acts {
		if name := a.form.String(); !slices.Contains(others, name) {
			others = append(others, name)
		}
		if a.form.op == f.op && a.after != nil && a.after.uses == 0 {
			m.Nearest = a.seq
			m.Why = fmt.Sprintf("exchange %d matches, but before it comes exchange %d, which was not asked for yet", a.seq, a.after.seq)
			return m
		}
	}
	m.Why = "it is not in the recording, which has " + strings.Join(others, ", ")
	if len(others) == 0 {
		m.Why = "there is nothing in the recording"
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
