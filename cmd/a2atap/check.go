package main

import (
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer/report"
	"a2atap/cmd/internal/checker"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/verdict"
)

func newCheck(e cli.Env) *cobra.Command {
	var o checker.Options
	cmd := &cobra.Command{
		Use:   "check CAPTURE...",
		Short: "Check captures against the A2A specification",
		Long: `Check reads captures (.a2atap, .har, .jsonl, .txtar; nats://HOST:PORT/NAME for shipped traffic; - for
standard input) and prints protocol violations, the worst first. Each finding has its severity and place, what was seen
and what was expected, the side at fault, the section that requires it, how to fix it, and the command that explains the
rule; repeated findings are grouped. Then it prints how many rules were observed on each link, and how many never were
(--coverage lists them). For several captures, a matrix shows the findings between each client and each agent. A capture
that is still being recorded is checked up to its newest exchange, or with --follow to its end.

The result is stored in the capture, or next to it in CAPTURE.reading, and reused until the capture grows or the rules
change. --again checks the capture from scratch.

The verdict answers three questions: was all traffic seen, did the calls succeed, and did the traffic follow the rules?
A capture is clean only if all three answers are yes. The report lists what was not seen and which calls and tasks
failed (help exit). A baseline lists the findings and failures that a project accepts (help baseline).

Exit status: 0 no finding at or above --fail-on, and most calls and tasks of each link succeeded; 1 findings, or at
least half of the calls or tasks of a link failed; 2 wrong usage; 3 a capture could not be read; 4 inconclusive: nothing
was checked, nothing matches --filter and --agent, or at least half of a link was not seen.`,
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
		" (default: from the extension of --output, such as .html or .xml, otherwise text)")
	f.StringVarP(&o.Output, "output", "o", "-", "write the result to `FILE`")
	f.StringVar(&o.FailOn, "fail-on", "error",
		"exit with 1 for findings of this `SEVERITY` or worse: error, warning or note; for any failed call or task: calls; or never")
	f.StringVar(&o.MinSeverity, "min-severity", "note",
		"print only findings of this `SEVERITY` or worse: error, warning or note; all are counted")
	f.StringVar(&o.Filter, "filter", "", "report only findings in exchanges that match `EXPR`; all exchanges are checked")
	f.StringVar(&o.Agent, "agent", "", "report only on the agent `NAME`: calls to it, and notifications that it sends")
	f.StringSliceVar(&o.Only, "rule", nil, "report only on the rule `ID`; * matches any text; repeatable")
	f.StringSliceVar(&o.Not, "no-rule", nil, "do not report on the rule `ID`; * matches any text; repeatable")
	o.Baseline.Register(f, "findings and failed calls")
	f.BoolVar(&o.Follow, "follow", false,
		"follow a capture that is being recorded: print findings as they occur, until it ends or is interrupted")
	f.BoolVar(&o.Again, "again", false, "check from scratch, and ignore the stored result")
	f.BoolVar(&o.Brief, "brief", false, "leave out the findings in text, and in junit the cases of rules that are not broken")
	f.BoolVar(&o.Coverage, "coverage", false, "list the rules that were never observed, instead of counting them")
	f.StringArrayVar(&o.JWKS, "jwks", nil, verdict.KeysHelp)
	f.BoolVar(&o.AllowEmpty, "allow-empty", false,
		"exit with 0 even if nothing was checked, or more was not seen than was checked")
	o.From.Register(f, nil)
	return withArgs(cmd, 1, -1)
}
