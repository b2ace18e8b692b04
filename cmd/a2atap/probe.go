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
		Short: "Test an agent or a client against the A2A specification",
		Long: `Probe reads the agent card at URL and tests the agent on each interface in the card: ordinary calls,
streams, unknown tasks, malformed requests, missing credentials. Each scenario names the expected answer, the section
that requires it, and what to do if it fails. The rules of check are applied to the traffic as well; findings about
requests that are wrong on purpose are counted but not listed.

With a second URL both agents are tested, and a table shows whether each could call the other. With --client a client is
tested (help scenarios): probe plays agents, and runs the command after -- for each of them.

A baseline lists the failures and findings that a project accepts (help baseline).

Exit status: 0 nothing failed; 1 failed scenarios or findings at or above --fail-on; 2 wrong usage; 3 the agent could
not be reached, requested push notifications could not be received, or the report or capture could not be written; 4 no
scenario had a result, the run was interrupted, or the agent stopped answering and the baseline accepts that.`,
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
		"; before A2A 0.1 it always uses https, with an untrusted certificate")
	o.Choice.Register(f)
	f.DurationVar(&o.Wait, "wait", 0, "wait up to `D` for the agent to answer")
	f.IntVar(&o.Parallel, "parallel", 4, "run `N` scenarios at the same time")
	o.Baseline.Register(f, "failures and findings")
	f.StringVar(&o.Baseline.File, "waivers", "", "another name of --baseline")
	f.MarkHidden("waivers") //nolint:errcheck // it is there
	f.StringVar(&o.FailOn, "fail-on", "error",
		"exit with 1 for failures and findings of this `SEVERITY` or worse: error, warning, note or never")
	f.StringVar(&o.Format, "format", "", "write the report as `FORMAT`: "+strings.Join(report.Formats(), ", ")+
		" (default: from the extension of --output, such as .html or .xml, otherwise text)")
	f.StringVarP(&o.Output, "output", "o", "-", "write the report to `FILE`")
	o.Capture.Register(f, "the traffic into `FILE`")
	f.StringArrayVar(&o.JWKS, "jwks", nil, "verify signatures of agent cards with the keys of `FILE`, a JWK Set, in addition to "+
		"keys that the agent serves at a signature's jku; repeatable")
	o.Ship.Register(f, &o.NATS, "with --capture: ")
	o.NATS.Register(f)
	f.BoolVar(&o.List, "list", false, "list the scenarios, as --format text or json, and send nothing")
	f.BoolVar(&o.Client, "client", false, "test a client: play agents for it, and run it with the command after "+
		"--, or run it yourself")
	f.DurationVar(&o.ClientTimeout, "client-timeout", 30*time.Second, "with --client: give the client `D` with each agent")
	f.BoolVar(&o.Verbose, "verbose", false, "with --client: print the command's output")
	withArgs(cmd, 0, 2)
	agents := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case !o.Client && cmd.ArgsLenAtDash() >= 0:
			return cli.Usage("a command after -- is a client to test; add --client")
		case !o.Client:
			return agents(cmd, args)
		case cmd.ArgsLenAtDash() > 0 || cmd.ArgsLenAtDash() < 0 && len(args) > 0:
			return cli.Usage("probe --client tests no agent; leave out %q, or write the client's command after --", args[0])
		}
		return nil
	}
	return cmd
}
