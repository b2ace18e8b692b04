package spans

import (
	"context"
	"io"

	"a2atap/analyzer/otlp"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
)

// BodiesHelp is the help of --otlp-bodies.
const BodiesHelp = "add the recorded bodies and event data to spans, up to 64 KiB per span"

// Write writes the chosen exchanges of a capture as spans.
func Write(ctx context.Context, e cli.Env, w io.Writer, name string, src capture.Source, keep verdict.Selection, bodies bool) error {
	info, err := src.Info(ctx)
	if err != nil {
		return err
	}
	reader, err := source.NewReader(ctx, src)
	if err != nil {
		return err
	}
	chosen, err := keep.Chooser(ctx, e, "export", name, src)
	if err != nil {
		return err
	}
	causes := &workflow.Index{}
	spans := otlp.New(otlp.Options{
		Capture: info.ID, Version: cli.Tool().Version, Bodies: bodies, Reader: reader, Opened: openedIn(ctx, src),
		Parent: parentIn(causes),
	})
	return otlp.Export(ctx, w, rules.All, src, spans, chosen, !keep.All(), workflow.Into(causes.Put)...)
}

// parentIn returns how spans ask for the exchange that caused another.
func parentIn(causes *workflow.Index) func(seq uint64) otlp.Parent {
	return func(seq uint64) otlp.Parent {
		link := causes.Of(seq)
		parent := otlp.Parent{Exchange: link.Parent}
		if link.Parent != 0 && !link.By.Certain() {
			parent.Inferred = link.By.String()
		}
		return parent
	}
}

// openedIn returns how the beginnings of the exchanges of a capture are read.
func openedIn(ctx context.Context, src capture.Source) func(seq uint64) (capture.Opened, bool) {
	return func(seq uint64) (capture.Opened, bool) {
		for s, err := range src.StepsOf(ctx, seq, 0) {
			opened, ok := s.What.(capture.Opened)
			return opened, ok && err == nil
		}
		return capture.Opened{}, false
	}
}
