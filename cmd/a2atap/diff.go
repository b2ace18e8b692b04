package main

import (
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/differ"
	"a2atap/replay/report"
)

func newDiff(e cli.Env) *cobra.Command {
	o := differ.Options{}
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two captures of the same workflow",
		Long: `Diff compares two captures (.a2atap, .har, .jsonl, .txtar; one may be - for standard input) of the same
workflow: an old version of an agent with a new one, one SDK with another. Nothing is sent. The exchanges of B are
paired with those of A: of the same agent and client, about the same task, in sequence; ids, the order of concurrent
exchanges, and how often a client polled do not matter. What has no counterpart is a difference by itself. Of the
others, requests and answers are compared by meaning, as replay does; differences in what the client does are named as
the client's. Between different bindings or dialects only what is meant is compared, not how JSON names it. A rule that
is broken in B and not in A is a difference, too.

Exit status: 0 no difference, 1 differences, 2 wrong usage, 3 a capture could not be read, 4 inconclusive: nothing was
compared, or a capture lost traffic.`,
		Example: `  a2atap diff before.a2atap after.a2atap
  a2atap diff js.txtar python.txtar --agent booker --format markdown -o differences.md
  a2atap diff before.a2atap after.a2atap --agent booker=booker2 --profile shape
  a2atap diff before.a2atap after.a2atap --ignore GetTask:/metadata/took --noise noise.txt
  a2atap diff before.a2atap after.a2atap --filter op:SendMessage --format json | jq .verdict`,
		RunE: func(cmd *cobra.Command, args []string) error { return differ.Run(cmd.Context(), e, o, args) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.Agents, "agent", nil,
		"compare what went to the agent `NAME[=OTHER]`, which is called OTHER in B; repeatable")
	f.StringVar(&o.Filter, "filter", "", "compare the exchanges that match `EXPR`")
	f.StringVar(&o.Profile, "profile", "protocol", "compare by `PROFILE`: protocol, shape or exact")
	f.BoolVar(&o.Texts, "texts", false, "compare what texts say, too, ids and times aside, whatever the profile is")
	o.Noise.Register(f)
	f.StringVar(&o.Format, "format", "", "write the report as `FORMAT`: "+strings.Join(report.Formats(), ", ")+
		" (default: what the ending of --output stands for, such as .html or .xml; else text)")
	f.StringVarP(&o.Output, "output", "o", "-", "write the report to `FILE`")
	f.BoolVar(&o.AllowEmpty, "allow-empty", false, "exit with 0 also if nothing was compared or traffic was lost")
	o.From.Register(f, nil)
	return withArgs(cmd, 2, 2)
}
