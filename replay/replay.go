package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/engine"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/outbound"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/compare"
	"a2atap/replay/noise"
	"a2atap/replay/report"
)

// DefaultTimeout is how long an answer may take beyond what it took when it was recorded.
const DefaultTimeout = 30 * time.Second

// A Judge returns what rules find in a capture, where that is known already.
type Judge func(context.Context) ([]analyzer.Finding, error)

// Options says how to replay. The zero value replays all exchanges as fast as their order allows, without rules.
type Options struct {
	Rules    []*analyzer.Rule             // judge both runs; they must have passed analyzer.Validate
	Found    Judge                        // says what the rules find in the recording; nil: it is judged
	Keep     func(*capture.Exchange) bool // chooses exchanges; nil chooses all
	Profile  compare.Profile              // compare.Protocol if empty
	Agents   map[string]string            // URLs of live agents by the names of recorded ones; the URL of Run is for others
	Speed    float64                      // 1 keeps the recorded pauses, 2 halves them, 0 leaves them out
	Wait     time.Duration                // how long the agent may take to listen
	Noise    *noise.Rules                 // what may differ; nil if nothing may
	Accepted func(*analyzer.Finding) bool // says of new findings which are not differences; nil if all are
	Late     time.Duration                // how much longer than recorded the agent may take; 0 is any time
	Timeout  time.Duration                // see DefaultTimeout, which stands for 0; also for a polled state
	Sink     capture.Sink                 // keeps the live traffic; nil for none. It is not closed
	Seq      uint64                       // the last number that the sink's capture has used already
	Dialer   *outbound.Dialer             // connects to the agent; nil is one without options

	// Binding and Dialect, a set of at most one, are what requests are translated to, at the interface that the live
	// card has for it: they are JSONRPC or HTTPJSON, and 0.2, 0.3 or 1.0. NoBinding and the empty set keep what was
	// recorded. Requests that cannot be said so are left out; answers are then compared by meaning.
	Binding a2a.Binding
	Dialect a2a.Dialects

	further func(uint64, []compare.Difference) // is told of each exchange what else differs; nil if nobody asks

	// Authorize adds credentials to a request; nil has none. What it adds goes in place of what was redacted: under the
	// same name, else beside the rest of a request that had something redacted. It is asked before anything is sent,
	// and then for each such request. It must be safe for concurrent use.
	Authorize Authorizer
	// AuthorizeAgent has it for some agents by the names of recorded ones, in place of Authorize. A nil one has none.
	AuthorizeAgent map[string]Authorizer
	// OnMissing is called before anything is sent, once for each secret that requests need and that neither the capture
	// has nor Authorize gives; nil for nobody. They are sent without.
	OnMissing func(*Missing)

	// Webhook says where notifications are received in the place of recorded webhooks: its Address, Public and
	// Certificate. The zero value listens on a free port of loopback. An agent on another machine is given the address
	// if Public is set, or Address is not on loopback; otherwise its notifications are left out.
	Webhook webhook.Options
}

// An Authorizer adds credentials to a request, as [client.Options].Authorize does.
type Authorizer = func(context.Context, *client.Outgoing) error

// Run replays a capture against the agent at a URL, and those of Options.Agents. It fails if the capture cannot be
// read, holds requests to other agents than these, or nothing listens at a URL; whatever happens after that is in the
// report. If the live traffic could not be recorded, it returns the report and an error.
func Run(ctx context.Context, src capture.Source, to string, o Options) (*report.Report, error) {
	if o.Profile == "" {
		o.Profile = compare.Protocol
	}
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
	p.play(ctx)
	r := &report.Report{
		Capture: p.plan.info.Name, To: p.destination(), Profile: string(o.Profile), Lost: p.plan.info.LostExchanges,
	}
	if p.plan.info.Crashes > 0 {
		r.Crash = p.plan.info.Crash.String()
	}
	if err := p.report(ctx, r); err != nil {
		return nil, err
	}
	if p.log.err != nil {
		return r, fmt.Errorf("record the replayed traffic: %w", p.log.err)
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
		log: newRecorder(o.Rules, o.Sink, o.Seq),
	}
	if err := p.aim(to); err != nil {
		return nil, err
	}
	p.noteCallers()
	p.hooks, err = newHooks(o.Webhook, plan.push, p.log, p.note)
	return p, err
}

// recorded returns what the rules find in the recording.
func (p *player) recorded(ctx context.Context) ([]analyzer.Finding, error) {
	if p.opts.Found != nil {
		return p.opts.Found(ctx)
	}
	result, err := engine.Run(ctx, p.opts.Rules, p.src, nil)
	if err != nil {
		return nil, err
	}
	return result.Findings, nil
}

// report sums up what was played.
func (p *player) report(ctx context.Context, r *report.Report) error {
	d, diffs := p.deliveries(ctx)
	p.hooks.close()
	r.Deliveries = d
	count := p.opts.Noise.Count()
	r.Ignored, r.IgnoredBy, r.Matching = count.Ignored, count.Rules, count.Matched
	for _, rule := range p.opts.Noise.Stale() {
		p.note(rule)
	}
	r.Lines, r.Notes, r.Texts = p.lines, p.notes, p.texts
	slices.SortFunc(r.Lines, func(a, b report.Line) int { return cmp.Compare(a.Exchange, b.Exchange) })
	r.Tally()
	r.Differences = append(r.Differences, diffs...)
	findings := p.log.end()
	recorded, err := p.recorded(ctx)
	if err != nil {
		return fmt.Errorf("judge the capture: %w", err)
	}
	// What a client or a webhook breaks here are the recorded client's faults, which are sent again.
	findings = slices.DeleteFunc(findings, func(f analyzer.Finding) bool { return f.Side != a2a.Agent })
	found := compare.NewFindings(recorded, findings)
	r.Findings = slices.DeleteFunc(slices.Clone(found), func(f analyzer.Finding) bool {
		return p.opts.Accepted != nil && p.opts.Accepted(&f)
	})
	if n := len(found) - len(r.Findings); n > 0 {
		r.Notes = append(r.Notes, analyzer.Plural(n, "new finding")+" accepted, and not counted")
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		r.Differences = append(r.Differences, compare.Difference{
			Kind: compare.DifferentFinding, Rule: f.Rule.ID, Live: f.Place.Exchange, Place: f.Place.String(),
			Want:    f.Expected,
			Got:     f.Seen,
			Message: fmt.Sprintf("%s (rule %s, not broken in the recording)", f.Message, f.Rule.ID),
		})
	}
	return nil
}
