package viewer

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/view"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/tui/document"
)

// follow prints the contents of the capture, and then each exchange that ends. It stops if the recording ends, an
// interrupt arrives, or enough is printed.
func (s *showing) follow(ctx context.Context) error {
	before, err := s.src.Info(ctx)
	if err != nil {
		return err
	}
	until, cancel := cli.UntilInterrupted(ctx, s.e)
	defer cancel()
	ctx = context.WithoutCancel(ctx)
	v := verdict.View(s.name, s.src, rules.All)
	defer v.Close()
	s.widths = present.Widths{Link: followedLink, Asked: followedAsked}
	f := &showFollower{showing: s, ordered: s.o.Format == "transcript" || s.o.Format == "ladder"}
	late, err := f.run(ctx, until, v)
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if s.p == nil {
		s.p = s.newPrinter(ctx)
	}
	return s.tellEnd(ctx, before, late)
}

// maxGap bounds how many missing numbers are waited for. Files of other programs may have large gaps.
const maxGap = 10_000

// Default widths of columns, before the widths of their contents are known.
const (
	followedLink  = 24
	followedAsked = 22
)

// tellEnd prints changes after the printed part, and how the recording ended if it did not end normally.
func (s *showing) tellEnd(ctx context.Context, before capture.Info, late int) error {
	info, err := s.src.Info(ctx)
	if err != nil {
		return err
	}
	if n := info.LostExchanges - before.LostExchanges; n > 0 {
		s.e.Tell("show: %s lacks %s more that were forwarded and could not be recorded", s.name, analysis.Plural(n, "exchange"))
	}
	if info.Crashes > before.Crashes {
		s.e.Tell("show: %s: %s", s.name, info.Crash)
	}
	if late > 0 && s.o.Format != "json" {
		s.e.Tell("show: %s in exchanges that were printed before; a2atap check %s prints all",
			analysis.Plural(late, "finding"), s.name)
	}
	return nil
}

// A showFollower prints exchanges of a recording as they end.
type showFollower struct {
	*showing
	ordered bool // exchanges are printed in order of their numbers, not of their ends

	begun   bool
	open    []uint64 // exchanges that have not ended, in order
	last    uint64   // the highest number seen
	printed cli.Set  // printed or not selected
	counted uint64   // the number of the first unseen finding
}

// run prints until the recording ends or until is done. late counts findings in exchanges that were already printed.
func (f *showFollower) run(ctx, until context.Context, v *view.View) (late int, err error) {
	for {
		state, changed := v.Now()
		over := state.Whole || until.Err() != nil
		if state.Results != nil && (f.begun || over || !state.Checking) {
			n, err := f.show(ctx, until, state)
			if late += n; err != nil || over {
				return late, err
			}
		} else if over {
			return late, nil
		} else if state.Err != nil {
			return late, state.Err
		}
		select {
		case <-changed:
		case <-until.Done():
		}
	}
}

// show prints the exchanges that have ended. If the recording pauses, show also prints those that wait for an open
// exchange. At the end of the recording, it also prints open exchanges.
func (f *showFollower) show(ctx, until context.Context, state view.State) (late int, err error) {
	interrupted := until.Err() != nil
	if f.j = verdict.With(state.Results, f.src); f.p == nil {
		f.p = f.newPrinter(ctx)
	}
	for found, err := range f.j.Findings(ctx, f.counted) {
		if err != nil {
			return late, err
		}
		f.counted = found.Number + 1
		if f.printed.Has(found.Place.Exchange) {
			late++
		}
	}
	ended, err := f.ended(ctx, interrupted || state.Whole, state.Whole)
	if err != nil {
		return late, err
	}
	if !f.begun && f.o.Tail.given {
		if ended, err = f.tail(ctx, ended); err != nil {
			return late, err
		}
	}
	f.begun = true
	for _, seq := range ended {
		if until.Err() != nil && !interrupted {
			return late, errors.Join(f.flush(), errEnough)
		}
		if err := f.one(ctx, seq); err != nil {
			return late, err
		}
	}
	return late, f.flush()
}

// ended returns exchanges that have ended since its last call, in printing order. If all is set, it also returns those
// that are still open.
func (f *showFollower) ended(ctx context.Context, over, all bool) ([]uint64, error) {
	var ended []*snapshot.Row
	var open []uint64
	waits := func() bool { return f.ordered && len(open) > 0 && !over }
	take := func(row *snapshot.Row) {
		if row.Life == capture.StateOpen || waits() {
			open = append(open, row.Seq)
		} else {
			ended = append(ended, row)
		}
	}
	for i, seq := range f.open {
		if waits() {
			open = append(open, f.open[i:]...)
			break
		}
		switch row, err := f.j.Row(ctx, seq); {
		case err != nil:
			return nil, err
		case row == nil:
			open = append(open, seq)
		default:
			take(row)
		}
	}
	for row, err := range f.j.Rows(ctx, f.last+1) {
		if err != nil {
			return nil, err
		}
		// Open exchanges may get their rows after later ones.
		for f.last++; f.last < row.Seq && row.Seq-f.last < maxGap; f.last++ {
			open = append(open, f.last)
		}
		f.last = row.Seq
		// Rows may already have what Row, by which exchanges are printed, has after the next refresh.
		switch known, err := f.j.Row(ctx, row.Seq); {
		case err != nil:
			return nil, err
		case known == nil:
			open = append(open, row.Seq)
		default:
			take(known)
		}
	}
	f.open = open
	if f.begun && !f.ordered {
		slices.SortStableFunc(ended, func(a, b *snapshot.Row) int {
			return cmp.Or(a.Started.Add(a.Took).Compare(b.Started.Add(b.Took)), cmp.Compare(a.Seq, b.Seq))
		})
	}
	list := make([]uint64, 0, len(ended))
	for _, row := range ended {
		list = append(list, row.Seq)
	}
	if all {
		list, f.open = append(list, open...), nil
	}
	if f.ordered {
		slices.Sort(list)
	}
	return list, nil
}

// tail returns the selected exchanges that --tail keeps. The others count as printed.
func (f *showFollower) tail(ctx context.Context, seqs []uint64) ([]uint64, error) {
	var chosen []uint64
	for _, seq := range seqs {
		row, err := f.j.Row(ctx, seq)
		if err != nil {
			return nil, err
		}
		is := false
		if row != nil {
			if is, err = f.j.Match(ctx, f.keep, row); err != nil {
				return nil, err
			}
		}
		if is {
			chosen = append(chosen, seq)
		}
	}
	left := chosen[max(len(chosen)-f.o.Tail.n, 0):]
	for _, seq := range seqs {
		if !slices.Contains(left, seq) {
			f.seen++
			f.printed.Add(seq)
		}
	}
	return left, nil
}

// one prints an exchange that has ended, if it is selected.
func (f *showFollower) one(ctx context.Context, seq uint64) error {
	row, err := f.j.Row(ctx, seq)
	if err != nil || row == nil {
		return err
	}
	f.seen++
	f.printed.Add(seq)
	chosen, err := f.j.Match(ctx, f.keep, row)
	if err != nil || !chosen {
		return err
	}
	f.matched++
	if err := f.printRow(ctx, row, document.Section{}); err != nil {
		return err
	}
	if f.enough() {
		return errors.Join(f.flush(), errEnough)
	}
	return nil
}

// flush prints the printer's held-back output.
func (f *showFollower) flush() error {
	if p, ok := f.p.(present.Flusher); ok {
		return p.Flush()
	}
	return nil
}
