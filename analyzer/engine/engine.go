// Package engine checks captures: it reads their steps in the order of arrival, once, and passes observations to rules.
//
//	result, err := engine.Run(ctx, rules.All, source, nil)
//
// Run checks the contents of a capture, and Follow one that is being recorded. To feed the steps yourself, make an
// Engine.
//
// # What an engine promises
//
//   - A finding is a fact. If the record has a gap, if the dialect is undecided, or if two exchanges overlap in an
//     uncertain order, rules report nothing.
//   - One cause, one finding: a rule that covers another one is reported instead of it, and names it.
//   - It does not matter whether a client reads an agent's card before its calls or a client reads it soon afterwards:
//     findings of the first calls may follow, or be revised, when the card comes.
//   - Memory is bounded: the least recently used tasks, endpoints and webhooks are forgotten first. Forgotten entries
//     are unknown, and counted.
//   - Coverage counts, for each rule and link, how often it applied and how often it was broken. A rule that never
//     applied was not observed, which is not the same as kept.
//
// The engine itself knows what it needs to read a request: the binding and dialects at an address, from cards and
// calls, and which addresses belong to one agent. Three trackers help: push recognizes the notifications to a
// configured webhook, task knows which messages of a history were checked when they were sent, and signature requests
// the bodies of key sets.
package engine

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/engine/internal/intake"
	"a2atap/analyzer/engine/internal/late"
	"a2atap/analyzer/engine/internal/tally"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
)

// An Engine checks one capture. Give it every step in order of arrival, then call End. It is not safe for concurrent
// use. analysis.Tracker defines the order in which rules and trackers see its observations.
type Engine struct {
	reader     *intake.Reader
	dispatcher *dispatch.Dispatcher
	counter    *tally.Counter
	hooks      intake.Hooks
	asked      []*analysis.Tracker         // requested by options
	given      map[*analysis.Tracker][]any // values from options
	late       *late.Judge                 // nil if late cards are ignored
}

// An Option changes the inputs or the callbacks of an engine.
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
	return e
}

// Step takes the next step and returns the resulting findings, in the order of the rules. The slice is valid until the
// next call.
func (e *Engine) Step(s capture.Step) []analysis.Finding {
	e.reader.Step(s)
	found := e.dispatcher.Findings(e.reader.Case)
	if e.late != nil {
		found = e.late.Step(s, found)
	}
	e.reader.Forget()
	return found
}

// End declares that no more steps will come. live is true if that is temporary because the recording continues: open
// exchanges are then not findings.
func (e *Engine) End(live bool) []analysis.Finding {
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

// Open calls f with the current state of each open exchange whose number wanted accepts, in order. It may be called
// between two steps.
func (e *Engine) Open(wanted func(seq uint64) bool, f func(summary.Summary)) {
	e.reader.Summaries(wanted, f)
}

// Observed adds the observations so far to a result: coverage, counts, calls, agents, failures, unseen traffic, and
// remarks.
func (e *Engine) Observed(r *judgment.Result) {
	r.Coverage, r.Counts, r.Calls, r.Agents = e.Coverage(), e.Counts(), e.Calls(), e.Agents()
	r.FailedCalls, r.NotSeen, r.Remarks = e.Failed(), e.counter.Gaps(), e.counter.Remarks()
}

// Failed returns the calls that failed or were refused so far, grouped by failure.
func (e *Engine) Failed() []judgment.FailedCalls { return e.counter.Failed() }

// Counts returns the amounts of traffic so far.
func (e *Engine) Counts() judgment.Counts {
	c := e.counter.Total()
	c.Forgotten = e.reader.Forgotten() + e.dispatcher.Forgotten()
	return c
}

// Coverage returns, for each rule and link, how often the rule applied and was broken, ordered by rule and then by
// link. It omits rules that never applied on a link.
func (e *Engine) Coverage() []judgment.Coverage { return e.counter.Coverage() }

// Calls returns the outcomes of the ended calls of each link, in the order of the links. Beyond a thousand links, those
// with a successful call are combined, as calls of judgment.OtherClients and OtherAgents.
func (e *Engine) Calls() []judgment.Calls { return e.counter.Calls() }

// Agents returns the observed facts about each agent, in order of first appearance.
func (e *Engine) Agents() []judgment.Agent { return e.counter.Agents() }
