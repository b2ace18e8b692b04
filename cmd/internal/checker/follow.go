package checker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/view"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
)

// follow checks one capture while it is recorded, and prints each finding as it occurs: a line of text or of JSON.
func (c *checker) follow(ctx context.Context, e cli.Env, o Options, names []string) error {
	switch {
	case len(names) != 1:
		return cli.Usage("--follow accepts one capture, not %d", len(names))
	case names[0] == "-":
		return cli.Usage("--follow needs a capture file: standard input is read to its end first")
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
	until, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	ctx = context.WithoutCancel(ctx)
	v := verdict.View(names[0], src, rules.All, c.keys...)
	defer v.Close()
	f := &follower{checker: c, src: src, w: e.Out, json: o.Format == "json"}
	j, err := f.run(ctx, until, v)
	total := &judgment.Result{}
	if err == nil {
		err = c.add(ctx, j, total)
	}
	if errors.Is(err, snapshot.ErrNone) { // interrupted before anything was checked
		total.Live, err = true, nil
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", names[0], err)
	}
	if err := c.known.Finish(e, total.Coverage, total.Calls, nil); err != nil {
		return err
	}
	verdict := total.Judge(c.gate)
	present.PrintVerdict(e, "check", verdict, c.remarks(total, f.hidden)...)
	return present.VerdictExit(verdict.Exit)
}

// A follower prints the selected findings of a capture that is being recorded.
type follower struct {
	*checker
	src    capture.Source
	w      io.Writer
	json   bool
	seen   []uint32 // checksums of the printed or skipped findings, by number
	again  uint64   // how many findings had replaced others at the last complete pass
	hidden int      // number of selected findings below --min-severity
}

// run prints findings until the recording ends or until is over, and returns the capture with its results.
func (f *follower) run(ctx, until context.Context, v *view.View) (*verdict.Capture, error) {
	for {
		state, changed := v.Now()
		over := state.Whole || until.Err() != nil
		switch {
		case state.Results != nil:
			j := verdict.With(state.Results, f.src)
			if err := f.print(ctx, j); err != nil || over {
				return j, err
			}
		case state.Err != nil || over:
			return nil, cmp.Or(state.Err, snapshot.ErrNone)
		}
		select {
		case <-changed:
		case <-until.Done():
		}
	}
}

// print prints the selected findings that are new or have replaced others.
func (f *follower) print(ctx context.Context, j *verdict.Capture) error {
	info, err := f.src.Info(ctx)
	if err != nil {
		return err
	}
	from := uint64(len(f.seen))
	if replaced := j.Head().Replaced; replaced != f.again {
		from, f.again = 0, replaced
	}
	for found, err := range j.Findings(ctx, from) {
		if err != nil {
			return err
		}
		for uint64(len(f.seen)) <= found.Number {
			f.seen = append(f.seen, 0)
		}
		sum := crc32.ChecksumIEEE([]byte(found.Rule.ID + found.Place.String() + found.Seen))
		if f.seen[found.Number] == sum {
			continue
		}
		found.Revises, f.seen[found.Number] = f.seen[found.Number] != 0, sum
		if err := f.one(ctx, j, &info, found.Finding); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) one(ctx context.Context, j *verdict.Capture, info *capture.Info, found *analysis.Finding) error {
	found.Capture = info.Name
	one := &judgment.Result{}
	if row, err := j.Row(ctx, found.Place.Exchange); err != nil {
		return err
	} else if row != nil {
		found.ExchangeID = row.ID
		if found.Workflow, err = j.Workflow(ctx, row.Seq); err != nil {
			return err
		}
		chosen, err := j.Match(ctx, f.keep, row)
		if err != nil || !chosen {
			return err
		}
	}
	one.Findings = append(one.Findings, *found)
	one.Found[found.Severity]++
	if !f.rules.all() {
		one.Keep(f.rules.keeps)
	}
	f.known.Apply(one)
	for i := range one.Findings {
		if err := f.line(&one.Findings[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) line(found *analysis.Finding) error {
	switch {
	case found.Severity < f.least:
		f.hidden++
		return nil
	case f.json:
		return report.FindingLine(f.w, found)
	}
	_, err := io.WriteString(f.w, report.Line(found)+"\n")
	return err
}
