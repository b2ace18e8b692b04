package engine

import (
	"context"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/intake"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Give returns an option that gives a value to a tracker, which finds it in its Setup. It has no effect if no rule
// needs the tracker.
func Give(to *analysis.Tracker, value any) Option {
	return func(e *Engine) { e.given[to] = append(e.given[to], value) }
}

// With returns an option that makes the state of a tracker although perhaps no rule needs it, for those who want what
// it tells and no findings.
func With(t *analysis.Tracker) Option {
	return func(e *Engine) { e.asked = append(e.asked, t) }
}

// From returns an option that lets the engine look through the capture that it is to judge, when it meets the first
// exchange of another program there: what such programs left out shows in the whole only. Without it, what has come so
// far decides.
func From(ctx context.Context, src capture.Source) Option {
	return func(e *Engine) { e.hooks.Kept = func() analysis.Kept { return intake.KeptIn(ctx, src) } }
}

// Knowing returns an option with which an engine asks f what is known of the URL of a request: the target of the
// request, in any form, to the agent at a URL that may be empty.
func Knowing(f func(agentURL, target string) a2a.Known) Option {
	return func(e *Engine) { e.hooks.Known = f }
}

// OnEnded returns an option that calls f with each exchange that is over. Those that are open at the end of a capture
// come then; as long as the recording goes on, none of them is a call yet. Several such options are all heard.
func OnEnded(f func(summary.Summary)) Option {
	return func(e *Engine) { e.hooks.Ended = append(e.hooks.Ended, f) }
}

// Until returns an option with which long texts are not judged any more when outOfTime reports true: what holds them
// counts as incomplete.
func Until(outOfTime func() bool) Option {
	return func(e *Engine) { e.hooks.OutOfTime = outOfTime }
}

// OnLate returns an option that calls f with each fact about an exchange that is over.
func OnLate(f func(seq uint64, fact capture.Fact)) Option {
	return func(e *Engine) { e.hooks.Late = f }
}

// OnEvent returns an option that calls f with each event of a stream that holds something of A2A.
func OnEvent(f func(summary.Event)) Option {
	return func(e *Engine) { e.hooks.Event = f }
}

// Watched returns an option that shows what the engine observes to w, in place of what an earlier engine has observed.
func Watched(w *Watch) Option {
	return func(e *Engine) { e.watch = w }
}
