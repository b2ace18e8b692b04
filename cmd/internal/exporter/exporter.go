// Package exporter writes exchanges of a capture as HAR, JSON Lines, transcript, page or spans.
package exporter

import (
	"context"
	"fmt"
	"io"
	"strings"

	"a2atap/cmd/internal/checker"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/spans"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
)

// Options are the flags of export.
type Options struct {
	From   source.Flags
	Format string
	Output string
	Filter string
	Agent  string
	Bodies bool
}

// Run exports a capture.
func Run(ctx context.Context, e cli.Env, o Options, name string) error {
	format := o.Format
	if format == "" {
		if i := strings.LastIndexByte(o.Output, '.'); i >= 0 {
			format = o.Output[i+1:]
		}
	}
	if o.Format == "" && o.Output == "-" {
		return cli.Usage("export to standard output needs --format har, jsonl, txtar, html or otlp")
	}
	if err := cli.Choose("format", format, "har", "jsonl", "txtar", "html", "otlp"); err != nil {
		return err
	}
	if o.Bodies && format != "otlp" {
		return cli.Usage("--otlp-bodies is for --format otlp; the other formats hold the bodies anyway")
	}
	keep, err := verdict.ParseSelection(o.Filter, o.Agent)
	if err != nil {
		return err
	}
	if err := cli.NotOver(o.Output, name); err != nil {
		return err
	}
	if format == "html" {
		return checker.Page(ctx, e, &o.From, o.Output, name, keep)
	}
	src, err := o.From.Open(e, name)
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
	return cli.WriteAnyway(e, o.Output, func(w io.Writer) error {
		if format == "otlp" {
			return spans.Write(ctx, e, w, name, src, keep, o.Bodies)
		}
		return writeExchanges(ctx, e, w, format, name, src, keep)
	})
}

func writeExchanges(
	ctx context.Context, e cli.Env, w io.Writer, format, name string, src capture.Source, keep verdict.Selection,
) error {
	reader, err := source.NewReader(ctx, src)
	if err != nil {
		return err
	}
	info, err := src.Info(ctx)
	if err != nil {
		return err
	}
	out, err := present.NewExchangeWriter(w, format, present.Annotator{Reader: reader, Notes: keep.Notes})
	if err != nil {
		return err
	}
	if err := out.Gaps(capture.GapsOf(&info)); err != nil {
		return err
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
