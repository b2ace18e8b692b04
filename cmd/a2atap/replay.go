package main

import (
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/replayer"
	"a2atap/replay"
	"a2atap/replay/report"
)

func newReplay(e cli.Env) *cobra.Command {
	o := replayer.Options{}
	cmd := &cobra.Command{
		Use:   "replay CAPTURE --to URL",
		Short: "Play the client's side of a capture against a live agent, and compare",
		Long: `Replay sends the recorded requests again, in the recorded order and with the recorded concurrency, and compares the
answers by meaning: outcomes, states, kinds and order of events, errors, kinds of parts, types and names in JSON,
media types, and what the client has in the end: artifacts, none of whose chunks may be lost. Ids that the agent
creates are replaced by those of the live agent; texts and the size of chunks may differ. --profile shape also
compares the whole structure, exact everything but ids and times. A rule that only the live agent breaks is a
difference, too, unless --baseline accepts the finding. What may differ beyond that, help compare says.

With several agents in the recording, --to NAME=URL sends what went to the agent NAME; --to URL is for the one that is
not named. What an agent of the recording sent to another is sent again, too, beside the calls that it makes itself when
it is live; --filter client:NAME plays only what NAME sent.

A recording contains no secrets: give credentials with --auth or --oauth-… (help credentials). Where it has webhooks,
replay receives in their place and compares the notifications. --binding and --dialect translate the requests, and play
a recording of JSON-RPC over HTTP+JSON, or one of 0.3 in 1.0 (help requests).
The report names each cause once, and what follows from it below it.

Exit status: 0 no difference, 1 differences, 2 wrong usage, 3 the capture or the agent failed, 4 inconclusive: nothing
was sent, or the capture lost traffic.`,
		Example: `  a2atap replay c.a2atap --to http://127.0.0.1:9001/spec
  a2atap replay c.a2atap --to http://127.0.0.1:9001 --agent booker --capture again.a2atap
  a2atap replay c.a2atap --to booker=http://127.0.0.1:9001 --to planner=http://127.0.0.1:9002
  a2atap replay c.a2atap --to https://booker.example/a2a --auth bearer:env:TOKEN --format junit -o replay.xml
  a2atap replay c.a2atap --to http://127.0.0.1:9001/spec --binding http+json
  a2atap replay old.a2atap --to http://127.0.0.1:9001/spec --dialect 1.0 --capture new.a2atap`,
		RunE: func(cmd *cobra.Command, args []string) error {
			defer e.LimitMemory()()
			return replayer.Run(cmd.Context(), e, o, args[0])
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.To, "to", nil, "send to the agent at `[NAME=]URL`: what went to the agent NAME, or to any; repeatable")
	f.StringVar(&o.Filter, "filter", "", "replay the exchanges that match `EXPR`")
	f.StringVar(&o.Agent, "agent", "", "replay what went to the agent `NAME`")
	f.StringVar(&o.Profile, "profile", "protocol", "compare by `PROFILE`: protocol, shape or exact")
	f.BoolVar(&o.Texts, "texts", false, "compare what texts say, too, ids and times aside, whatever the profile is")
	f.StringVar(&o.Speed, "speed", "max",
		"play recorded pauses at the speed `FACTOR`: 1 as recorded, 2 twice as fast, max (or 0) without pauses")
	f.DurationVar(&o.Wait, "wait", 0, "wait up to `D` for the agent to listen")
	f.DurationVar(&o.Timeout, "timeout", replay.DefaultTimeout,
		"wait up to `D` longer than recorded for an answer, an event or a polled state")
	cli.RegisterLimits(f, &o.Limits, false)
	o.Noise.Register(f)
	o.Noise.RegisterLearning(f)
	o.Baseline.Register(f, "findings of rules that only the live agent breaks and calls that fail there")
	o.Flags.Register(f, "where the recording has placeholders for secrets")
	o.Translation.Register(f)
	o.Reach.Register(f, "without it, none is used")
	o.Webhook.Register(f, "in the place of recorded webhooks: ", "")
	o.Capture.Register(f, "the replayed traffic into `FILE`")
	f.StringVar(&o.Format, "format", "", "write the report as `FORMAT`: "+strings.Join(report.Formats(), ", ")+
		" (default: what the ending of --output stands for, such as .html or .xml; else text)")
	f.StringVarP(&o.Output, "output", "o", "-", "write the report to `FILE`")
	f.BoolVar(&o.AllowEmpty, "allow-empty", false, "exit with 0 also if nothing was sent or traffic was lost")
	o.From.Register(f, nil)
	o.From.Interrupts = true
	return withArgs(cmd, 1, 1)
}
