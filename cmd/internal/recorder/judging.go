package recorder

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/push"
	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/spans"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
)

// judge follows the steps that this recording adds to the capture, as any other reader would, until the recording has
// ended. It falls behind rather than take the processor from the traffic. The inspector, if there is one, shows the
// findings.
func (r *Recording) judge(o Options, keep *keeping) {
	src := &addition{
		Source: r.store, after: r.store.Position(), before: r.before, throttle: r.throttle, spans: r.spans, keep: keep,
	}
	options := append(slices.Clip(o.Keys), r.engineOptions(&o)...)
	options = append(options, engine.Until(r.outOfTime))
	options = append(options, keep.options()...)
	options = append(options, push.AtEnd(r.listener.Standing))
	var each func(analysis.Finding)
	if o.Listener != nil {
		links := &workflow.Index{}
		options = append(options, workflow.Into(links.Put)...)
		each = func(f analysis.Finding) {
			verdict.InWorkflow(links, &f)
			r.listener.Finding(f)
		}
	}
	if r.spans != nil {
		tell := each
		each = func(f analysis.Finding) {
			if tell != nil {
				tell(f)
			}
			r.spans.Found(&f)
		}
	}
	if tell := each; tell != nil {
		each = func(f analysis.Finding) {
			keep.found(f)
			tell(f)
		}
	}
	result, err := followGuarded(r.rules, src, each, options)
	if err == nil {
		for i := range result.Findings { // if findings were not reported one by one
			keep.found(result.Findings[i])
		}
		if keepErr := keep.end(context.Background(), result); keepErr != nil {
			r.listener.Notice(fmt.Sprintf("the check result is not stored in the capture, so it is checked again next time: %v", keepErr))
		}
	}
	if errors.Is(err, errJudging) {
		r.listener.Notice(err.Error())
	}
	r.judged <- judgement{result, err}
}

// engineOptions returns the options of an engine that reports to the listener and the spans.
func (r *Recording) engineOptions(o *Options) []engine.Option {
	options := r.spans.Options()
	if r.hints != nil {
		options = append(options, engine.OnEnded(func(x summary.Summary) { r.hints.saw(&x) }))
	}
	if o.Exchanges || r.spans != nil {
		options = append(options, engine.OnEnded(func(x summary.Summary) {
			if o.Exchanges {
				r.listener.Exchange(r.printed(&x), x)
			}
			r.spans.Ended(&x)
		}))
	}
	if o.Events || r.spans != nil {
		options = append(options, engine.OnEvent(func(v summary.Event) {
			if o.Events {
				r.listener.Event(v)
			}
			r.spans.Event(&v)
		}))
	}
	return options
}

// printed returns the source to print an exchange from: without its bodies, if there was no time to check them.
func (r *Recording) printed(x *summary.Summary) capture.Source {
	if x.Missing != "" && r.outOfTime() {
		return bodiless{r.store}
	}
	return r.store
}

// A bodiless source yields exchanges without bodies and events: their bytes count as dropped.
type bodiless struct{ capture.Source }

// StepsOf implements capture.Source.
func (b bodiless) StepsOf(ctx context.Context, seq, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		for s, err := range b.Source.StepsOf(ctx, seq, from) {
			switch what := s.What.(type) {
			case capture.RequestBody:
				s.What = capture.RequestBody{Dropped: what.Dropped + int64(len(what.Data))}
			case capture.ResponseBody:
				s.What = capture.ResponseBody{Dropped: what.Dropped + int64(len(what.Data))}
			case capture.ResponseEvent:
				s.What = capture.ResponseBody{Dropped: what.Event.Dropped + int64(len(what.Event.Raw))}
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// errJudging means that checking has failed because of a bug in a2atap.
var errJudging = errors.New("checking has stopped, recording continues")

// followGuarded checks a source as it grows. A rule that panics ends only the check, with errJudging.
func followGuarded(
	rules []*analysis.Rule, src capture.Source, each func(analysis.Finding), options []engine.Option,
) (result *judgment.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, fmt.Errorf("%w: a rule panicked: %v; a2atap check shows where, please report it", errJudging, v)
		}
	}()
	return engine.Follow(context.Background(), rules, src, each, options...)
}

// verdict waits until the rules have checked everything stored.
func (r *Recording) verdict() judgement {
	select {
	case j := <-r.judged:
		return j
	case <-time.After(r.patience):
	}
	left := analysis.Plural(r.throttle.exchanges(), "exchange")
	r.listener.Tell(fmt.Sprintf("everything is recorded; %s left to check before the verdict", left))
	return <-r.judged
}

// newThrottle returns the throttle for checking a recording.
func (r *Recording) newThrottle() *throttle {
	p := &throttle{
		lifted: make(chan struct{}),
		busy:   r.busy(),
		stored: r.store.Committed,
		onLag: func(l lag) {
			text := fmt.Sprintf("checking is %v behind, since traffic has priority; it catches up, by the end of the recording at latest", l)
			r.listener.Tell(text)
			r.notice(text)
		},
	}
	p.seq.Store(r.store.Position().Seq)
	return p
}

// An addition is the part of a capture that a recording adds: the steps after a position. Only its steps can be
// followed.
type addition struct {
	capture.Source
	after    bolt.Position
	before   capture.Info // at the start of this recording
	throttle *throttle
	spans    *spans.Live // nil without spans
	keep     *keeping    // nil if the results are not stored
}

// Info implements capture.Source. It excludes losses of earlier recordings.
func (a *addition) Info(ctx context.Context) (capture.Info, error) {
	info, err := a.Source.Info(ctx)
	info.LostExchanges -= a.before.LostExchanges
	info.LostBytes -= a.before.LostBytes
	info.Crashes, info.Crash = 0, capture.Crash{}
	return info, err
}

// Wait implements capture.Source. Steps of an earlier recording do not end the wait, since Steps does not yield them.
//
// Readers soon see results even if no more traffic passes.
func (a *addition) Wait(ctx context.Context, from uint64) error {
	return snapshot.Wait(ctx, a.Source, max(from, a.after.Arrival+1), a.keep.due, a.keep.caughtUp)
}

// Steps implements capture.Source. It skips the steps of earlier recordings.
//
// Clock watchers learn of a step when checking yields, which is soon, and of the last step.
func (a *addition) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		from = max(from, a.after.Arrival+1)
		var work background.Work
		var untold uint64 // the last unreported step
		tell := func(arrival uint64) {
			a.keep.judged(arrival)
			a.throttle.pauseIfDue(arrival)
		}
		a.throttle.begin()
		for s, err := range a.Source.Steps(ctx, from) {
			if !yield(s, err) {
				return
			}
			a.spans.Step()
			a.throttle.judged(s.Seq)
			if untold = s.Arrival; work.GiveWay() {
				tell(s.Arrival)
				untold = 0
			}
		}
		if untold != 0 {
			tell(untold)
		}
		a.keep.caughtUp()
	}
}
