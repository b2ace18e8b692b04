package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/spans"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
)

type exportOptions struct {
	from   source.Flags
	format string
	output string
	filter string
	agent  string
	bodies bool
}

func newExport(e cli.Env) *cobra.Command {
	o := exportOptions{}
	cmd := &cobra.Command{
		Use:   "export CAPTURE",
		Short: "Write a capture as HAR, JSON Lines, transcript, page or OpenTelemetry spans",
		Long: `Export writes exchanges of a capture in a format that other programs read: har (HAR 1.2), jsonl (one exchange
per line), txtar (a transcript, HTTP as text), otlp (spans of OpenTelemetry as OTLP JSON lines: one for each exchange
and each task, with the findings as events), or html (a page for people: what check finds, ladders, and each exchange).
Without --format the extension of the output file decides. Every command that takes a capture reads these files, too,
but for otlp and html. A page shows at most 1,000 exchanges, those with findings first. Secrets are written as they were
recorded: as placeholders, unless they were kept. Spans hold no bodies, headers or queries; --otlp-bodies adds the
bodies.`,
		Example: `  a2atap export c.a2atap -o c.har
  a2atap export c.a2atap --format jsonl | jq .operation
  a2atap export c.a2atap --filter 'task:t-1' -o bug.txtar
  a2atap export c.a2atap -o spans.otlp
  a2atap export c.a2atap -o c.html --filter 'agent:booker'`,
		RunE: func(cmd *cobra.Command, args []string) error { return export(cmd.Context(), e, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "write as `FORMAT`: har, jsonl, txtar, html or otlp")
	f.StringVarP(&o.output, "output", "o", "-", "write to `FILE`")
	f.StringVar(&o.filter, "filter", "", "write the exchanges that match `EXPR`")
	f.StringVar(&o.agent, "agent", "", "write the exchanges of the agent `NAME`")
	f.BoolVar(&o.bodies, "otlp-bodies", false, spans.BodiesHelp)
	o.from.Register(f, nil)
	return withArgs(cmd, 1, 1)
}

func export(ctx context.Context, e cli.Env, o exportOptions, name string) error {
	format := o.format
	if format == "" {
		if i := strings.LastIndexByte(o.output, '.'); i >= 0 {
			format = o.output[i+1:]
		}
	}
	if o.format == "" && o.output == "-" {
		return cli.Usage("export to standard output needs --format har, jsonl, txtar, html or otlp")
	}
	if err := cli.Choose("format", format, "har", "jsonl", "txtar", "html", "otlp"); err != nil {
		return err
	}
	if o.bodies && format != "otlp" {
		return cli.Usage("--otlp-bodies is for --format otlp; the other formats hold the bodies anyway")
	}
	keep, err := judged.ParseSelection(o.filter, o.agent)
	if err != nil {
		return err
	}
	if err := cli.NotOver(o.output, name); err != nil {
		return err
	}
	if format == "html" {
		return exportPage(ctx, e, &o.from, o.output, name, keep)
	}
	src, err := o.from.Open(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := source.TellGaps(ctx, e, "export", src); err != nil {
		return err
	}
	if keep.Notes, err = source.ReadNotes(ctx, e, "export", src); err != nil {
		return fmt.Errorf("export %s: %w", name, err)
	}
	src = e.WithProgress(ctx, "export "+name, src)
	return cli.WriteAnyway(e, o.output, func(w io.Writer) error {
		if format == "otlp" {
			return spans.Write(ctx, e, w, name, src, keep, o.bodies)
		}
		return writeExchanges(ctx, e, w, format, name, src, keep)
	})
}

func writeExchanges(
	ctx context.Context, e cli.Env, w io.Writer, format, name string, src capture.Source, keep judged.Selection,
) error {
	reader, err := source.NewReader(ctx, src)
	if err != nil {
		return err
	}
	out, err := present.NewExchangeWriter(w, format, present.Annotator{Reader: reader, Notes: keep.Notes})
	if err != nil {
		return err
	}
	if t, ok := out.(*transcript.Writer); ok {
		info, err := src.Info(ctx)
		if err != nil {
			return err
		}
		if err := t.Gaps(transcript.GapsOf(&info)); err != nil {
			return err
		}
	}
	chosen, err := keep.Chooser(ctx, e, "export", name, src)
	if err != nil {
		return err
	}
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return err
		}
		if !chosen(x) {
			continue
		}
		if err := out.Write(x); err != nil {
			return fmt.Errorf("exchange %d: %w", x.Seq, err)
		}
	}
	return out.Close()
}
