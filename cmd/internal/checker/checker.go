// Package checker checks captures. It loads stored results or runs the rules, keeps the findings that flags select, and
// returns the report and the exit status. It can follow a capture that is being recorded. A baseline lists accepted
// findings.
package checker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/analyzer/report/exchanges"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/summary"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/tui/terminal"
)

// Options are the flags of check.
type Options struct {
	From        source.Flags
	Format      string
	Output      string
	FailOn      string
	MinSeverity string
	Filter      string
	Agent       string
	Only, Not   []string
	Baseline    verdict.BaselineFlags
	Follow      bool
	JWKS        []string
	Brief       bool
	Coverage    bool
	AllowEmpty  bool
	Again       bool
}

// A checker holds the parsed flags of check.
type checker struct {
	from  *source.Flags
	gate  judgment.Gate
	least analysis.Severity
	keep  verdict.Selection
	rules ruleSelection
	known *verdict.Baseline
	keys  []engine.Option
	page  *pageTraffic // nil if the report is not a page
	again bool         // stored results are ignored
	took  durations
}

func (o *Options) checker(e cli.Env) (c checker, err error) {
	if err := cli.ChooseFormat("format", &o.Format, o.Output, report.Formats()...); err != nil {
		return c, err
	}
	if o.Brief && (o.Format != "text" && o.Format != "junit" || o.Follow) {
		return c, cli.Usage("--brief shortens the text or JUnit of a finished check; leave out --follow and other formats")
	}
	if c.gate, err = present.ParseGate(o.FailOn); err != nil {
		return c, err
	}
	c.gate.AllowEmpty = o.AllowEmpty
	if c.least, err = analysis.ParseSeverity(o.MinSeverity); err != nil {
		return c, cli.Usage("--min-severity: %w", err)
	}
	if c.keep, err = verdict.ParseSelection(o.Filter, o.Agent); err != nil {
		return c, err
	}
	if c.rules, err = selectRules(o.Only, o.Not); err != nil {
		return c, err
	}
	if c.keys, err = verdict.ReadKeys(o.JWKS); err != nil {
		return c, err
	}
	c.again, c.from = o.Again, &o.From
	c.known, err = o.Baseline.Open(e)
	return c, err
}

// Run checks captures and writes one report on all of them.
func Run(ctx context.Context, e cli.Env, o Options, names []string) error {
	defer e.LimitMemory()()
	c, err := o.checker(e)
	if err != nil {
		return err
	}
	if o.Follow {
		return c.follow(ctx, e, o, names)
	}
	if err := cli.NotOver(o.Output, names...); err != nil {
		return err
	}
	if o.Format == "html" {
		c.page = &pageTraffic{}
		defer c.page.close()
	}
	total := &judgment.Result{}
	var unread error
	for _, name := range names {
		if err := c.addCapture(ctx, e, name, total); err != nil {
			unread = errors.Join(unread, err)
		}
	}
	if len(total.Captures) == 0 {
		return unread
	}
	return c.conclude(ctx, e, o, total, unread)
}

// conclude writes the report on the checked captures, and returns the command's error.
func (c *checker) conclude(ctx context.Context, e cli.Env, o Options, total *judgment.Result, unread error) error {
	total.Explain()
	verdict := total.Judge(c.gate)
	hidden := c.hideMinor(total)
	r, err := c.report(ctx, e, total)
	if err != nil {
		return err
	}
	r.Brief, r.Coverage = o.Brief, o.Coverage
	into := cli.WriteOutput
	if o.Format != "text" && terminal.Is(e.Out) {
		into = cli.WriteAnyway // the capture keeps everything, so a failed write loses nothing
	}
	err = into(e, o.Output, func(w io.Writer) error {
		r.Paint = present.PaintReport(e, w)
		return report.Write(w, o.Format, r)
	})
	if err != nil {
		return err
	}
	for _, words := range r.Traffic.LeftOut() {
		e.Tell("check: %s", words)
	}
	if err := c.known.Finish(e, total.Coverage, total.Calls, nil); err != nil {
		return err
	}
	present.PrintVerdict(e, "check", verdict, c.remarks(total, hidden)...)
	if unread != nil {
		return unread
	}
	return present.VerdictExit(verdict.Exit)
}

// report returns the report on the checked captures.
func (c *checker) report(ctx context.Context, e cli.Env, total *judgment.Result) (*report.Report, error) {
	r := report.Under(c.gate, total)
	r.Rules, r.Tool, r.Now, r.Directions, r.Took = c.rules.list, cli.Tool(), e.Now(), report.Directions(total), c.took.of
	var err error
	if c.page != nil {
		r.Traffic, err = exchanges.Read(ctx, c.page.captures, total.Findings)
	}
	return r, err
}

// addCapture checks one capture and adds the selected findings to total.
func (c *checker) addCapture(ctx context.Context, e cli.Env, name string, total *judgment.Result) error {
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
	how := verdict.How{Again: c.again, Engine: c.keys}
	j, err := verdict.Open(ctx, e, "check", name, src, how)
	if err == nil {
		if c.page == nil {
			defer j.Close()
		} else {
			c.page.open = append(c.page.open, j)
		}
		err = j.Try(ctx, func(j *verdict.Capture) error { return c.addJudged(ctx, j, total) })
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", name, err)
	}
	return nil
}

// addJudged adds the selected findings of a capture to total. If the results were stored, it verifies the capture's
// blocks first, since stored results must not hide damage.
func (c *checker) addJudged(ctx context.Context, j *verdict.Capture, total *judgment.Result) error {
	if store := source.StoreOf(j.Source); store != nil && j.Stored {
		if err := store.Sound(ctx, nil); err != nil {
			return err
		}
	}
	return c.add(ctx, j, total)
}

// add adds the selected findings of a capture to total.
func (c *checker) add(ctx context.Context, j *verdict.Capture, total *judgment.Result) error {
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
	c.known.Apply(result)
	result.Accept(c.known.KnowsCalls)
	for i := range result.Findings {
		if result.Findings[i].Severity >= c.least {
			shown.Findings++
		}
	}
	if c.page != nil {
		c.page.captures = append(c.page.captures, shown)
	}
	c.took.learn(ctx, j, result)
	total.Add(result)
	return nil
}

// hideMinor removes findings below --min-severity from the output, not from the counts, and returns their number.
func (c *checker) hideMinor(r *judgment.Result) int {
	before := len(r.Findings)
	r.Findings = slices.DeleteFunc(r.Findings, func(f analysis.Finding) bool { return f.Severity < c.least })
	return before - len(r.Findings)
}

// remarks returns the qualifications of the verdict: filters, hidden findings, a recording that has not ended.
func (c *checker) remarks(r *judgment.Result, hidden int) []string {
	var remarks []string
	if r.Nothing != "" && r.Counts.Exchanges == 0 {
		return []string{r.Nothing}
	}
	if !c.keep.All() {
		remarks = append(remarks, "counts only what --filter and --agent select")
	}
	if !c.rules.all() {
		remarks = append(remarks, fmt.Sprintf("reports only %d of %d rules", len(c.rules.list), len(rules.All)))
	}
	if hidden > 0 {
		remarks = append(remarks, fmt.Sprintf("%s below --min-severity not shown", analysis.Plural(hidden, "finding")))
	}
	if r.Live {
		remarks = append(remarks, "still being recorded")
	}
	return remarks
}

// A pageTraffic is the captures whose exchanges a page shows. They stay open until it is written.
type pageTraffic struct {
	open     []io.Closer
	captures []exchanges.Capture
}

func (p *pageTraffic) close() {
	for _, c := range slices.Backward(p.open) {
		c.Close()
	}
}

// show returns a page's data about a capture, given all findings in it.
func (c *checker) show(ctx context.Context, j *verdict.Capture, result *judgment.Result) (shown exchanges.Capture, err error) {
	if c.page == nil {
		return shown, nil
	}
	shown = exchanges.Capture{Name: result.Captures[0], Source: j.Source}
	if shown.Notes, err = source.Notes(ctx, j.Source); err != nil {
		return shown, err
	}
	if shown.Links, err = j.AllLinks(ctx); err != nil {
		return shown, err
	}
	shown.Summary = func(seq uint64) *summary.Summary {
		if row, err := j.Row(ctx, seq); err == nil && row != nil {
			return &row.Summary
		}
		return nil
	}
	if shown.Reader, err = j.Reader(ctx); err != nil || c.keep.All() {
		return shown, err
	}
	shown.Chosen = []uint64{}
	err = j.Choose(ctx, c.keep, 1, math.MaxUint64, func(row *snapshot.Row, chosen bool) bool {
		if chosen {
			shown.Chosen = append(shown.Chosen, row.Seq)
		}
		return true
	})
	return shown, err
}
