package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/exporter"
	"a2atap/cmd/internal/spans"
)

func newExport(e cli.Env) *cobra.Command {
	o := exporter.Options{}
	cmd := &cobra.Command{
		Use:   "export CAPTURE",
		Short: "Write a capture as HAR, JSON Lines, transcript, page or OpenTelemetry spans",
		Long: `Export writes exchanges of a capture in a format for other programs: har (HAR 1.2), jsonl (one exchange
per line), txtar (a transcript, HTTP as text), otlp (OpenTelemetry spans as OTLP JSON lines: one for each exchange and
each task, with the findings as events), or html (a web page with findings, ladders, and each exchange). Without
--format the extension of the output file decides. Every command that reads a capture also reads these files, except
otlp and html. A page shows at most 1,000 exchanges, those with findings first. Secrets are written as recorded: as
placeholders, unless they were kept. Spans have no bodies, headers or queries; --otlp-bodies adds the bodies.`,
		Example: `  a2atap export c.a2atap -o c.har
  a2atap export c.a2atap --format jsonl | jq .operation
  a2atap export c.a2atap --filter 'task:t-1' -o bug.txtar
  a2atap export c.a2atap -o spans.otlp
  a2atap export c.a2atap -o c.html --filter 'agent:booker'`,
		RunE: func(cmd *cobra.Command, args []string) error { return exporter.Run(cmd.Context(), e, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "", "write as `FORMAT`: har, jsonl, txtar, html or otlp")
	f.StringVarP(&o.Output, "output", "o", "-", "write to `FILE`")
	f.StringVar(&o.Filter, "filter", "", "write the exchanges that match `EXPR`")
	f.StringVar(&o.Agent, "agent", "", "write the exchanges of the agent `NAME`")
	f.BoolVar(&o.Bodies, "otlp-bodies", false, spans.BodiesHelp)
	o.From.Register(f, nil)
	return withArgs(cmd, 1, 1)
}
