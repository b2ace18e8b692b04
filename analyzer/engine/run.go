package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
)

// Run checks the current contents of the source and calls each with every finding as it is made; each may be nil. It
// returns the result, which has no findings if each is given.
func Run(
	ctx context.Context, rules []*analysis.Rule, src capture.Source, each func(analysis.Finding), options ...Option,
) (*judgment.Result, error) {
	return run(ctx, rules, src, each, false, options)
}

// Follow is Run on a recording in progress: it checks new steps until the recording or the context ends.
func Follow(
	ctx context.Context, rules []*analysis.Rule, src capture.Source, each func(analysis.Finding), options ...Option,
) (*judgment.Result, error) {
	return run(ctx, rules, src, each, true, options)
}

// valid are the last rules that were found valid: most programs always use the same ones.
var valid atomic.Pointer[[]*analysis.Rule]

// validate is analysis.Validate with a cache. A rule does not change after its first use.
func validate(rules []*analysis.Rule) error {
	if last := valid.Load(); last != nil && slices.Equal(*last, rules) {
		return nil
	}
	if err := analysis.Validate(rules); err != nil {
		return err
	}
	kept := slices.Clone(rules)
	valid.Store(&kept)
	return nil
}

func run(
	ctx context.Context, rules []*analysis.Rule, src capture.Source, each func(analysis.Finding), follow bool, options []Option,
) (*judgment.Result, error) {
	if err := validate(rules); err != nil {
		return nil, err
	}
	info, err := src.Info(ctx)
	if err != nil {
		return nil, err
	}
	result := &judgment.Result{Captures: []string{info.Name}}
	var ledger judgment.Ledger
	report := func(findings []analysis.Finding) {
		for _, f := range findings {
			f.Capture = info.Name
			ledger.Add(&f)
			if each != nil {
				each(f)
			} else {
				result.Take(f)
			}
		}
	}
	e := New(rules, append(slices.Clip(options), From(ctx, src))...)
	result.Live, err = feed(ctx, e, src, report, follow)
	report(e.End(result.Live))
	result.Settle()
	result.Found, result.Critical = ledger.Found, ledger.Critical
	e.Observed(result)
	if info, infoErr := src.Info(ctx); infoErr == nil {
		result.Note(info)
	}
	return result, err
}

// feed passes all steps to the engine. It returns whether more may come.
func feed(
	ctx context.Context, e *Engine, src capture.Source, report func([]analysis.Finding), follow bool,
) (live bool, err error) {
	next := uint64(1)
	for {
		for s, err := range src.Steps(ctx, next) {
			if err = cmp.Or(err, ctx.Err()); err != nil { // a source may look at its context rarely
				return false, err
			}
			next = s.Arrival + 1
			report(e.Step(s))
		}
		if !follow {
			info, err := src.Info(ctx)
			return info.Provisional(), err
		}
		switch err := src.Wait(ctx, next); {
		case errors.Is(err, capture.ErrEnded):
			return false, nil
		case err != nil && ctx.Err() != nil:
			return true, nil
		case err != nil:
			return true, err
		}
	}
}

// Summarize returns the summary of a single exchange, for callers without stored results of its capture. It lacks facts
// that other exchanges would show, such as the binding that an agent's card names for a URL, unless an option provides
// them. For a long stream, the first and the last events are enough.
func Summarize(x *capture.Exchange, options ...Option) (sum summary.Summary) {
	e := New(nil, append(options, OnEnded(func(s summary.Summary) { sum = s }))...)
	for _, s := range capture.Steps(x) {
		e.Step(s)
	}
	if x.State == capture.StateOpen {
		e.End(true)
	}
	return sum
}
