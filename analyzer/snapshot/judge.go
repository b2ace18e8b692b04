package snapshot

import (
	"context"
	"errors"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/capture"
)

// Judge checks the current steps of the source, and writes the reading with put. mark identifies the steps. The result
// has no findings: they are in the reading.
//
// An error of put does not stop it: the reading is then incomplete, and the writer's Err returns the reason.
func Judge(
	ctx context.Context, rules []*analysis.Rule, src capture.Source, put func(...capture.Entry) error, mark []byte,
	options ...engine.Option,
) (*judgment.Result, *Writer, error) {
	w := NewWriter(rules, put)
	result, err := w.judge(ctx, rules, src, mark, options)
	return result, w, err
}

func (w *Writer) judge(
	ctx context.Context, rules []*analysis.Rule, src capture.Source, mark []byte, options []engine.Option,
) (*judgment.Result, error) {
	info, err := src.Info(ctx)
	if err != nil {
		return nil, err
	}
	w.Interrupted = !info.Live && info.Crashes > 0
	result, err := engine.Run(ctx, rules, src, w.Found, append(options, w.Options()...)...)
	if err != nil {
		return nil, err
	}
	w.Finish(result, mark) //nolint:errcheck // Err has it
	return result, nil
}

// Wait waits for a step of a source whose reading grows, and flushes the reading meanwhile: due and write are Due and
// Flush of its Writer.
func Wait(ctx context.Context, src capture.Source, from uint64, due func() (time.Duration, bool), write func()) error {
	for {
		pause, left := due()
		if !left {
			return src.Wait(ctx, from)
		}
		bounded, cancel := context.WithTimeout(ctx, max(pause, time.Millisecond))
		err := src.Wait(bounded, from)
		cancel()
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		write()
	}
}
