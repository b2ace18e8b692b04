package delegation

import (
	"cmp"
	"math"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
)

// incomplete reports whether the record lacks traffic: something that seems not to have happened may have.
func incomplete(p *analysis.Pass) bool { return p.Lost() > 0 || p.RequestMissed() }

// completed finds the calls for a completed task that are not over. Their outcome must be known: an agent that
// disconnects uses another answer, or needs none.
func (m *Memory) completed(p *analysis.Pass, w *work) {
	for _, s := range w.calls {
		switch {
		case s.settled != nil:
			m.awaited(p, s, w.completed, false)
		case s.open == nil || !s.waits:
		case s.open.Answered && s.open.Stream == nil: // the answer is on its way
		default:
			s.overtaken = w.completed
		}
	}
}

// judgeOvertaken observes a call that has ended after the task for which it was made.
func (m *Memory) judgeOvertaken(p *analysis.Pass, s *send) {
	instead := func(o *send) bool {
		return o != s && o.content == s.content && o.settled != nil && o.settled.Arrival < s.overtaken.Arrival && !o.failed()
	}
	if !s.whole || s.vague() || !before(s.overtaken.Moment, *s.settled) || slices.ContainsFunc(s.causes.calls, instead) {
		return
	}
	m.awaited(p, s, s.overtaken, true)
}

func (m *Memory) awaited(p *analysis.Pass, s *send, w *ending, broken bool) {
	if w.x == nil || incomplete(p) {
		return
	}
	p.Observe(analysis.Observation{
		Kind: analysis.CalleeAwaited, Exchange: w.x.Exchange(), Dialects: w.x.Dialects, Place: w.place(), Detail: s.about(w, broken),
	})
}

// end observes, at the end of the capture, the failures that a task does not show, the tasks that no client asks about,
// and the agents that have dropped their trace.
func (m *Memory) end(p *analysis.Pass) {
	if incomplete(p) {
		return
	}
	m.dropped(p)
	for x := range p.Open() {
		m.mention(x.Call.TaskID, math.MaxUint64)
	}
	all := make([]*send, 0, m.sends.Len())
	for _, s := range m.sends.All() {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *send) int { return cmp.Compare(a.n, b.n) })
	for _, s := range all {
		if s.asks.maker == s {
			m.hidden(p, s.asks)
		}
		m.left(p, s)
	}
}

// hidden observes the first failed call that was made for a completed task without compensation: no later call, and no
// equal one, succeeded. The agent's statements about the failure cannot be judged, only their absence: everything that
// its task shows was in earlier answers, or comes from a callee that did not fail.
func (m *Memory) hidden(p *analysis.Pass, w *work) {
	if w.completed == nil || w.completed.x == nil || w.crowded || w.push {
		return
	}
	if slices.ContainsFunc(w.calls, func(s *send) bool { return !s.failed() && s.vague() }) {
		return
	}
	other, _ := m.others.Get(w.agent)
	since := uint64(math.MaxUint64) // when the first of them began
	var first, madeGood *send
	for _, s := range w.calls {
		if !s.failed() {
			continue
		}
		since = min(since, s.began)
		instead := func(o *send) bool { return !o.failed() && (o.began > s.began || o.content == s.content) }
		switch {
		case slices.ContainsFunc(w.calls, instead), other > s.began:
			madeGood = s
		case first == nil && before(*s.settled, w.completed.Moment):
			first = s
		}
	}
	s := cmp.Or(first, madeGood)
	if s == nil || first != nil && w.newsSince(since) {
		return
	}
	call := s.about(w.completed, first != nil)
	call.Failure = s.failure()
	p.Observe(analysis.Observation{
		Kind: analysis.CalleeFailed, Exchange: w.completed.x.Exchange(), Dialects: w.completed.x.Dialects,
		Place: w.completed.place(), Detail: call,
	})
}

// grace is how long a recording must continue before a task counts as abandoned by its client.
const grace = 5 * time.Second

// left observes a task that a call for another one has left behind, once that one has ended.
func (m *Memory) left(p *analysis.Pass, s *send) {
	w := s.asks
	if s.causes == nil || s.causes.over == nil || s.x == nil || w.maker != s || !w.active || s.vague() {
		return
	}
	ended := s.causes.over
	asked, _ := m.mentioned.Get(w.task)
	listed, _ := m.listed.Get(s.link.Agent)
	broken := w.state.Active() && w.over == nil && !w.push && asked <= ended.Arrival && listed <= ended.Arrival
	since := ended.At
	if w.shown.At.After(since) {
		since = w.shown.At
	}
	unsure := since.IsZero() || p.At.Sub(since) < grace || m.mentioned.Forgotten() > 0 || m.listed.Forgotten() > 0
	if broken && unsure {
		return
	}
	call := s.about(ended, broken)
	call.Left = w.shown
	p.Observe(analysis.Observation{
		Kind: analysis.CalleeLeft, Exchange: s.x.Exchange(), Dialects: s.x.Dialects, Place: w.shown.StatePlace(), Detail: call,
		Task: w.shown, At: p.At,
	})
}
