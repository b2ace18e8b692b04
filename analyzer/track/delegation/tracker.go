// Package delegation tracks calls that agents make to other agents while they work on their own tasks: whether they
// wait for the result, how they handle a failure, and whether any client asks about the tasks that they leave behind.
//
// Only calls count for which it is proved that the agent made them for its task. If the record is incomplete, nothing
// is observed.
package delegation

import (
	"math"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/a2a"
)

// Tracker remembers the sends that agents make for other sends, and their outcomes.
var Tracker = &analysis.Tracker{
	Name:  "delegation",
	Doc:   "the calls that agents make to other agents for their own tasks, and the outcomes",
	Needs: []*analysis.Tracker{workflow.Tracker},
	On: analysis.RequestRead | analysis.EntitySeen | analysis.TaskSeen | analysis.AnswerDone | analysis.StreamEnded |
		analysis.ExchangeDone | analysis.CaptureDone,
	Makes: analysis.CalleeAwaited | analysis.CalleeFailed | analysis.CalleeLeft | analysis.TraceDropped,
	New: func(s *analysis.Setup) analysis.State {
		m := &Memory{
			workflow:  s.State(workflow.Tracker).(*workflow.Memory),
			sends:     recent.NewHashed[uint64, *send](maxSends, func(n uint64) uint32 { return uint32(n) }),
			tasks:     analysis.RecentByTask[*work](maxTasks),
			mentioned: recent.New[string, uint64](maxMentions),
			agents:    recent.New[string, bool](maxAgents),
			listed:    recent.New[string, uint64](maxAgents),
			others:    recent.New[string, uint64](maxAgents),
			outbound:  recent.New[string, *outbound](maxAgents),
			traced:    analysis.NewSlot[bool](s),
			send:      analysis.NewSlot[*send](s),
			named:     analysis.NewSlot[*work](s),
		}
		m.workflow.Tell(m.hear)
		return m
	},
}

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	switch p.Kind {
	case analysis.RequestRead:
		if p.Exchange.Judged() && !p.Exchange.InBatch() {
			m.read(p)
		}
	case analysis.TaskSeen:
		m.see(p)
	case analysis.AnswerDone:
		m.answered(p)
	case analysis.StreamEnded:
		if p.End.Open {
			m.mention(p.Exchange.Call.TaskID, math.MaxUint64)
		}
	case analysis.ExchangeDone:
		m.over(p)
	case analysis.CaptureDone:
		m.end(p)
	default:
		m.shows(p)
	}
}

// read records a request: its sender, receiver and message, and the tasks that it asks about.
func (m *Memory) read(p *analysis.Pass) {
	x := p.Exchange
	m.mention(x.Call.TaskID, p.Arrival)
	m.traceKept(x)
	if x.Call.Operation == a2a.ListTasks {
		m.listed.Put(x.Link.Agent, p.Arrival)
	}
	var known *work
	if x.Call.TaskID != "" && x.Agent != "" {
		known, _ = m.tasks.Get(x.TaskKey(x.Call.TaskID))
	}
	if known != nil {
		m.named.Put(x, known)
		known.push = known.push || x.Call.Operation == a2a.CreatePushConfig
	}
	if !x.Call.Operation.Sends() {
		return
	}
	for _, id := range x.References() {
		m.mention(id, p.Arrival)
	}
	s := newSend(x, p.Arrival, known)
	m.send.Put(x, s)
	m.sends.Put(x.Seq, s)
	m.agents.Put(s.link.Agent, true)
	m.attach(s, m.workflow.LinkOf(x))
}

// hear records a cause of an exchange that is learned later.
func (m *Memory) hear(l workflow.Link) {
	if s, ok := m.sends.Get(l.Exchange); ok {
		m.attach(s, l)
	}
}

// attach notes for which work a send was made, if that is proved and was done by its client.
func (m *Memory) attach(s *send, l workflow.Link) {
	if s.causes != nil || !l.By.Certain() || s.link.Client == s.link.Agent {
		return
	}
	parent, ok := m.sends.Get(l.Parent)
	if !ok || parent.asks.agent != s.link.Client {
		return
	}
	w := parent.asks
	if w.completed != nil && w.completed.Arrival < s.began {
		return
	}
	if len(w.calls) == maxCalls {
		w.crowded = true
		return
	}
	s.causes, s.by = w, l.By
	w.calls = append(w.calls, s)
}

// mention records that a task was asked about, or reported.
func (m *Memory) mention(id string, arrival uint64) {
	if id == "" {
		return
	}
	if before, _ := m.mentioned.Get(id); arrival > before {
		m.mentioned.Put(id, arrival)
	}
}

// see records an observation of a task.
func (m *Memory) see(p *analysis.Pass) {
	x, seen, s := p.Exchange, p.Task, m.send.Of(p.Exchange)
	if x.Agent == "" {
		return
	}
	key := x.TaskKey(seen.TaskID)
	w, ok := m.tasks.Get(key)
	if !ok {
		if s == nil || s.asks.task != "" {
			return
		}
		w = s.asks
		w.task = seen.TaskID
		m.tasks.Put(key, w)
	}
	if s == nil || w.maker != s {
		m.mention(seen.TaskID, p.Arrival)
	}
	if x.Call.Operation == a2a.ListTasks { // whose tasks may show content that is not tracked
		w.obscure = true
	}
	if !seen.State.Known() || seen.Late && !seen.State.Terminal() {
		return
	}
	w.state, w.shown, w.active = seen.State, seen, w.active || seen.State.Active()
	if seen.State.Active() {
		return
	}
	w.maker.settle(seen.Moment())
	if s != nil && s.asks == w {
		s.settle(seen.Moment())
	}
	if seen.State.Terminal() && w.over == nil {
		w.end(p, ending{Moment: seen.Moment(), seen: seen})
		if seen.State == a2a.Completed && !seen.Late {
			w.completed = w.over
			m.completed(p, w)
		}
	}
}

// answered records an answer or an event, after everything in it was observed.
func (m *Memory) answered(p *analysis.Pass) {
	s := m.send.Of(p.Exchange)
	if s == nil {
		return
	}
	message := p.Answer.Payload.Kind == a2a.MessagePayload
	if message && s.asks.over == nil {
		s.asks.end(p, ending{Moment: p.Moment(), message: p.Place})
	}
	if message || p.Event == nil {
		s.settle(p.Moment())
	}
}

// over records the end of an exchange.
func (m *Memory) over(p *analysis.Pass) {
	x, s := p.Exchange, m.send.Of(p.Exchange)
	if x.Judged() && !x.InBatch() {
		m.traceKept(x)
	}
	if m.named.Of(x) != nil {
		m.mention(x.Call.TaskID, p.Arrival)
	}
	if s == nil || s.open == nil {
		return
	}
	s.settle(p.Moment())
	s.open, s.outcome = nil, x.Outcome
	s.whole = x.Answered && x.Ended && !x.Cut && p.End.Fault == nil
	if _, ok := m.agents.Get(s.link.Client); ok || s.causes != nil {
		s.x = x.Keep()
	}
	if before, _ := m.others.Get(s.link.Client); s.causes == nil && !s.failed() && s.began > before {
		m.others.Put(s.link.Client, s.began)
	}
	if s.overtaken != nil {
		m.judgeOvertaken(p, s)
	}
}
