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
	"a2atap/analyzer/report/exchanges"
	"a2atap/analyzer/report/parts"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/tui/terminal"
)

type checkOptions struct {
	from        source.Flags
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
	coverage    bool
	allowEmpty  bool
	shard       string
	merge       bool
	again       bool
}

func newCheck(e cli.Env) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check CAPTURE...",
		Short: "Check captures against the A2A specification",
		Long: `Check reads captures (.a2atap, .har, .jsonl, .txtar; nats://HOST:PORT/NAME is what many recorders have
shipped; - is standard input) and prints what breaks the protocol, the worst first: how bad it is and where, what was
seen and what was expected, the side at fault and the section that requires it, how to fix it, and the command that
explains the rule; what repeats stands together. Then it says how many rules were observed on each link, and how many
never were, which --coverage names. For several captures, a matrix shows the findings between each client and each
agent. A capture that is still being recorded is checked up to its newest exchange, or with --follow to its end.

A capture is judged once: what that came to is kept in it, or beside it in CAPTURE.reading, and read from then on, until
the capture grows or other rules judge it. --again judges it anew.

Findings that a project accepts are kept in a baseline: --baseline FILE --update-baseline accepts the current
findings; from then on --baseline FILE hides and counts them, and names those that no longer occur.

--shard K/N judges one part of N of a capture, and --merge reads the JSON reports on all of its parts and prints what
checking the whole would have printed. Exchanges of one context are judged in one part. A part alone is never clean.

The verdict gives two answers: what breaks the protocol, and how the calls came out, with the errors of those that
failed. Clean is only what broke nothing and got through: where no call of a client to an agent succeeded, it is failed.

Exit status: 0 no finding at or above --fail-on, and calls succeeded; 1 findings; 2 wrong usage; 3 a capture could not
be read; 4 inconclusive: nothing was judged, or nothing matches --filter and --agent; no call of a client to an agent
succeeded; the capture lost traffic, or its recorder was killed; only a part was judged.`,
		Example: `  a2atap check c.a2atap
  a2atap check c.a2atap --format json | jq .verdict
  a2atap check session.har --fail-on warning
  a2atap check c.a2atap --filter 'op:SendMessage agent:booker'
  a2atap check *.a2atap --format markdown -o report.md
  a2atap check c.a2atap --rule 'stream-*' --no-rule stream-still-open
  a2atap check c.a2atap --baseline known.json
  a2atap check c.a2atap --shard 1/2 -o 1.json; a2atap check c.a2atap --shard 2/2 -o 2.json
  a2atap check --merge 1.json 2.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.shard != "" && !cmd.Flags().Changed("format") {
				o.format = "json"
			}
			return check(cmd.Context(), e, o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "text", "write the result as `FORMAT`: "+strings.Join(report.Formats(), ", "))
	f.StringVarP(&o.output, "output", "o", "-", "write the result to `FILE`")
	f.StringVar(&o.failOn, "fail-on", "error",
		"exit with 1 for findings of this `SEVERITY` or worse: error, warning, note or never")
	f.StringVar(&o.minSeverity, "min-severity", "note",
		"print only findings of this `SEVERITY` or worse: error, warning or note; all are counted")
	f.StringVar(&o.filter, "filter", "", "report only findings in exchanges that match `EXPR`; all are judged")
	f.StringVar(&o.agent, "agent", "", "report only on the agent `NAME`")
	f.StringSliceVar(&o.only, "rule", nil, "report only on the rule `ID`; * matches any text; repeatable")
	f.StringSliceVar(&o.not, "no-rule", nil, "do not report on the rule `ID`; * matches any text; repeatable")
	f.StringVar(&o.baseline, "baseline", "", "hide and count the known findings listed in `FILE`")
	f.BoolVar(&o.update, "update-baseline", false, "accept the current findings: write them to the baseline")
	f.BoolVar(&o.follow, "follow", false,
		"follow a capture that is being recorded: print findings as they occur, until it ends or an interrupt")
	f.BoolVar(&o.again, "again", false, "judge anew, and do not read what judging came to before")
	f.BoolVar(&o.coverage, "coverage", false, "name the rules that were never observed, instead of counting them")
	f.StringVar(&o.shard, "shard", "", "judge only part `K/N` of the captures, as in 2/4, and write JSON for --merge")
	f.BoolVar(&o.merge, "merge", false,
		"the arguments are reports on all parts of captures; for --format html name the captures too")
	f.StringArrayVar(&o.jwks, "jwks", nil, judged.KeysHelp)
	f.BoolVar(&o.allowEmpty, "allow-empty", false,
		"exit with 0 also if nothing was judged, no call succeeded or traffic was lost")
	o.from.Register(f, nil)
	return withArgs(cmd, 1, -1)
}

// A checker holds the parsed flags of check.
type checker struct {
	from  *source.Flags
	gate  analyzer.Severity
	least analyzer.Severity
	keep  judged.Selection
	rules ruleSelection
	known *knownFindings
	keys  []analyzer.EngineOption
	page  *pageTraffic // nil if the report is no page
	again bool         // what judging came to before is not read

	part    analyzer.Part    // to judge; zero for the whole
	written *parts.Judgement // of it; nil for the whole
}

func (o *checkOptions) checker() (c checker, err error) {
	if err := cli.Choose("format", o.format, report.Formats()...); err != nil {
		return c, err
	}
	if c.gate, err = present.ParseGate(o.failOn); err != nil {
		return c, err
	}
	if c.least, err = analyzer.ParseSeverity(o.minSeverity); err != nil {
		return c, cli.Usage("--min-severity: %w", err)
	}
	if c.keep, err = judged.ParseSelection(o.filter, o.agent); err != nil {
		return c, err
	}
	if c.rules, err = selectRules(o.only, o.not); err != nil {
		return c, err
	}
	if c.keys, err = judged.ReadKeys(o.jwks); err != nil {
		return c, err
	}
	if err := o.checkParts(); err != nil {
		return c, err
	}
	if o.shard != "" {
		if err := c.judgePart(o); err != nil {
			return c, err
		}
	}
	c.again, c.from = o.again, &o.from
	c.known, err = openBaseline(o.baseline, o.update)
	return c, err
}

// While captures are checked, memory may grow by checkGrowth percent of what is in use before a collection, and up to
// about checkMemory bytes. GOGC and GOMEMLIMIT take precedence.
const (
	checkGrowth = 60
	checkMemory = 98 << 20
)

// limitMemory sets both, and returns what takes them back.
func limitMemory(e cli.Env) (restore func()) {
	if e.Getenv("GOMEMLIMIT") != "" || e.Getenv("GOGC") != "" {
		return func() {}
	}
	limit, growth := debug.SetMemoryLimit(checkMemory), debug.SetGCPercent(checkGrowth)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(growth)
	}
}

func check(ctx context.Context, e cli.Env, o checkOptions, names []string) error {
	defer limitMemory(e)()
	c, err := o.checker()
	if err != nil {
		return err
	}
	if o.follow {
		return c.follow(ctx, e, o, names)
	}
	if err := cli.NotOver(o.output, names...); err != nil {
		return err
	}
	if o.format == "html" {
		c.page = &pageTraffic{}
		defer c.page.close()
	}
	total := &analyzer.Result{}
	var unread error
	if o.merge {
		if err := c.addParts(ctx, e, names, total); err != nil {
			return err
		}
	} else {
		for _, name := range names {
			if err := c.addCapture(ctx, e, name, total); err != nil {
				unread = errors.Join(unread, err)
			}
		}
	}
	if len(total.Captures) == 0 || unread != nil && !c.part.IsWhole() { // from some of the captures no whole can be made
		return unread
	}
	return c.conclude(ctx, e, o, total, unread)
}

// conclude writes the report on what was checked, and returns what the command ends with.
func (c *checker) conclude(ctx context.Context, e cli.Env, o checkOptions, total *analyzer.Result, unread error) error {
	verdict := present.DisplayedVerdict(total, c.gate)
	hidden := c.hideMinor(total)
	r, err := c.report(ctx, e, total)
	if err != nil {
		return err
	}
	r.Coverage, r.Part = o.coverage, c.written
	into := cli.WriteOutput
	if o.format != "text" && terminal.Is(e.Out) {
		into = cli.WriteAnyway // nobody reads that there, and the capture has it all
	}
	err = into(e, o.output, func(w io.Writer) error {
		r.Paint = present.PaintReport(e, w)
		return report.Write(w, o.format, r)
	})
	if err != nil {
		return err
	}
	for _, words := range r.Traffic.LeftOut() {
		e.Tell("check: %s", words)
	}
	if err := c.known.finish(e, total); err != nil {
		return err
	}
	present.PrintVerdict(e, "check", verdict, c.remarks(total, hidden)...)
	if unread != nil {
		return unread
	}
	return present.VerdictExit(total, c.gate, o.allowEmpty)
}

// report returns the report on what was checked.
func (c *checker) report(ctx context.Context, e cli.Env, total *analyzer.Result) (*report.Report, error) {
	r := &report.Report{Result: total, Rules: c.rules.list, Gate: c.gate, Tool: cli.Tool(), Now: e.Now()}
	r.Directions = report.Directions(total)
	var err error
	if c.page != nil {
		r.Traffic, err = exchanges.Read(ctx, c.page.captures, total.Findings)
	}
	return r, err
}

// addCapture checks one capture and adds the selected findings to total.
func (c *checker) addCapture(ctx context.Context, e cli.Env, name string, total *analyzer.Result) error {
	src, err := c.from.Open(e, name)
	if err != nil {
		return err
	}
	if c.page == nil {
		defer src.Close()
	} else {
		c.page.open = append(c.page.open, src)
	}
	if c.keep.Noted {
		if c.keep.Notes, err = source.ReadNotes(ctx, e, "check", src); err != nil {
			return fmt.Errorf("check %s: %w", name, err)
		}
	}
	if c.part.IsWhole() {
		err = c.addWhole(ctx, e, name, src, c.again, total)
		if judged.DamagedReading(err) {
			e.Tell("check: %s: %v; it is judged anew", name, err)
			err = c.addWhole(ctx, e, name, src, true, total)
		}
	} else {
		err = c.judgeAndAddPart(ctx, e, name, src, total)
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", name, err)
	}
	return nil
}

// addWhole adds the selected findings of a capture to total. Unless it is to be judged again, what judging it came to
// before is read; then its blocks are looked at all the same, since a reading must not hide that they are damaged.
func (c *checker) addWhole(
	ctx context.Context, e cli.Env, name string, src capture.Source, again bool, total *analyzer.Result,
) (err error) {
	var j *judged.Capture
	if len(c.keys) > 0 {
		j, err = judged.OpenWith(ctx, e, "check", name, src, c.keys)
	} else {
		j, err = judged.Open(ctx, e, "check", name, src, again)
	}
	if err != nil {
		return err
	}
	defer j.Close()
	if store := source.StoreOf(src); store != nil && j.WasRead() {
		if err := store.Sound(ctx, nil); err != nil {
			return err
		}
	}
	result, err := j.Complete(ctx, j.Source)
	if err != nil {
		return err
	}
	shown, err := c.show(ctx, j, result)
	if err != nil {
		return err
	}
	if err := c.keep.Apply(ctx, j, result); err != nil {
		return err
	}
	c.rules.apply(result)
	c.known.apply(result)
	c.add(result, shown, total)
	return nil
}

// add adds the result on one capture, and what a page shows of it.
func (c *checker) add(result *analyzer.Result, shown exchanges.Capture, total *analyzer.Result) {
	for i := range result.Findings {
		if result.Findings[i].Severity >= c.least {
			shown.Findings++
		}
	}
	if c.page != nil {
		c.page.captures = append(c.page.captures, shown)
	}
	total.Add(result)
}

// hideMinor removes findings below --min-severity from what is printed, not from the counts, and returns how many.
func (c *checker) hideMinor(r *analyzer.Result) int {
	before := len(r.Findings)
	r.Findings = slices.DeleteFunc(r.Findings, func(f analyzer.Finding) bool { return f.Severity < c.least })
	return before - len(r.Findings)
}

// remarks returns what qualifies the verdict: filters, hidden findings, a recording that has not ended.
func (c *checker) remarks(r *analyzer.Result, hidden int) []string {
	var remarks []string
	if r.Nothing != "" && r.Counts.Exchanges == 0 {
		return []string{r.Nothing}
	}
	if !c.keep.All() {
		remarks = append(remarks, "only what --filter and --agent select is counted")
	}
	if !c.rules.all() {
		remarks = append(remarks, fmt.Sprintf("only %d of %d rules are reported on", len(c.rules.list), len(rules.All)))
	}
	if hidden > 0 {
		remarks = append(remarks, fmt.Sprintf("%s below --min-severity not shown", analyzer.Plural(hidden, "finding")))
	}
	if r.Live {
		remarks = append(remarks, "still being recorded")
	}
	return remarks
}
