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
	"a2atap/analyzer/kept"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/push"
	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/spans"
	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
)

// judge follows what this recording adds to the capture, as any other reader would, until it has ended. It falls behind
// rather than take the processor from the traffic. The inspector, if there is one, shows what it finds.
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
			judged.InWorkflow(links, &f)
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
	if r.verdicts != nil {
		var judging *engine.Engine
		src.progress = &judgingProgress{stored: r.store.Committed, tell: func(arrival uint64, behind bool) {
			r.verdicts.Judged(arrival, judging.Counts(), behind)
		}}
		tell := each
		each = func(f analysis.Finding) {
			tell(f)
			r.verdicts.Found(f)
		}
		options = append(options, func(e *engine.Engine) { judging = e })
		options = append(options, workflow.Into(r.verdicts.Linked)...)
		options = append(options, engine.Watched(r.verdicts.Watch()))
	}
	if tell := each; tell != nil {
		each = func(f analysis.Finding) {
			keep.found(f)
			tell(f)
		}
	}
	result, err := followGuarded(r.rules, src, each, options)
	if err == nil {
		for i := range result.Findings { // where nobody was told of each
			keep.found(result.Findings[i])
		}
		if keepErr := keep.end(context.Background(), result); keepErr != nil {
			r.listener.Notice(fmt.Sprintf("what judging came to is not kept in the capture, so the next look judges it: %v", keepErr))
		}
	}
	if errors.Is(err, errJudging) {
		r.listener.Notice(err.Error())
	}
	if r.verdicts != nil {
		var counts judgment.Counts
		if result != nil {
			counts = result.Counts
		}
		r.verdicts.Ended(counts, err)
	}
	r.judged <- judgement{result, err}
}

// engineOptions are those of an engine that tells the listener and the spans what passes.
func (r *Recording) engineOptions(o *Options) []engine.Option {
	options := r.spans.Options()
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

// printed returns where an exchange is read from to be printed: without its bodies, if there was no time to judge them.
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

// errJudging says that judging has failed by a mistake of ours.
var errJudging = errors.New("judging has ended, recording goes on")

// followGuarded judges a source as it grows. A rule that panics ends it with errJudging, and nothing else.
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

// verdict waits for the rules to come to the end of what was stored.
func (r *Recording) verdict() judgement {
	select {
	case j := <-r.judged:
		return j
	case <-time.After(r.patience):
	}
	left := analysis.Plural(r.throttle.exchanges(), "exchange")
	r.listener.Tell(fmt.Sprintf("all is recorded; %s left to judge before the verdict", left))
	return <-r.judged
}

// newThrottle returns the throttle of judging a recording.
func (r *Recording) newThrottle() *throttle {
	p := &throttle{
		lifted: make(chan struct{}),
		busy:   r.busy(),
		stored: r.store.Committed,
		onLag: func(l lag) {
			text := fmt.Sprintf("judging is %v behind, since traffic goes first; it catches up, at the end at the latest", l)
			r.listener.Tell(text)
			if r.verdicts != nil {
				r.verdicts.Notice(text)
			}
		},
	}
	p.seq.Store(r.store.Position().Seq)
	return p
}

// An addition is what a recording adds to a capture, as a source of which only the steps can be followed: those after a
// position.
type addition struct {
	capture.Source
	after    bolt.Position
	before   capture.Info // as it was then
	throttle *throttle
	progress *judgingProgress // nil if nobody looks
	spans    *spans.Live      // nil if none are made
	keep     *keeping         // nil if what judging comes to is not kept
}

// Info implements capture.Source. What earlier recordings lost is not what this one did.
func (a *addition) Info(ctx context.Context) (capture.Info, error) {
	info, err := a.Source.Info(ctx)
	info.LostExchanges -= a.before.LostExchanges
	info.LostBytes -= a.before.LostBytes
	info.Crashes, info.Crash = 0, capture.Crash{}
	return info, err
}

// Wait implements capture.Source. What an earlier recording left in the capture is nothing to come back for: Steps does
// not yield it.
//
// What judging comes to is soon seen by all who look at it, also if nothing passes any more.
func (a *addition) Wait(ctx context.Context, from uint64) error {
	return kept.Wait(ctx, a.Source, max(from, a.after.Arrival+1), a.keep.due, a.keep.caughtUp)
}

// Steps implements capture.Source. What an earlier recording left in the capture is not read.
//
// Those who look at the clock are told of a step when judging has given way, which is soon, and of the last one.
func (a *addition) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		from = max(from, a.after.Arrival+1)
		var work background.Work
		var untold uint64 // the last step, if nobody was told
		tell := func(arrival uint64) {
			a.progress.judged(arrival)
			a.keep.judged(arrival)
			a.throttle.pauseIfDue(arrival)
		}
		a.throttle.begin()
		a.progress.begin(from - 1)
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
		a.progress.end()
		a.keep.caughtUp()
	}
}

// progressInterval is how often the inspector is told how far judging is while there is more to judge.
const progressInterval = 100 * time.Millisecond

// A judgingProgress tells the inspector how far judging is. It is for the goroutine that judges; a nil one tells
// nobody.
type judgingProgress struct {
	tell   func(arrival uint64, behind bool) // that the steps up to one were judged, and whether more wait
	stored func() bolt.Position

	arrival  uint64    // the last step that was judged
	reported time.Time // or, if nothing was reported since, the begin of the reading
	behind   bool      // something was reported since
}

// begin begins to read after a step.
func (s *judgingProgress) begin(arrival uint64) {
	if s != nil {
		s.arrival, s.reported, s.behind = arrival, time.Now(), false
	}
}

func (s *judgingProgress) judged(arrival uint64) {
	if s == nil {
		return
	}
	s.arrival = arrival
	if now := time.Now(); now.Sub(s.reported) >= progressInterval {
		s.reported, s.behind = now, true
		s.tell(s.arrival, true)
	}
}

// end comes after the last step that was stored at the begin. If it took long to get there, more may wait.
func (s *judgingProgress) end() {
	if s != nil {
		s.tell(s.arrival, s.behind && s.arrival < s.stored().Arrival)
	}
}
