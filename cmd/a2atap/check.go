package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
)

type checkOptions struct {
	format      string
	output      string
	failOn      string
	minSeverity string
	filter      string
	agent       string
	only, not   []string
	baseline    string
	update      bool
	follow      bool
	jwks        []string
	allowEmpty  bool
}

func newCheck(e env) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check CAPTURE...",
		Short: "Judge captures against the protocol",
		Long: `Check reads captures (.a2atap, .har, .jsonl, .txtar; - is standard input) and prints what breaks the protocol: one line
a finding, with its place, its rule, who is at fault and the section it rests on; then what was observed and what was
not. Of several captures, a matrix says what was found between which client and which agent. A capture that is still
being recorded is judged as far as it has come, or with --follow to its end.

Findings that a project lives with are kept in a baseline: --baseline FILE --update-baseline accepts what is found now,
--baseline FILE hides and counts it from then on, and names what is not found any more.

Exit status: 0 nothing at or above the gate, 1 findings, 2 wrong usage, 3 could not read, 4 nothing was judged or the
capture has a counted loss.`,
		Example: `  a2atap check c.a2atap
  a2atap check c.a2atap --format json | jq .verdict
  a2atap check session.har --fail-on warning
  a2atap check c.a2atap --filter 'op:SendMessage agent:booker'
  a2atap check *.a2atap --format markdown -o report.md
  a2atap check c.a2atap --rule 'stream-*' --no-rule stream-still-open
  a2atap check c.a2atap --baseline known.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return check(cmd.Context(), e, o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "text", "write the result as `FORMAT`: "+strings.Join(report.Formats(), ", "))
	f.StringVarP(&o.output, "output", "o", "-", "write the result to `FILE`")
	f.StringVar(&o.failOn, "fail-on", "error", "exit with 1 for findings of this `SEVERITY` or worse: error, warning, note or never")
	f.StringVar(&o.minSeverity, "min-severity", "note", "print only findings of this `SEVERITY` or worse: error, warning or note; all are counted")
	f.StringVar(&o.filter, "filter", "", "report only what is found in exchanges that match `EXPR`; all are judged")
	f.StringVar(&o.agent, "agent", "", "report only on the agent `NAME`")
	f.StringSliceVar(&o.only, "rule", nil, "report only on the rule `ID`; * stands for any part of it; repeatable")
	f.StringSliceVar(&o.not, "no-rule", nil, "do not report on the rule `ID`; * stands for any part of it; repeatable")
	f.StringVar(&o.baseline, "baseline", "", "hide and count the findings that `FILE` holds as known")
	f.BoolVar(&o.update, "update-baseline", false, "accept what is found: write it into the baseline")
	f.BoolVar(&o.follow, "follow", false, "go on with a capture that is being recorded: print findings as they occur, until it ends or an interrupt")
	f.StringArrayVar(&o.jwks, "jwks", nil, jwksHelp)
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "exit with 0 also if nothing was judged or something was lost")
	return verb(cmd, 1, -1)
}

// A checker is what the flags of check come to.
type checker struct {
	gate  analyzer.Severity
	least analyzer.Severity
	keep  selection
	rules ruleSelection
	known *knownFindings
	keys  []analyzer.EngineOption
}

func (o *checkOptions) checker() (c checker, err error) {
	if err := choose("format", o.format, report.Formats()...); err != nil {
		return c, err
	}
	if c.gate, err = parseGate(o.failOn); err != nil {
		return c, err
	}
	if c.least, err = analyzer.ParseSeverity(o.minSeverity); err != nil {
		return c, usage("--min-severity: %w", err)
	}
	if c.keep, err = parseSelection(o.filter, o.agent); err != nil {
		return c, err
	}
	if c.rules, err = selectRules(o.only, o.not); err != nil {
		return c, err
	}
	if c.keys, err = readKeys(o.jwks); err != nil {
		return c, err
	}
	c.known, err = openBaseline(o.baseline, o.update)
	return c, err
}

// checkMemory is how much memory the collector aims at while captures are judged. What is live is about half of what the
// runtime would let grow; a limit set by the user goes before.
const checkMemory = 192 << 20

func check(ctx context.Context, e env, o checkOptions, names []string) error {
	if e.Getenv("GOMEMLIMIT") == "" {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(checkMemory))
	}
	c, err := o.checker()
	if err != nil {
		return err
	}
	if o.follow {
		return c.follow(ctx, e, o, names)
	}
	total := &analyzer.Result{}
	var unread error
	for _, name := range names {
		if err := c.one(ctx, e, name, total); err != nil {
			unread = errors.Join(unread, err)
		}
	}
	if len(total.Captures) == 0 {
		return unread
	}
	verdict := shown(total, c.gate)
	hidden := c.hideMild(total)
	err = writeOutput(e, o.output, func(w io.Writer) error {
		return report.Write(w, o.format, &report.Report{Result: total, Rules: c.rules.list, Gate: c.gate, Tool: tool(), Now: e.Now()})
	})
	if err != nil {
		return err
	}
	if err := c.known.finish(e, total); err != nil {
		return err
	}
	printVerdict(e, "check", verdict, c.remarks(total, hidden)...)
	if unread != nil {
		return unread
	}
	return verdictExit(total, c.gate, o.allowEmpty)
}

// one judges a capture and adds to total what was asked for.
func (c *checker) one(ctx context.Context, e env, name string, total *analyzer.Result) error {
	src, err := openCapture(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	result, err := analyzer.Run(ctx, rules.All, e.watch(ctx, "check "+name, src), nil, c.keys...)
	if err != nil {
		return fmt.Errorf("check %s: %w", name, err)
	}
	if err := c.keep.findings(ctx, src, result); err != nil {
		return fmt.Errorf("check %s: %w", name, err)
	}
	c.rules.apply(result)
	c.known.apply(result)
	total.Add(result)
	return nil
}

// hideMild takes findings below --min-severity from what is printed, not from what is counted, and says how many.
func (c *checker) hideMild(r *analyzer.Result) int {
	before := len(r.Findings)
	r.Findings = slices.DeleteFunc(r.Findings, func(f analyzer.Finding) bool { return f.Severity < c.least })
	return before - len(r.Findings)
}

// remarks returns what a reader of the verdict has to know beside the counts.
func (c *checker) remarks(r *analyzer.Result, hidden int) []string {
	var remarks []string
	if !c.keep.all() {
		remarks = append(remarks, "only findings that the filter chooses are counted")
	}
	if !c.rules.all() {
		remarks = append(remarks, fmt.Sprintf("only %d of %d rules are reported on", len(c.rules.list), len(rules.All)))
	}
	if hidden > 0 {
		remarks = append(remarks, fmt.Sprintf("%s below --min-severity not shown", plural(hidden, "finding")))
	}
	if r.Live {
		remarks = append(remarks, "the recording goes on")
	}
	return remarks
}

// parseGate returns the severity that fails a verb. For "never" it is one above all.
func parseGate(name string) (analyzer.Severity, error) {
	if name == "never" {
		return analyzer.Error + 1, nil
	}
	gate, err := analyzer.ParseSeverity(name)
	if err != nil {
		return 0, usage("--fail-on: no severity %q; there are error, warning, note, never", name)
	}
	return gate, nil
}

// printVerdict prints the line that every judging verb ends with; remarks are put behind it.
func printVerdict(e env, name string, v analyzer.Verdict, remarks ...string) {
	fmt.Fprintln(e.Err, strings.Join(append([]string{name + ": " + v.String()}, remarks...), "; "))
}

// shown returns the verdict as it is printed: also where no finding fails the verb, errors are not called clean.
func shown(r *analyzer.Result, gate analyzer.Severity) analyzer.Verdict {
	return r.Verdict(min(gate, analyzer.Error))
}

// verdictExit says with which status a judging verb leaves.
func verdictExit(r *analyzer.Result, gate analyzer.Severity, allowEmpty bool) error {
	v := r.Verdict(gate)
	switch {
	case v.Status == analyzer.StatusFindings:
		return &exit{code: exitFindings}
	case v.Status != analyzer.StatusClean && !allowEmpty:
		return &exit{code: exitNothing}
	}
	return nil
}
