// Package engine judges captures: it reads their steps in the order of arrival, once, and gives what they say to rules.
//
//	result, err := engine.Run(ctx, rules.All, source, nil)
//
// judges what is in a capture, and Follow one that is being recorded. With the steps in hand, make an Engine.
//
// # What an engine promises
//
//   - A finding is a fact. Where the record has a gap, where the dialect is not decided, or where two exchanges overlap
//     and their order is not certain, rules report nothing.
//   - One cause, one finding: a rule that covers another one is reported in its place, and names it.
//   - It does not matter whether a client reads the card of an agent before it calls, or somebody does soon afterwards:
//     findings of the first calls may follow, or be revised, when the card comes.
//   - Memory is bounded: tasks, endpoints and webhooks that were not seen for long are forgotten, least recently used
//     first. What was forgotten is unknown, and counted.
//   - Coverage counts, for each rule and link, how often it applied and how often it was broken. A rule that never
//     applied was not observed, which is not the same as kept.
//
// What is needed to read a request is in the engine itself: which binding and dialects are spoken at an address, by what
// cards declare and calls have shown, and which addresses are one agent. Three trackers help: push recognises the
// notifications to a webhook that was configured, task knows which messages of a history were judged when they were
// sent, and signature asks for the bodies of key sets.
package engine

import (
	"maps"
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/engine/internal/intake"
	"a2atap/analyzer/engine/internal/late"
	"a2atap/analyzer/engine/internal/tally"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
)

// An Engine judges one capture. Give it every step in order of arrival, then End. It is for one goroutine.
// analysis.Tracker says in which order rules and trackers see what it observes.
type Engine struct {
	reader     *intake.Reader
	dispatcher *dispatch.Dispatcher
	counter    *tally.Counter
	hooks      intake.Hooks
	asked      []*analysis.Tracker         // by options
	given      map[*analysis.Tracker][]any // what options gave
	late       *late.Judge                 // nil if cards that come late change nothing
	watch      *Watch                      // for others to look at what was observed; nil if nobody does
}

// An Option changes what an engine judges with, or whom it tells.
type Option func(*Engine)

// New returns an engine that runs the rules. They must have passed analysis.Validate.
func New(rules []*analysis.Rule, options ...Option) *Engine {
	e := &Engine{given: make(map[*analysis.Tracker][]any), counter: tally.New(rules)}
	for _, option := range options {
		option(e)
	}
	e.reader = intake.NewReader(e.counter, &e.hooks)
	e.dispatcher = dispatch.New(rules, e.asked, e.given, e.reader, e.counter)
	e.reader.Start(e.dispatcher)
	if len(rules) > 0 && e.hooks.Known == nil {
		e.late = late.New(e.reader, e.dispatcher, e.counter)
		e.hooks.Card = e.late.Card
	}
	e.watch.show(e)
	return e
}

// Step takes the next step and returns the findings that it brought, in the order of the rules. The slice is valid
// until the next call.
func (e *Engine) Step(s capture.Step) []analysis.Finding {
	defer e.watch.begin()()
	e.reader.Step(s)
	found := e.dispatcher.Findings(e.reader.Case)
	if e.late != nil {
		found = e.late.Step(s, found)
	}
	e.reader.Forget()
	return found
}

// End says that no step will come. Live is true if that is only for now, since the recording goes on: then what is open
// is not a finding.
func (e *Engine) End(live bool) []analysis.Finding {
	defer e.watch.begin()()
	if live {
		e.reader.Pause()
		return nil
	}
	if e.late != nil {
		e.late.End()
	}
	e.reader.End()
	e.counter.Close()
	return e.dispatcher.Findings(e.reader.Case)
}

// Open calls f with each exchange that is not over and wanted by its number, as far as it has come, in order. It may be
// called between two steps.
func (e *Engine) Open(wanted func(seq uint64) bool, f func(summary.Summary)) {
	e.reader.Summaries(wanted, f)
}

// Observed puts what was observed so far into a result: coverage, counts, calls and agents, what failed, and what was
// not seen.
func (e *Engine) Observed(r *judgment.Result) {
	r.Coverage, r.Counts, r.Calls, r.Agents = e.Coverage(), e.Counts(), e.Calls(), e.Agents()
	r.FailedCalls, r.NotSeen = e.Failed(), e.counter.NotSeen()
}

// Failed returns the calls that failed or were refused so far, those together that failed alike.
func (e *Engine) Failed() []judgment.FailedCalls { return e.counter.Failed() }

// Counts returns how much was looked at so far.
func (e *Engine) Counts() judgment.Counts {
	c := e.counter.Total()
	c.Forgotten = e.reader.Forgotten() + e.dispatcher.Forgotten()
	return c
}

// Coverage returns, for each rule and link, how often the rule applied and was broken: in the order of the rules, then
// of the links. Rules that never applied on a link are not in it.
func (e *Engine) Coverage() []judgment.Coverage { return e.counter.Coverage() }

// Calls returns how the calls of each link came out, those that are over, in the order of the links. Links beyond a
// thousand are in it together once one of their calls has succeeded, as calls of judgment.OtherClients and OtherAgents.
func (e *Engine) Calls() []judgment.Calls { return e.counter.Calls() }

// Agents returns what was seen of each agent, in order of first appearance.
func (e *Engine) Agents() []judgment.Agent { return e.counter.Agents() }

// A Watch shows what an engine has observed so far to others than the goroutine that it runs in. It may be asked at any
// time; the zero Watch has nothing to show until an engine was made for it.
type Watch struct {
	mu     sync.Mutex // held while the engine takes a step
	engine *Engine
}

// show puts the engine on view.
func (w *Watch) show(e *Engine) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.engine = e
	}
}

// begin begins a step; what it returns ends it.
func (w *Watch) begin() (end func()) {
	if w == nil {
		return func() {}
	}
	w.mu.Lock()
	return w.mu.Unlock
}

// Result returns what was observed so far: coverage, counts and calls. Findings are not in it, since the engine hands
// them out. It is the caller's.
func (w *Watch) Result() *judgment.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &judgment.Result{}
	if w.engine == nil {
		return r
	}
	w.engine.Observed(r)
	r.Agents = nil
	for i := range r.Calls {
		r.Calls[i].Failures, r.Calls[i].Refusals = maps.Clone(r.Calls[i].Failures), maps.Clone(r.Calls[i].Refusals)
	}
	return r
}
