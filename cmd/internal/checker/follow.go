package checker

import (
	"context"
	"fmt"
	"io"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// follow checks one capture while it is recorded, and prints each finding as it occurs: a line of text or of JSON.
func (c *checker) follow(ctx context.Context, e cli.Env, o Options, names []string) error {
	switch {
	case len(names) != 1:
		return cli.Usage("--follow takes one capture, not %d", len(names))
	case names[0] == "-":
		return cli.Usage("--follow reads a capture file, not standard input, which is read to its end first")
	case o.Output != "-":
		return cli.Usage("--follow prints to standard output; leave out --follow to write a report with -o")
	}
	if err := cli.ChooseFormat("format with --follow", &o.Format, o.Output, "text", "json"); err != nil {
		return err
	}
	src, err := o.From.Follow(e, names[0], source.UntilEnded)
	if err != nil {
		return err
	}
	defer src.Close()
	ctx, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	links := &workflow.Index{}
	shelf := &capture.MemoryShelf{}
	written := kept.NewWriter(rules.All, shelf.Put)
	options := slices.Concat(c.keys, workflow.Into(links.Put), written.Options())
	c.keep.Links = links
	f := &follower{checker: c, src: src, w: e.Out, json: o.Format == "json"}
	each := func(found analysis.Finding) {
		written.Found(found)
		judged.InWorkflow(links, &found)
		f.take(context.WithoutCancel(ctx), found)
	}
	result, err := engine.Follow(ctx, rules.All, src, each, options...)
	if err != nil {
		return fmt.Errorf("check %s: %w", names[0], err)
	}
	ctx = context.WithoutCancel(ctx)
	written.Finish(result, nil) //nolint:errcheck // memory takes all
	read, err := kept.Open(ctx, shelf, rules.All)
	if err == nil {
		j := judged.Growing(read, src)
		j.Know(links, nil)
		err = c.keep.Apply(ctx, j, result)
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", names[0], err)
	}
	result.Baselined = f.baselined
	result.Accept(c.known.KnowsCalls)
	c.rules.apply(result)
	result.Found, result.Critical = f.kept.Found, f.kept.Critical
	if err := c.known.Finish(e, result.Coverage, result.Calls, nil); err != nil {
		return err
	}
	verdict := result.Judge(c.gate)
	present.PrintVerdict(e, "check", verdict, c.remarks(result, f.hidden)...)
	if f.err != nil {
		return f.err
	}
	return present.VerdictExit(verdict.Exit)
}

// A follower prints the selected findings of a capture that is being recorded.
type follower struct {
	*checker
	src    capture.Source
	w      io.Writer
	json   bool
	kept   judgment.Ledger // counts of the selected findings
	hidden int             // how many of them are below --min-severity
	err    error           // the first

	baselined int // findings that are known
}

func (f *follower) take(ctx context.Context, found analysis.Finding) {
	one := &judgment.Result{Findings: []analysis.Finding{found}}
	one.Found[found.Severity]++
	if !f.keep.All() {
		chosen, err := f.chosen(ctx, &found)
		f.fail(err)
		one.Keep(func(*analysis.Finding) bool { return chosen })
	}
	if !f.rules.all() {
		one.Keep(f.rules.keeps)
	}
	f.known.Apply(one)
	f.baselined += one.Baselined
	for i := range one.Findings {
		f.kept.Add(&one.Findings[i])
		f.print(&one.Findings[i])
	}
}

// chosen reports whether a finding stands in an exchange that is chosen, as far as that has come.
func (f *follower) chosen(ctx context.Context, found *analysis.Finding) (bool, error) {
	x, err := f.src.Exchange(ctx, found.Place.Exchange)
	if err != nil {
		return false, err
	}
	reader, err := source.NewReader(ctx, f.src)
	if err != nil {
		return false, err
	}
	sum := engine.Summarise(x, engine.Knowing(reader.Known))
	return f.keep.Match(x, reading.Facts{
		Reading: reader.Read(x), Findings: []analysis.Finding{*found}, Failed: sum.Failed(),
		Notification: found.Operation == a2a.Webhook,
	}), nil
}

func (f *follower) print(found *analysis.Finding) {
	if found.Severity < f.least {
		f.hidden++
		return
	}
	if f.json {
		f.fail(report.FindingLine(f.w, found))
		return
	}
	_, err := io.WriteString(f.w, report.Line(found)+"\n")
	f.fail(err)
}

func (f *follower) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}
