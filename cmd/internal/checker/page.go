package checker

import (
	"context"
	"io"
	"math"

	"a2atap/analyzer"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/report"
	"a2atap/analyzer/report/exchanges"
	"a2atap/analyzer/summary"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
)

// A pageTraffic is the captures whose exchanges a page shows. They stay open until it is written.
type pageTraffic struct {
	open     []capture.Source
	captures []exchanges.Capture
}

func (p *pageTraffic) close() {
	for _, src := range p.open {
		src.Close()
	}
}

// show returns what a page shows of a capture, given all that was found in it.
func (c *checker) show(ctx context.Context, j *judged.Capture, result *judgment.Result) (shown exchanges.Capture, err error) {
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
	err = j.Choose(ctx, c.keep, 1, math.MaxUint64, func(row *kept.Row, chosen bool) bool {
		if chosen {
			shown.Chosen = append(shown.Chosen, row.Seq)
		}
		return true
	})
	return shown, err
}

// Page checks a capture, and writes the exchanges that are chosen as a page.
func Page(ctx context.Context, e cli.Env, from *source.Flags, output, name string, keep judged.Selection) error {
	defer limitMemory(e)()
	c := &checker{
		from: from, gate: present.Gate{Severity: analyzer.Error}, least: analyzer.Note, keep: keep, known: &judged.Baseline{},
		page: &pageTraffic{},
	}
	defer c.page.close()
	var err error
	if c.rules, err = selectRules(nil, nil); err != nil {
		return err
	}
	total := &judgment.Result{}
	if err := c.addCapture(ctx, e, name, total); err != nil {
		return err
	}
	if err := source.TellGaps(ctx, e, "export", c.page.open[0]); err != nil {
		return err
	}
	total.Explain()
	r, err := c.report(ctx, e, total)
	if err != nil {
		return err
	}
	if err := cli.WriteAnyway(e, output, func(w io.Writer) error { return report.HTML(w, r) }); err != nil {
		return err
	}
	for _, words := range r.Traffic.LeftOut() {
		e.Tell("export: %s", words)
	}
	return nil
}
