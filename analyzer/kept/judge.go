package kept

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/capture"
)

// Judge judges what is in the source now, and writes the reading with put. mark says of which steps it is. The result
// has no findings: they are in the reading.
//
// An error of put does not end it: the reading is then not whole, and Err of the writer says why.
func Judge(
	ctx context.Context, rules []*analysis.Rule, src capture.Source, put func(...capture.Entry) error, mark []byte,
	options ...engine.Option,
) (*judgment.Result, *Writer, error) {
	w := NewWriter(rules, put)
	result, err := w.judge(ctx, rules, src, mark, options)
	return result, w, err
}

// JudgeWhileRead is Judge for a reading that is read while it is made. It begins at once, and is written now and then.
// begun is called as soon as the reading can be opened.
func JudgeWhileRead(
	ctx context.Context, rules []*analysis.Rule, src capture.Source, put func(...capture.Entry) error, mark []byte,
	begun func(),
) error {
	w := NewWriter(rules, put)
	w.Flush()
	begun()
	_, err := w.judge(ctx, rules, growing{src, w}, mark, nil)
	return cmp.Or(err, w.Err())
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

// Wait waits for a step of a source whose reading grows, and has what is known written meanwhile: due and write are Due and
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

// A growing source tells the Writer of each step that was judged.
type growing struct {
	capture.Source
	w *Writer
}

// Steps implements capture.Source.
func (g growing) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		for s, err := range g.Source.Steps(ctx, from) {
			if !yield(s, err) {
				return
			}
			g.w.Judged(s.Arrival)
		}
	}
}
