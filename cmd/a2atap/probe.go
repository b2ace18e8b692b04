package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/analyzer/jws"
	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/receiver"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/replay/client/webhook"
	"a2atap/replay/probe"
)

type probeOptions struct {
	choice    probeChoice
	target    probeTarget
	webhook   receiver.Flags
	wait      time.Duration
	parallel  int
	waivers   string
	failOn    string
	format    string
	output    string
	capture   string
	redactKey string
	jwks      []string
	list      bool
	nats      cli.NATSFlags
	ship      shipment.Flags
}

func newProbe(e cli.Env) *cobra.Command {
	o := probeOptions{}
	cmd := &cobra.Command{
		Use:   "probe [NAME=]URL [[NAME=]URL2]",
		Short: "Ask an agent what the protocol requires, and report how it answers",
		Long: `Probe reads the agent card at URL and asks the agent, on each interface that the card offers: ordinary
calls, streams, unknown tasks, malformed requests, missing credentials. Each scenario says what must come back, cites
the section that requires it, and says what to do if it does not. What was asked and answered is judged by the rules of
check as well; what they find wrong with what we asked on purpose is left out, and counted.

A scenario passes or fails; it is skipped if it is not for this agent, such as one about streams for an agent without
them; it is inconclusive if the agent's answer does not show what it is about. An agent that does not answer any more is
critical. An agent with the skills of the reference agents is told what to do by their keywords, any other is sent the
examples of its card (--drive, --skill), or the texts of --prompt.

Push notifications come to a receiver on loopback. An agent elsewhere needs an address that it reaches (--webhook-url,
--webhook-listen), one that insists on https also a certificate that it trusts (--webhook-tls, --webhook-cert).

With a second URL both agents are asked, and a table says what is known of each direction between them. Both get the
same credentials, unless --auth2 brings those of the second. --second-auth is another user of one agent.

With --capture, --ship publishes what is recorded, as that of record does.

A failure that is known and accepted stands in the file of --waivers, a JSON list of {"test", "reason", "until"}: test
is a test's name or id, with * for any text but /; until is a date, 2027-01-31, and may be left out. It stays in the
report, with its reason, and does not fail the run. The agent conforms no better for it, and the level says so.

Exit status: 0 nothing failed; 1 a scenario failed or a rule found something, at or above --fail-on; 2 wrong usage; 3
the agent could not be reached, push notifications not be received where that was asked for, or the report or capture
not be written; 4 nothing was proved, the run was interrupted, or the agent was gone and that is waived.`,
		Example: `  a2atap probe http://127.0.0.1:9001/spec
  a2atap probe https://booker.example/a2a --auth bearer:env:TOKEN --format markdown -o report.md
  a2atap probe http://127.0.0.1:9001 --only errors --skip 'rest/*'
  a2atap probe http://127.0.0.1:9001 --format junit -o probe.xml --capture probe.a2atap --waivers known.json
  a2atap probe booker=http://127.0.0.1:9001 hotel=http://127.0.0.1:9002
  a2atap probe booker=https://booker.example hotel=https://hotel.example --auth bearer:env:B --auth2 apikey:env:H
  a2atap probe https://booker.example/a2a --webhook-listen 127.0.0.1:9003 --webhook-url https://hooks.example
  a2atap probe --list`,
		RunE: func(cmd *cobra.Command, args []string) error { return runProbe(cmd.Context(), e, &o, args) },
	}
	f := cmd.Flags()
	o.target.register(f)
	o.webhook.Register(f, "for push notifications: ",
		"; before A2A 0.1 it is on https anyway, with one that nobody trusts")
	o.choice.register(f)
	f.DurationVar(&o.wait, "wait", 0, "wait up to `D` for the agent to answer")
	f.IntVar(&o.parallel, "parallel", 4, "run `N` scenarios at the same time")
	f.StringVar(&o.waivers, "waivers", "", "accept the failures that `FILE` lists, with their reasons")
	f.StringVar(&o.failOn, "fail-on", "error",
		"exit with 1 for failures and findings of this `SEVERITY` or worse: error, warning, note or never")
	f.StringVar(&o.format, "format", "text", "write the report as `FORMAT`: "+strings.Join(report.Formats(), ", "))
	f.StringVarP(&o.output, "output", "o", "-", "write the report to `FILE`")
	f.StringVar(&o.capture, "capture", "", "record the traffic into `FILE`; an existing capture is appended to")
	f.StringArrayVar(&o.jwks, "jwks", nil, "verify signatures of agent cards with the keys of `FILE`, a JWK Set, beside "+
		"those that the agent serves where a signature says; repeatable")
	f.StringVar(&o.redactKey, "redaction-key", "", "with --capture: "+redacted.KeyHelp)
	o.ship.Register(f, &o.nats, "with --capture: ")
	o.nats.Register(f)
	f.BoolVar(&o.list, "list", false, "list the scenarios, as --format text or json, and ask nothing")
	return withArgs(cmd, 0, 2)
}

func runProbe(ctx context.Context, e cli.Env, o *probeOptions, args []string) error {
	if o.list {
		return o.listScenarios(e, args)
	}
	gate, err := o.check(args)
	if err != nil {
		return err
	}
	scenarios, err := o.choice.scenarios()
	if err != nil {
		return err
	}
	waived, err := readWaivers(o.waivers)
	if err != nil {
		return err
	}
	judged, keys, err := judged.ReadKeySets(o.jwks)
	if err != nil {
		return err
	}
	agents, err := o.target.agents(e, args)
	if err != nil {
		return cli.AsUsage(err)
	}
	hooks, err := o.webhook.Options(e, "probe")
	if err != nil {
		return err
	}
	ship, err := o.ship.Beside(e, o.capture)
	if err != nil {
		return err
	}
	for _, m := range agents.masks() {
		e.Out, e.Err = m.Writer(e.Out), m.Writer(e.Err)
	}
	run := &probeRun{
		e: e, o: o, gate: gate, scenarios: scenarios, waived: waived, agents: agents, webhook: hooks, judged: judged, keys: keys,
		ship: ship,
	}
	return agents.hide(run.run(ctx))
}

// check refuses flags that cannot be used, and returns the gate.
func (o *probeOptions) check(args []string) (analyzer.Severity, error) {
	if len(args) == 0 {
		return 0, cli.Usage("probe needs URL, the agent to ask, or --list; see a2atap probe --help")
	}
	if err := cli.Choose("format", o.format, report.Formats()...); err != nil {
		return 0, err
	}
	switch {
	case o.parallel < 1:
		return 0, cli.Usage("--parallel %d: write 1 or more", o.parallel)
	case o.wait < 0:
		return 0, cli.Usage("--wait %v: write a time above 0, such as 30s", o.wait)
	}
	if err := o.webhook.Check(); err != nil {
		return 0, err
	}
	return present.ParseGate(o.failOn)
}

// A probeRun is one call of the command.
type probeRun struct {
	e         cli.Env
	o         *probeOptions
	gate      analyzer.Severity
	scenarios []*probe.Scenario
	waived    *waivers
	agents    probeAgents
	webhook   webhook.Options
	judged    []analyzer.EngineOption // the keys of --jwks, for the rules
	keys      jws.KeySet              // the same, for the scenarios
	ship      *shipment.To            // nil if the capture is not shipped
}

// run asks the agents, writes the report, and returns the exit status as an error.
func (r *probeRun) run(ctx context.Context) error {
	record, err := r.o.record(r.e, r.agents, r.ship)
	if err != nil {
		return err
	}
	asking, cancel := cli.UntilInterrupted(ctx, r.e)
	defer cancel()
	whole := &report.Report{Gate: r.gate, Tool: cli.Tool()}
	failed := r.ask(asking, record, whole)
	failed = errors.Join(failed, record.Close())
	if r.o.capture != "" {
		judged.KeepReading(context.WithoutCancel(ctx), r.e, "probe", r.o.capture)
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
	r.waived.apply(whole, r.e.Now())
	written := cli.WriteOutput(r.e, r.o.output, func(w io.Writer) error { return r.write(w, whole) })
	r.waived.tell(r.e)
	fmt.Fprintf(r.e.Err, "probe: %s\n", whole.Verdict())
	if failed = errors.Join(failed, written); failed != nil {
		return failed
	}
	return r.exit(whole)
}

// ask asks one agent after the other. What has come of it is in the report, also if it ends with an error.
func (r *probeRun) ask(ctx context.Context, record *probeRecord, whole *report.Report) error {
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
			return nil // the report says that it was interrupted
		case errors.Is(err, probe.ErrSkill):
			return cli.Usage("%w", err)
		case errors.Is(err, probe.ErrWebhook):
			return fmt.Errorf("%w on %s: %w; choose another address with --webhook-listen", probe.ErrWebhook,
				r.o.webhook.Listen, cli.NetCause(err))
		case err != nil:
			return err
		}
	}
	return nil
}

// exit returns the exit status for a report as an error, nil for 0.
func (r *probeRun) exit(whole *report.Report) error {
	switch whole.Status() {
	case analyzer.StatusFindings:
		return &cli.Exit{Code: cli.ExitFindings}
	case analyzer.StatusClean:
		return nil
	}
	return &cli.Exit{Code: cli.ExitInconclusive}
}
