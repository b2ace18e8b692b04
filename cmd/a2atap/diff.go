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
workflow: for example an old and a new version of an agent, or two SDKs. Nothing is sent. Each exchange of B is paired
with the exchange of A that has the same agent, client and task, in sequence. Ids, the order of concurrent exchanges,
and how often a client polled do not matter. An exchange without a counterpart is a difference. Paired requests and
answers are compared by meaning, as in replay; differences in the client's requests are reported as such. Between
different bindings or dialects only the meaning is compared, not the JSON names. A rule that is broken only in B is a
difference too; one that is broken only in A is noted.

Exit status: 0 no differences; 1 differences; 2 wrong usage; 3 a capture could not be read; 4 inconclusive: nothing was
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
		"compare only calls to the agent `NAME[=OTHER]`, which is named OTHER in B; repeatable")
	f.StringVar(&o.Filter, "filter", "", "compare the exchanges that match `EXPR`")
	f.StringVar(&o.Profile, "profile", "protocol", "compare by `PROFILE`: protocol, shape or exact")
	f.BoolVar(&o.Texts, "texts", false, "also compare texts, except ids and times, with any profile")
	o.Noise.Register(f)
	f.StringVar(&o.Format, "format", "", "write the report as `FORMAT`: "+strings.Join(report.Formats(), ", ")+
		" (default: from the extension of --output, such as .html or .xml, otherwise text)")
	f.StringVarP(&o.Output, "output", "o", "-", "write the report to `FILE`")
	f.BoolVar(&o.AllowEmpty, "allow-empty", false, "exit with 0 even if nothing was compared or traffic was lost")
	o.From.Register(f, nil)
	return withArgs(cmd, 2, 2)
}
