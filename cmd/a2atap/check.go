package main

import (
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer/report"
	"a2atap/cmd/internal/checker"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
)

func newCheck(e cli.Env) *cobra.Command {
	var o checker.Options
	cmd := &cobra.Command{
		Use:   "check CAPTURE...",
		Short: "Check captures against the A2A specification",
		Long: `Check reads captures (.a2atap, .har, .jsonl, .txtar; nats://HOST:PORT/NAME for what many recorders have
shipped; - for standard input) and prints what breaks the protocol, the worst first: how bad it is and where, what was
seen and what was expected, the side at fault and the section that requires it, how to fix it, and the command that
explains the rule; what repeats stands together. Then it says how many rules were observed on each link, and how many
never were, which --coverage names. For several captures, a matrix shows the findings between each client and each
agent. A capture that is still being recorded is checked up to its newest exchange, or with --follow to its end.

A capture is judged once: the result is kept in it, or beside it in CAPTURE.reading, and read from then on, until the
capture grows or the rules change. --again judges it afresh.

The verdict answers three questions: was all seen that passed, did the calls work, and was it right? A capture is
clean only if the answer to all three is yes; what was not seen, and which calls and tasks failed, stands in the
report. See help exit. What a project accepts is kept in a baseline (help baseline).

Exit status: 0 no finding at or above --fail-on, and most calls and tasks of each link succeeded; 1 findings, or at
least half of the calls or tasks of a link failed; 2 wrong usage; 3 a capture could not be read; 4 inconclusive:
nothing was judged, nothing matches --filter and --agent, or at least half of a link was not seen.`,
		Example: `  a2atap check c.a2atap
  a2atap check c.a2atap --format json | jq .verdict
  a2atap check session.har --fail-on warning
  a2atap check c.a2atap --filter 'op:SendMessage agent:booker'
  a2atap check *.a2atap --format markdown -o report.md
  a2atap check c.a2atap --rule 'stream-*' --no-rule stream-still-open
  a2atap check c.a2atap --baseline known.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return checker.Run(cmd.Context(), e, o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "", "write the result as `FORMAT`: "+strings.Join(report.Formats(), ", ")+
		" (default: what the ending of --output stands for, such as .html or .xml; else text)")
	f.StringVarP(&o.Output, "output", "o", "-", "write the result to `FILE`")
	f.StringVar(&o.FailOn, "fail-on", "error",
		"exit with 1 for findings of this `SEVERITY` or worse: error, warning or note; for any failed call or task: calls; or never")
	f.StringVar(&o.MinSeverity, "min-severity", "note",
		"print only findings of this `SEVERITY` or worse: error, warning or note; all are counted")
	f.StringVar(&o.Filter, "filter", "", "report only findings in exchanges that match `EXPR`; all are judged")
	f.StringVar(&o.Agent, "agent", "", "report only on the agent `NAME`: calls to it, and notifications that it sends")
	f.StringSliceVar(&o.Only, "rule", nil, "report only on the rule `ID`; * matches any text; repeatable")
	f.StringSliceVar(&o.Not, "no-rule", nil, "do not report on the rule `ID`; * matches any text; repeatable")
	o.Baseline.Register(f, "findings and failed calls")
	f.BoolVar(&o.Follow, "follow", false,
		"follow a capture that is being recorded: print findings as they occur, until it ends or an interrupt")
	f.BoolVar(&o.Again, "again", false, "judge afresh, and ignore the result that was kept")
	f.BoolVar(&o.Coverage, "coverage", false, "name the rules that were never observed, instead of counting them")
	f.StringArrayVar(&o.JWKS, "jwks", nil, judged.KeysHelp)
	f.BoolVar(&o.AllowEmpty, "allow-empty", false,
		"exit with 0 also if nothing was judged, or more was not seen than was judged")
	o.From.Register(f, nil)
	return withArgs(cmd, 1, -1)
}
