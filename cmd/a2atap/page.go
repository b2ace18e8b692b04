package main

import (
	"context"
	"io"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/report"
	"a2atap/analyzer/report/exchanges"
	"a2atap/analyzer/track/workflow"
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
func (c *checker) show(
	ctx context.Context, src capture.Source, result *analyzer.Result, links *workflow.Index,
) (shown exchanges.Capture, err error) {
	if c.page == nil {
		return shown, nil
	}
	shown = exchanges.Capture{Name: result.Captures[0], Source: src, Links: links}
	if shown.Notes, err = notesOn(ctx, src); err != nil {
		return shown, err
	}
	if shown.Reader, err = newReader(ctx, src); err != nil || c.keep.all() {
		return shown, err
	}
	keep := c.keep
	keep.links = links
	findings := groupFindings(result.Findings)
	shown.Chosen = []uint64{}
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return shown, err
		}
		if keep.match(x, reading.Facts{Reading: shown.Reader.Read(x), Findings: findings[x.Seq]}) {
			shown.Chosen = append(shown.Chosen, x.Seq)
		}
	}
	return shown, nil
}

// exportPage checks a capture, and writes the exchanges that are chosen as a page.
func exportPage(ctx context.Context, e env, output, name string, keep selection) error {
	defer limitMemory(e)()
	c := &checker{
		gate: analyzer.Error, least: analyzer.Note, keep: keep, known: &knownFindings{}, page: &pageTraffic{},
	}
	defer c.page.close()
	var err error
	if c.rules, err = selectRules(nil, nil); err != nil {
		return err
	}
	total := &analyzer.Result{}
	if err := c.addCapture(ctx, e, name, total); err != nil {
		return err
	}
	if err := e.tellGaps(ctx, "export", c.page.open[0]); err != nil {
		return err
	}
	r, err := c.report(ctx, e, total)
	if err != nil {
		return err
	}
	if err := writeExport(e, output, func(w io.Writer) error { return report.HTML(w, r) }); err != nil {
		return err
	}
	for _, words := range r.Traffic.LeftOut() {
		e.tell("export: %s", words)
	}
	return nil
}
