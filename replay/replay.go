package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/live"
	"a2atap/replay/report"
)

// Run replays a capture against the agent at a URL, and those of Options.Agents. It fails if the capture cannot be
// read, contains requests to other agents, or nothing listens at a URL; later failures are in the report. If the live
// traffic could not be recorded, it returns the report and an error.
func Run(ctx context.Context, src capture.Source, to string, o Options) (*report.Report, error) {
	o.Profile = cmp.Or(o.Profile, compare.Protocol)
	if _, err := compare.ParseProfile(string(o.Profile)); err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	p, err := newPlayer(ctx, src, to, o)
	if err != nil {
		return nil, err
	}
	defer p.hooks.close()
	if len(p.plan.agents()) > 0 {
		if err := p.reach(ctx); err != nil {
			return nil, err
		}
		for _, t := range p.order {
			if t.authorize == nil {
				continue
			}
			if _, err := t.credentials(ctx); err != nil {
				return nil, err
			}
		}
		if err := p.tellMissing(ctx); err != nil {
			return nil, err
		}
		if p.translated() {
			if err := p.meet(ctx); err != nil {
				return nil, err
			}
		}
	}
	defer p.agents.CloseIdleConnections()
	p.play(ctx)
	if err := strangers(ctx, p.order, &p.opts); err != nil {
		return nil, errors.Join(err, p.log.End())
	}
	r := &report.Report{
		Capture: p.plan.info.Name, To: p.destination(), Profile: string(o.Profile), Lost: p.plan.info.LostExchanges,
	}
	if p.plan.info.Crashes > 0 {
		r.Crash = p.plan.info.Crash.String()
	}
	if err := p.report(ctx, r); err != nil {
		return nil, err
	}
	if err := p.log.End(); err != nil {
		return r, fmt.Errorf("record the replayed traffic: %w", err)
	}
	return r, ctx.Err()
}

func newPlayer(ctx context.Context, src capture.Source, to string, o Options) (*player, error) {
	plan, err := makePlan(ctx, src, o.Keep)
	if err != nil {
		return nil, fmt.Errorf("read the capture: %w", err)
	}
	p := &player{
		opts: o, src: src, plan: plan, targets: map[string]*target{}, runs: map[uint64]*run{},
		engine: engine.New(o.Rules), agents: live.Transport{Dialer: o.Dialer, Limits: o.Limits},
	}
	p.log = live.NewLog(o.Seq, o.Sink, func(s capture.Step) { p.found = append(p.found, p.engine.Step(s)...) })
	if err := p.aim(to); err != nil {
		return nil, err
	}
	p.noteCallers()
	p.hooks, err = newHooks(o.Webhook, plan.push, p.log, p.notes.once)
	return p, err
}

// recorded returns what the rules find in the recording.
func (p *player) recorded(ctx context.Context) ([]analysis.Finding, error) {
	if p.opts.Found != nil {
		return p.opts.Found(ctx)
	}
	result, err := engine.Run(ctx, p.opts.Rules, p.src, nil)
	if err != nil {
		return nil, err
	}
	return result.Findings, nil
}

// acceptCalls drops the differences of calls that fail now but whose failures are accepted.
func acceptCalls(r *report.Report, failed []judgment.FailedCalls, accepts func(*judgment.FailedCalls) bool) {
	if accepts == nil {
		return
	}
	var accepted []judgment.FailedCalls
	for _, f := range failed {
		f.Link.Client = "" // it is not the recorded one
		if accepts(&f) {
			accepted = append(accepted, f)
		}
	}
	n := 0
	for i := range r.Lines {
		l := &r.Lines[i]
		failed := slices.ContainsFunc(accepted, func(f judgment.FailedCalls) bool { return f.Has(l.Live) })
		if !failed || !slices.ContainsFunc(l.Differences, func(d compare.Difference) bool { return d.Effect.NoAnswer }) {
			continue
		}
		n++
		l.Differences, l.Status = nil, report.Matched
	}
	if n > 0 {
		r.Notes = append(r.Notes, analysis.Plural(n, "failed call")+" accepted, not counted")
	}
}

// report sums up what was played.
func (p *player) report(ctx context.Context, r *report.Report) error {
	d, diffs := p.deliveries(ctx)
	p.hooks.close()
	r.Deliveries = d
	count := p.opts.Noise.Count()
	r.Ignored, r.IgnoredBy, r.Matching = count.Ignored, count.Rules, count.Matched
	for _, rule := range p.opts.Noise.Stale() {
		p.notes.once(rule)
	}
	r.Lines, r.Notes, r.Texts = p.lines, p.notes.texts(), p.texts
	slices.SortFunc(r.Lines, func(a, b report.Line) int { return cmp.Compare(a.Exchange, b.Exchange) })
	p.log.End() //nolint:errcheck // Run reports it
	findings := append(p.found, p.engine.End(false)...)
	acceptCalls(r, p.engine.Failed(), p.opts.AcceptedCalls)
	r.Tally()
	r.Differences = append(r.Differences, diffs...)
	recorded, err := p.recorded(ctx)
	if err != nil {
		return fmt.Errorf("check the capture: %w", err)
	}
	// Rules that a client or a webhook breaks here are the recorded client's faults, which are sent again.
	findings = slices.DeleteFunc(findings, func(f analysis.Finding) bool { return f.Side != a2a.Agent })
	found := compare.NewFindings(recorded, findings)
	r.Findings = slices.DeleteFunc(slices.Clone(found), func(f analysis.Finding) bool {
		return p.opts.Accepted != nil && p.opts.Accepted(&f)
	})
	if n := len(found) - len(r.Findings); n > 0 {
		r.Notes = append(r.Notes, analysis.Plural(n, "new finding")+" accepted, not counted")
	}
	p.dropForeign(r)
	for i := range r.Findings {
		f := &r.Findings[i]
		r.Differences = append(r.Differences, compare.Difference{
			Kind: compare.DifferentFinding, Rule: f.Rule.ID, Live: f.Place.Exchange, Place: f.Place.String(),
			Want:    f.Wanted(),
			Got:     f.Seen,
			Message: fmt.Sprintf("%s (rule %s, not broken in the recording)", f.Message(), f.Rule.ID),
		})
	}
	return nil
}
