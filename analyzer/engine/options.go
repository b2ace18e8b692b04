package engine

import (
	"context"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/intake"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Give returns an option that passes a value to a tracker, which finds it in its Setup. It has no effect if no rule
// needs the tracker.
func Give(to *analysis.Tracker, value any) Option {
	return func(e *Engine) { e.given[to] = append(e.given[to], value) }
}

// With returns an option that runs a tracker even if no rule needs it, for callers that want its observations and no
// findings.
func With(t *analysis.Tracker) Option {
	return func(e *Engine) { e.asked = append(e.asked, t) }
}

// From returns an option that lets the engine scan the capture when it meets the first exchange of another program.
// Only the whole capture shows which fields such programs left out. Without the option, the steps so far decide.
func From(ctx context.Context, src capture.Source) Option {
	return func(e *Engine) { e.hooks.Kept = func() analysis.Kept { return intake.KeptIn(ctx, src) } }
}

// Knowing returns an option that makes an engine ask f for the known facts about the URL of a request. f receives the
// target of the request, in any form, and the agent's URL, which may be empty.
func Knowing(f func(agentURL, target string) a2a.Known) Option {
	return func(e *Engine) { e.hooks.Known = f }
}

// OnEnded returns an option that calls f with each exchange that has ended. Exchanges that are open at the end of a
// capture are passed then; while a recording continues, none of them counts as a call yet. If the option is given
// repeatedly, all functions are called.
func OnEnded(f func(summary.Summary)) Option {
	return func(e *Engine) { e.hooks.Ended = append(e.hooks.Ended, f) }
}

// Until returns an option that stops checking long texts once outOfTime returns true. Messages with such texts count as
// incomplete.
func Until(outOfTime func() bool) Option {
	return func(e *Engine) { e.hooks.OutOfTime = outOfTime }
}

// OnLate returns an option that calls f with each fact about an exchange that has ended.
func OnLate(f func(seq uint64, fact capture.Fact)) Option {
	return func(e *Engine) { e.hooks.Late = f }
}

// OnEvent returns an option that calls f with each A2A event of a stream.
func OnEvent(f func(summary.Event)) Option {
	return func(e *Engine) { e.hooks.Event = f }
}
