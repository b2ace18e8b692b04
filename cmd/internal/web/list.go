package web

import (
	"context"
	"slices"
	"time"

	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
)

// A list is the exchanges that match a filter, as far as they have been tested. Only the goroutine that draws may use
// it.
type list struct {
	expr string
	keep verdict.Selection

	reading *snapshot.Results // the reading used
	whole   bool              // its state at that time
	chosen  []uint64          // in order
	next    uint64            // the first untested exchange
	open    []uint64          // exchanges that were tested before they ended
}

// These constants bound the cost of one test of exchanges.
const (
	lookTime  = 500 * time.Millisecond
	lookFirst = 100 // minimum number of exchanges to test
)

// extend tests new exchanges, and those that were open, for a limited time. If the reading was replaced or completed,
// which may change provisional findings, extend starts again.
func (l *list) extend(ctx context.Context, src capture.Source, state known) error {
	if l.reading != state.Capture.Results || l.whole != state.Whole {
		l.reading, l.whole, l.chosen, l.next, l.open = state.Capture.Results, state.Whole, nil, 1, nil
	}
	keep := l.keep
	if keep.Noted {
		var err error
		if keep.Notes, err = source.Notes(ctx, src); err != nil {
			return err
		}
	}
	if err := l.lookAgain(ctx, state, keep); err != nil {
		return err
	}
	end, looked := time.Now().Add(lookTime), 0
	last := state.Capture.Head().Last
	if l.next > last {
		return nil
	}
	stopped := false
	err := state.Capture.Choose(ctx, keep, l.next, last, func(row *snapshot.Row, chosen bool) bool {
		if looked++; looked > lookFirst && looked%lookFirst == 0 && time.Now().After(end) {
			stopped = true
			return false
		}
		l.next = row.Seq + 1
		if row.Life == capture.StateOpen {
			l.open = append(l.open, row.Seq)
		}
		if chosen {
			l.chosen = append(l.chosen, row.Seq)
		}
		return true
	})
	if err == nil && !stopped { // numbers may be missing, and an index may rule out others
		l.next = last + 1
	}
	return err
}

// lookAgain tests exchanges that had not ended.
func (l *list) lookAgain(ctx context.Context, state known, keep verdict.Selection) error {
	if keep.Linked && len(l.open) > 0 {
		var err error
		if keep.Links, err = state.Capture.AllLinks(ctx); err != nil {
			return err
		}
	}
	var open []uint64
	for _, seq := range l.open {
		row, err := state.Capture.Row(ctx, seq)
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		chosen, err := state.Capture.Match(ctx, keep, row)
		if err != nil {
			return err
		}
		switch i, was := slices.BinarySearch(l.chosen, seq); {
		case chosen && !was:
			l.chosen = slices.Insert(l.chosen, i, seq)
		case !chosen && was:
			l.chosen = slices.Delete(l.chosen, i, i+1)
		}
		if row.Life == capture.StateOpen {
			open = append(open, seq)
		}
	}
	l.open = open
	return nil
}
