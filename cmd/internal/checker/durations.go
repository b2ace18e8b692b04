package checker

import (
	"context"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A durations records how long exchanges with findings took. The zero value is empty.
type durations struct{ took map[exchange]time.Duration }

type exchange struct {
	capture string
	seq     uint64
}

// learn reads how long exchanges with findings of a capture took. Findings of one rule against one agent with the same
// severity and side share a report entry, which shows the first.
func (d *durations) learn(ctx context.Context, j *verdict.Capture, result *judgment.Result) {
	type alike struct {
		rule, agent string
		severity    analysis.Severity
		side        a2a.Side
	}
	known, counted := make(map[alike]bool), result.Counted()
	for i := range result.Findings {
		f := &result.Findings[i]
		key := alike{f.Rule.ID, counted(f.Link).Agent, f.Severity, f.Side}
		if known[key] {
			continue
		}
		known[key] = true
		row, err := j.Row(ctx, f.Place.Exchange)
		if err != nil || row == nil {
			continue
		}
		if d.took == nil {
			d.took = make(map[exchange]time.Duration)
		}
		d.took[exchange{f.Capture, f.Place.Exchange}] = row.Took
	}
}

// of returns how long the exchange of a finding took; capture.NotKnown if learn did not read it.
func (d *durations) of(f *analysis.Finding) time.Duration {
	if took, known := d.took[exchange{f.Capture, f.Place.Exchange}]; known {
		return took
	}
	return capture.NotKnown
}
