package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/prober"
)

func newProbe(e cli.Env) *cobra.Command {
	o := prober.Options{}
	cmd := &cobra.Command{
		Use:   "probe [NAME=]URL [[NAME=]URL2] | --client [-- CMD…]",
		Short: "Ask an agent what the protocol requires, and report how it answers",
		Long: `Probe reads the agent card at URL and asks the agent, on each interface that the card offers: ordinary
calls, streams, unknown tasks, malformed requests, missing credentials. Each scenario says what must come back, cites
the section that requires it, and says what to do if it does not. What was asked and answered is judged by the rules of
check as well; findings about requests that are wrong on purpose are left out, and counted.

With a second URL both agents are asked, and a table says what is known of each direction between them. With --client a
client is tested (help scenarios): probe plays agents for it, and starts the command behind -- for each.

Failures and findings that a project accepts are kept in a baseline (help baseline).

Exit status: 0 nothing failed; 1 a scenario failed or a rule found something, at or above --fail-on; 2 wrong usage; 3
the agent could not be reached, push notifications could not be received although requested, or the report or capture
could not be written; 4 nothing was proved, the run was interrupted, or the agent was gone and that is accepted.`,
		Example: `  a2atap probe http://127.0.0.1:9001/spec
  a2atap probe https://booker.example/a2a --auth bearer:env:TOKEN --format markdown -o report.md
  a2atap probe http://127.0.0.1:9001 --only errors --skip 'rest/*'
  a2atap probe http://127.0.0.1:9001 --format junit -o probe.xml --capture probe.a2atap --baseline known.json
  a2atap probe booker=http://127.0.0.1:9001 hotel=http://127.0.0.1:9002
  a2atap probe --client -- python my_client.py {url} {text}
  a2atap probe --list`,
		RunE: func(cmd *cobra.Command, args []string) error {
			defer e.LimitMemory()()
			switch {
			case o.Client && o.List:
				return prober.ListClient(e, &o)
			case o.Client:
				return prober.RunClient(cmd.Context(), e, &o, args)
			}
			return prober.Run(cmd.Context(), e, &o, args)
		},
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
	f.StringVar(&o.Format, "format", "", "write the report as `FORMAT`: "+strings.Join(report.Formats(), ", ")+
		" (default: what the ending of --output stands for, such as .html or .xml; else text)")
	f.StringVarP(&o.Output, "output", "o", "-", "write the report to `FILE`")
	o.Capture.Register(f, "the traffic into `FILE`")
	f.StringArrayVar(&o.JWKS, "jwks", nil, "verify signatures of agent cards with the keys of `FILE`, a JWK Set, beside "+
		"those that the agent serves where a signature says; repeatable")
	o.Ship.Register(f, &o.NATS, "with --capture: ")
	o.NATS.Register(f)
	f.BoolVar(&o.List, "list", false, "list the scenarios, as --format text or json, and ask nothing")
	f.BoolVar(&o.Client, "client", false, "test a client: play agents for it, which it is pointed at by the command behind "+
		"--, or by hand")
	f.DurationVar(&o.ClientTimeout, "client-timeout", 30*time.Second, "with --client: give the client `D` with each agent")
	f.BoolVar(&o.Verbose, "verbose", false, "with --client: print what the command says")
	withArgs(cmd, 0, 2)
	agents := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case !o.Client && cmd.ArgsLenAtDash() >= 0:
			return cli.Usage("a command behind -- is a client to test; add --client")
		case !o.Client:
			return agents(cmd, args)
		case cmd.ArgsLenAtDash() > 0 || cmd.ArgsLenAtDash() < 0 && len(args) > 0:
			return cli.Usage("probe --client asks no agent; leave out %q, or put the command of the client behind --", args[0])
		}
		return nil
	}
	return cmd
}
