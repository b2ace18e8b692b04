package minimize

import (
	"context"
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/proxy/capture"
)

// Options select the finding to reproduce, and how.
type Options struct {
	Rule      string // the id that the finding has, or has covered
	Agent     string // name of the agent; empty for any
	Place     string // where the finding is, such as 12.response.event[3]#/result; empty for the first one
	Anonymous bool   // replace texts, names, ids and hosts with neutral words
	// Found returns the rules' findings in the capture, if already known; nil checks the capture
	Found  func(context.Context) ([]analysis.Finding, error)
	OnStep func(Progress) // called before each attempt to remove something, on Run's goroutine; may be nil
}

// A Result is the smallest part of a capture that shows the finding.
type Result struct {
	Exchanges []*capture.Exchange
	Recorded  analysis.Finding   // as it is in the capture
	Finding   analysis.Finding   // as the result shows it
	Findings  []analysis.Finding // all that the result shows, in order
	Of        int                // exchanges that the capture has
	Kept      []string           // texts that could not be replaced, since the finding or the interpretation depends on them
	Progress
	Stopped bool // the context ended first: smaller may be possible
}

// found returns the findings of the rules in the capture.
func (o *Options) found(ctx context.Context, rules []*analysis.Rule, src capture.Source) ([]analysis.Finding, error) {
	if o.Found != nil {
		return o.Found(ctx)
	}
	result, err := engine.Run(ctx, rules, src, nil)
	if err != nil {
		return nil, err
	}
	return result.Findings, nil
}

// Run returns the smallest part of a capture that still shows a finding. The rules must have passed analysis.Validate
// and include the requested one. If the context ends, Run returns the result so far; before the finding was seen, it
// returns the context's error.
func Run(ctx context.Context, rules []*analysis.Rule, src capture.Source, o Options) (*Result, error) {
	j := &judge{ctx: ctx, rules: rules, rule: o.Rule, onStep: o.OnStep}
	j.forget()
	recorded, err := o.found(ctx, rules, src)
	if err != nil {
		return nil, fmt.Errorf("check the capture: %w", err)
	}
	at := o.choose(recorded)
	if at < 0 {
		return nil, ErrNotShown
	}
	j.want(&recorded[at])
	j.knows(recorded)
	var all []*capture.Exchange
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return nil, fmt.Errorf("read the capture: %w", err)
		}
		all = append(all, x)
	}
	if err := j.begin(all); err != nil {
		return nil, err
	}
	j.reduce()
	r := &Result{Recorded: recorded[at], Of: len(all)}
	if o.Anonymous {
		r.Kept = j.anonymize()
	}
	r.Exchanges, r.Findings, r.Finding, r.Progress = j.now, j.findings, j.finding, j.progress()
	r.Stopped = ctx.Err() != nil
	return r, nil
}

// choose returns the index of the requested finding, preferring the rule itself to a rule that covers it, or -1.
func (o *Options) choose(findings []analysis.Finding) int {
	chosen := func(f *analysis.Finding) bool {
		return (o.Agent == "" || f.Programs().Agent == o.Agent) && (o.Place == "" || f.Place.String() == o.Place)
	}
	at := slices.IndexFunc(findings, func(f analysis.Finding) bool { return f.Rule.ID == o.Rule && chosen(&f) })
	if at >= 0 {
		return at
	}
	return slices.IndexFunc(findings, func(f analysis.Finding) bool { return shows(&f, o.Rule) && chosen(&f) })
}

// reduce removes parts until no further part can be removed.
func (j *judge) reduce() {
	for before := -1; before != j.kept; {
		before = j.kept
		j.cutExchanges()
		j.cutEvents()
		j.cutFacts()
		j.cutHeads()
		j.cutBodies()
		j.shorten()
		j.plainTimes()
	}
}

// cutExchanges removes whole exchanges.
func (j *judge) cutExchanges() {
	j.whole = true
	defer func() { j.whole = false }()
	shrink(len(j.now), func(from, to int) bool {
		return j.try(slices.Concat(j.now[:from], j.now[to:]))
	})
}
