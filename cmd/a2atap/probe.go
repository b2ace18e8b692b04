package main

import (
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/prober"
)

func newProbe(e cli.Env) *cobra.Command {
	o := prober.Options{}
	cmd := &cobra.Command{
		Use:   "probe [NAME=]URL [[NAME=]URL2]",
		Short: "Ask an agent what the protocol requires, and report how it answers",
		Long: `Probe reads the agent card at URL and asks the agent, on each interface that the card offers: ordinary
calls, streams, unknown tasks, malformed requests, missing credentials. Each scenario says what must come back, cites
the section that requires it, and says what to do if it does not. What was asked and answered is judged by the rules of
check as well; findings about requests that are wrong on purpose are left out, and counted.

A scenario passes or fails; it is skipped if it is not for this agent, such as one about streams for an agent without
them; it is inconclusive if the agent's answer does not show what it is about. An agent that no longer answers is
critical. An agent with the skills of the reference agents is told what to do by their keywords, any other is sent the
examples of its card (--drive, --skill), or the texts of --prompt.

Push notifications come to a receiver on loopback. An agent on another machine needs an address that it can reach
(--webhook-url, --webhook-listen), and one that insists on https needs a certificate that it trusts (--webhook-tls,
--webhook-cert).

With a second URL both agents are asked, and a table says what is known of each direction between them. Both get the
same credentials, unless --auth2 gives those of the second. --second-auth is another user of one agent.

With --capture, --ship publishes what is recorded, as in record.

Failures and findings that a project accepts are kept in a baseline, the same as that of check: --baseline FILE
--update-baseline accepts the current ones; from then on --baseline FILE accepts them and names those that are mended.
Entries of tests, such as {"test": "rest/error-*", "reason": "fixed in 2.0", "until": "2027-01-31"}, can also be written
by hand: test is a test's name or id, with * for any text but /. Such a failure stays in the report, with its reason,
and does not fail the run. It still lowers the conformance level.

Exit status: 0 nothing failed; 1 a scenario failed or a rule found something, at or above --fail-on; 2 wrong usage; 3
the agent could not be reached, push notifications could not be received although requested, or the report or capture
could not be written; 4 nothing was proved, the run was interrupted, or the agent was gone and that is accepted.`,
		Example: `  a2atap probe http://127.0.0.1:9001/spec
  a2atap probe https://booker.example/a2a --auth bearer:env:TOKEN --format markdown -o report.md
  a2atap probe http://127.0.0.1:9001 --only errors --skip 'rest/*'
  a2atap probe http://127.0.0.1:9001 --format junit -o probe.xml --capture probe.a2atap --baseline known.json
  a2atap probe booker=http://127.0.0.1:9001 hotel=http://127.0.0.1:9002
  a2atap probe booker=https://booker.example hotel=https://hotel.example --auth bearer:env:B --auth2 apikey:env:H
  a2atap probe https://booker.example/a2a --webhook-listen 127.0.0.1:9003 --webhook-url https://hooks.example
  a2atap probe --list`,
		RunE: func(cmd *cobra.Command, args []string) error { return prober.Run(cmd.Context(), e, &o, args) },
	}
	f := cmd.Flags()
	o.Target.Register(f)
	o.Webhook.Register(f, "for push notifications: ",
		"; before A2A 0.1 it is on https anyway, with one that nobody trusts")
	o.Choice.Register(f)
	f.DurationVar(&o.Wait, "wait", 0, "wait up to `D` for the agent to answer")
	f.IntVar(&o.Parallel, "parallel", 4, "run `N` scenarios at the same time")
	o.Baseline.Register(f, "failures and findings")
	f.StringVar(&o.Baseline.File, "waivers", "", "another name of --baseline")
	f.MarkHidden("waivers") //nolint:errcheck // it is there
	f.StringVar(&o.FailOn, "fail-on", "error",
		"exit with 1 for failures and findings of this `SEVERITY` or worse: error, warning, note or never")
	f.StringVar(&o.Format, "format", "text", "write the report as `FORMAT`: "+strings.Join(report.Formats(), ", "))
	f.StringVarP(&o.Output, "output", "o", "-", "write the report to `FILE`")
	o.Capture.Register(f, "the traffic into `FILE`")
	f.StringArrayVar(&o.JWKS, "jwks", nil, "verify signatures of agent cards with the keys of `FILE`, a JWK Set, beside "+
		"those that the agent serves where a signature says; repeatable")
	o.Ship.Register(f, &o.NATS, "with --capture: ")
	o.NATS.Register(f)
	f.BoolVar(&o.List, "list", false, "list the scenarios, as --format text or json, and ask nothing")
	return withArgs(cmd, 0, 2)
}
