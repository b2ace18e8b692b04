// Package prober tests whether agents meet the requirements of the protocol. It selects scenarios and credentials, and
// reports the results. The scenarios themselves are in replay/probe. The traffic is recorded in memory, and also in a
// capture if requested, and checked by the rules.
package prober

import (
	"context"
	"errors"
	"fmt"
	"io"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/outbound"
	"a2atap/replay/probe"
)

// Run probes one agent or two, and writes a report; or it lists the scenarios.
func Run(ctx context.Context, e cli.Env, o *Options, args []string) error {
	if o.List {
		return o.listScenarios(e, args)
	}
	gate, err := o.check(args)
	if err != nil {
		return err
	}
	scenarios, err := o.Choice.scenarios()
	if err != nil {
		return err
	}
	known, err := o.Baseline.Open(e)
	if err != nil {
		return err
	}
	judged, keys, err := verdict.ReadKeySets(o.JWKS)
	if err != nil {
		return err
	}
	agents, err := o.Target.agents(e, args)
	if err != nil {
		return cli.AsUsage(err)
	}
	if err := o.Target.learns(ctx, e, agents); err != nil {
		return err
	}
	hooks, err := o.Webhook.Options(e, "probe")
	if err != nil {
		return err
	}
	ship, err := o.Ship.Beside(e, o.Capture.File)
	if err != nil {
		return err
	}
	masks := agents.masks()
	e.Out, e.Err = masks.Writer(e.Out), masks.Writer(e.Err)
	run := &run{
		e: e, o: o, gate: gate, scenarios: scenarios, known: known, agents: agents, webhook: hooks, judged: judged, keys: keys,
		ship: ship,
	}
	return masks.Error(run.run(ctx))
}

// check rejects invalid combinations of flags, and returns the gate.
func (o *Options) check(args []string) (analysis.Severity, error) {
	if len(args) == 0 {
		return 0, cli.Usage("probe needs URL, the agent to test, or --list; see a2atap probe --help")
	}
	if err := cli.ChooseFormat("format", &o.Format, o.Output, report.Formats()...); err != nil {
		return 0, err
	}
	switch {
	case o.Parallel < 1:
		return 0, cli.Usage("--parallel %d: write 1 or more", o.Parallel)
	case o.Wait < 0:
		return 0, cli.Usage("--wait %v: write a time above 0, such as 30s", o.Wait)
	}
	if err := o.Webhook.Check(); err != nil {
		return 0, err
	}
	return o.gate()
}

// gate returns the lowest severity that makes the command fail.
func (o *Options) gate() (analysis.Severity, error) {
	gate, err := present.ParseGate(o.FailOn)
	if gate.Calls {
		return 0, cli.Usage("--fail-on calls is for check, record and run: here some calls are expected to fail")
	}
	return gate.Severity, err
}

// run probes the agents, writes the report, and returns the exit status as an error.
func (r *run) run(ctx context.Context) error {
	record, err := r.o.record(r.e, r.agents, r.ship)
	if err != nil {
		return err
	}
	asking, cancel := cli.UntilInterrupted(ctx, r.e)
	defer cancel()
	whole := &report.Report{Gate: r.gate, Tool: cli.Tool()}
	failed := r.ask(asking, record, whole)
	failed = errors.Join(failed, record.Close())
	if r.o.Capture.File != "" {
		verdict.Keep(context.WithoutCancel(ctx), r.e, "probe", r.o.Capture.File)
	}
	if whole.Tests == nil {
		return failed
	}
	if err := r.judge(context.WithoutCancel(ctx), record, whole); err != nil {
		return errors.Join(failed, err)
	}
	if len(r.agents) > 1 {
		whole.Directions = r.directions(whole)
	}
	passed := accept(r.known, whole)
	written := cli.WriteOutput(r.e, r.o.Output, func(w io.Writer) error { return r.write(w, whole) })
	if err := r.known.Finish(r.e, whole.Result.Coverage, nil, passed); err != nil {
		written = errors.Join(written, err)
	}
	fmt.Fprintf(r.e.Err, "probe: %s\n", whole.Verdict())
	if failed = errors.Join(failed, written); failed != nil {
		return failed
	}
	return exit(whole)
}

// ask probes one agent after another. The report includes the results even if ask returns an error.
func (r *run) ask(ctx context.Context, record *record, whole *report.Report) error {
	for _, a := range r.agents {
		options := r.options(a)
		options.Sink, options.Seq = record.sink, record.last()
		show := cli.Progress{W: r.e.Err, What: "probe " + a.name, Began: r.e.Now()}
		var cases, done uint64
		options.OnCases = func(n int) { cases = uint64(n) }
		if r.e.ShowsProgress() {
			options.OnResult = func(*probe.Result) {
				done++
				show.Count("scenario", done, cases)
			}
		}
		result, err := probe.Run(ctx, a.setup.URL, options)
		show.Clear()
		if result != nil {
			whole.Tests = append(whole.Tests, suiteOf(a.name, result, ctx.Err() != nil))
		}
		switch {
		case ctx.Err() != nil && result != nil:
			return nil // the report mentions the interrupt
		case errors.Is(err, probe.ErrNoAgent):
			return fmt.Errorf("probe: %w", err)
		case errors.Is(err, probe.ErrSkill):
			return cli.Usage("%w", err)
		case errors.Is(err, probe.ErrWebhook):
			return fmt.Errorf("%w on %s: %w; choose another address with --webhook-listen", probe.ErrWebhook,
				r.o.Webhook.Listen, outbound.Cause(err))
		case err != nil:
			return err
		}
	}
	return nil
}

// exit returns the exit status for a report as an error, nil for 0.
func exit(whole *report.Report) error {
	return present.VerdictExit(whole.Exit())
}
