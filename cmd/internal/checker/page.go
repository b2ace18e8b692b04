package checker

import (
	"context"
	"io"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
)

// Page checks a capture and writes the selected exchanges as a page.
func Page(ctx context.Context, e cli.Env, from *source.Flags, output, name string, keep verdict.Selection) error {
	defer e.LimitMemory()()
	c := &checker{
		from: from, gate: judgment.Gate{Severity: analysis.Error}, least: analysis.Note, keep: keep, known: &verdict.Baseline{},
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
	if err := source.TellGaps(ctx, e, "export", c.page.captures[0].Source); err != nil {
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
