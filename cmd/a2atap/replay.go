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
		Short: "Send a capture's requests to a live agent again, and compare the answers",
		Long: `Replay sends the recorded requests again, in the recorded order and with the recorded concurrency, and
compares the answers by meaning: outcomes, states, kinds and order of events, errors, kinds of parts, JSON types and
names, media types, and the artifacts that the client ends up with, without any lost chunk. Ids that the agent creates
are replaced by those of the live agent; texts and chunk sizes may differ. --profile shape also compares the whole
structure, --profile exact everything except ids and times. A rule that only the live agent breaks is a difference too,
unless --baseline accepts the finding. See help compare for allowing further differences.

If the recording has several agents, --to NAME=URL sends to the agent NAME, and --to URL to the remaining one. Calls of
one recorded agent to another are also sent, in addition to those that a live agent makes itself: --filter client:NAME
sends only requests of NAME; --play NAME plays the service NAME, and compares what the agent asks of it (help offline).

A recording contains no secrets: give credentials with --auth or --oauth-… (help credentials). If it has webhooks,
replay receives the notifications itself and compares them. --binding and --dialect translate the requests, for example
to play a JSON-RPC recording over HTTP+JSON, or a 0.3 recording in 1.0 (help requests).

Exit status: 0 no differences; 1 differences; 2 wrong usage; 3 the capture could not be read or the agent could not be
reached; 4 inconclusive: nothing was sent, or the capture lost traffic.`,
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
	f.StringArrayVar(&o.To, "to", nil, "send to the live agent at `[NAME=]URL` the requests recorded for NAME, or for any agent; repeatable")
	f.BoolVar(&o.Stay, "stay", false, "send only to the addresses of --to, also if an agent's card leads elsewhere")
	f.StringSliceVar(&o.Play, "play", nil, "play the service `NAME[=ADDR]`, which the agent calls, from the recording; "+
		"without ADDR, where it was on this machine; repeatable")
	f.StringVar(&o.Filter, "filter", "", "replay the exchanges that match `EXPR`")
	f.StringVar(&o.Agent, "agent", "", "replay only requests to the agent `NAME`")
	f.StringVar(&o.Profile, "profile", "protocol", "compare by `PROFILE`: protocol, shape or exact")
	f.BoolVar(&o.Texts, "texts", false, "also compare texts, except ids and times, with any profile")
	f.StringVar(&o.Speed, "speed", "max",
		"play recorded pauses at the speed `FACTOR`: 1 as recorded, 2 twice as fast, max (or 0) without pauses")
	f.DurationVar(&o.Wait, "wait", 0, "wait up to `D` for the agent to listen")
	f.DurationVar(&o.Timeout, "timeout", replay.DefaultTimeout,
		"wait up to `D` longer than recorded for an answer, an event or a polled state")
	cli.RegisterLimits(f, &o.Limits, false)
	o.Noise.Register(f)
	o.Noise.RegisterLearning(f)
	o.Baseline.Register(f, "findings of rules that only the live agent breaks and calls that fail there")
	o.Flags.Register(f, "instead of the recorded placeholders for secrets")
	o.Translation.Register(f)
	o.Reach.Register(f, "without it, none is used")
	o.Webhook.Register(f, "for recorded webhooks: ", "")
	o.Capture.Register(f, "the replayed traffic into `FILE`")
	f.StringVar(&o.Format, "format", "", "write the report as `FORMAT`: "+strings.Join(report.Formats(), ", ")+
		" (default: from the extension of --output, such as .html or .xml, otherwise text)")
	f.StringVarP(&o.Output, "output", "o", "-", "write the report to `FILE`")
	f.BoolVar(&o.AllowEmpty, "allow-empty", false, "exit with 0 even if nothing was sent or traffic was lost")
	o.From.Register(f, nil)
	o.From.Interrupts = true
	return withArgs(cmd, 1, 1)
}
