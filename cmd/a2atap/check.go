package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
)

type checkOptions struct {
	format     string
	output     string
	failOn     string
	filter     string
	agent      string
	allowEmpty bool
}

func newCheck(e env) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check CAPTURE...",
		Short: "Judge captures against the protocol",
		Long: `Check reads captures (.a2atap, .har, .jsonl, .txtar; - is standard input) and prints what breaks the protocol: one line
a finding, with its place, its rule, who is at fault and the section it rests on; then what was observed and what was
not. A capture that is still being recorded is judged as far as it has come.

Exit status: 0 nothing at or above the gate, 1 findings, 2 wrong usage, 3 could not read, 4 nothing was judged or the
capture has a counted loss.`,
		Example: `  a2atap check c.a2atap
  a2atap check c.a2atap --format json | jq .verdict
  a2atap check session.har --fail-on warning
  a2atap check c.a2atap --filter 'op:SendMessage agent:booker'`,
		RunE: func(cmd *cobra.Command, args []string) error { return check(cmd.Context(), e, o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "text", "write the result as `FORMAT`: text or json")
	f.StringVarP(&o.output, "output", "o", "-", "write the result to `FILE`")
	f.StringVar(&o.failOn, "fail-on", "error", "exit with 1 for findings of this `SEVERITY` or worse: error, warning, note or never")
	f.StringVar(&o.filter, "filter", "", "report only what is found in exchanges that match `EXPR`; all are judged")
	f.StringVar(&o.agent, "agent", "", "report only on the agent `NAME`")
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "exit with 0 also if nothing was judged or something was lost")
	return verb(cmd, 1, -1)
}

func check(ctx context.Context, e env, o checkOptions, names []string) error {
	if err := choose("format", o.format, "text", "json"); err != nil {
		return err
	}
	gate, err := parseGate(o.failOn)
	if err != nil {
		return err
	}
	keep, err := parseSelection(o.filter, o.agent)
	if err != nil {
		return err
	}
	total := &analyzer.Result{}
	var unread error
	for _, name := range names {
		if err := checkOne(ctx, e, name, keep, total); err != nil {
			unread = errors.Join(unread, err)
		}
	}
	if len(total.Captures) == 0 {
		return unread
	}
	verdict := shown(total, gate)
	err = writeOutput(e, o.output, func(w io.Writer) error {
		if o.format == "json" {
			return report.JSON(w, total, rules.All, min(gate, analyzer.Error), tool(), e.Now())
		}
		return report.Text(w, total, rules.All)
	})
	if err != nil {
		return err
	}
	var remarks []string
	if !keep.all() {
		remarks = append(remarks, "only findings that the filter chooses are counted")
	}
	if total.Live {
		remarks = append(remarks, "the recording goes on")
	}
	printVerdict(e, "check", verdict, remarks...)
	if unread != nil {
		return unread
	}
	return verdictExit(total, gate, o.allowEmpty)
}

func checkOne(ctx context.Context, e env, name string, keep selection, total *analyzer.Result) error {
	src, err := openCapture(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	result, err := analyzer.Run(ctx, rules.All, e.watch(ctx, "check "+name, src), nil)
	if err != nil {
		return fmt.Errorf("check %s: %w", name, err)
	}
	if err := keep.findings(ctx, src, result); err != nil {
		return fmt.Errorf("check %s: %w", name, err)
	}
	total.Add(result)
	return nil
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
