package kept

import (
	"context"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
)

// Judge judges what is in the source now, and writes the reading with put. mark says of which steps it is. The result
// has no findings: they are in the reading.
//
// An error of put does not end it: the reading is then not whole, and Err of the writer says why.
func Judge(
	ctx context.Context, rules []*analyzer.Rule, src capture.Source, put func(...capture.Entry) error, mark []byte,
	options ...analyzer.EngineOption,
) (*analyzer.Result, *Writer, error) {
	info, err := src.Info(ctx)
	if err != nil {
		return nil, nil, err
	}
	w := NewWriter(rules, put)
	w.Interrupted = !info.Live && info.Crashes > 0
	result, err := analyzer.Run(ctx, rules, src, w.Found, append(options, w.Options()...)...)
	if err != nil {
		return nil, w, err
	}
	w.Finish(result, mark) //nolint:errcheck // Err has it
	return result, w, nil
}
