package viewer

import (
	"context"
	"errors"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/summary"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/tui/document"
)

// follow prints what is in the capture, and then each exchange that ends, until the recording ends, an interrupt comes,
// or enough was printed.
func (s *showing) follow(ctx context.Context) error {
	before, err := s.src.Info(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := cli.UntilInterrupted(ctx, s.e)
	defer cancel()
	f := &showFollower{showing: s, stop: cancel, ordered: s.o.Format == "transcript" || s.o.Format == "ladder"}
	s.widths = present.Widths{Link: followedLink, Asked: followedAsked}
	f.shelf = &capture.MemoryShelf{}
	f.writer = kept.NewWriter(rules.All, f.shelf.Put)
	if s.keep.Linked {
		f.writer.Links()
	}
	f.writer.Flush()
	over := func(x summary.Summary) {
		f.over.Add(x.Seq)
		if f.begun && ctx.Err() == nil { // an interrupt makes the engine name those that are still open
			f.ended = append(f.ended, x.Seq)
		}
	}
	take := func(found analysis.Finding) {
		if f.printed.Has(found.Place.Exchange) {
			f.late++
		}
		f.writer.Found(found)
	}
	var judging []*analysis.Rule
	if s.judges() || !s.keep.All() {
		judging = rules.All
	}
	src := &catchingUp{Source: s.src, then: func() {
		if !f.begun {
			f.fail(f.begin(ctx))
			return
		}
		f.fail(f.printEnded(context.WithoutCancel(ctx)))
	}}
	_, err = engine.Follow(ctx, judging, src, take, append(f.writer.Options(), engine.OnEnded(over))...)
	failed := err != nil && ctx.Err() == nil
	slices.Sort(f.ended) // those that the end of the recording left open have no order
	f.fail(f.printEnded(context.WithoutCancel(ctx)))
	if failed {
		return err
	}
	if s.p == nil { // it was interrupted before it got to the end of what is there
		s.p = s.newPrinter(context.WithoutCancel(ctx))
	}
	if f.err == nil {
		f.err = f.rest(context.WithoutCancel(ctx))
	}
	if f.err != nil && !errors.Is(f.err, errEnough) {
		return f.err
	}
	return s.tellEnd(context.WithoutCancel(ctx), before, f.late)
}

// Widths of columns where nobody knows yet what will stand in them.
const (
	followedLink  = 24
	followedAsked = 22
)

// tellEnd says what came after what was printed, and how the recording ended if that was not in order.
func (s *showing) tellEnd(ctx context.Context, before capture.Info, late int) error {
	info, err := s.src.Info(ctx)
	if err != nil {
		return err
	}
	if n := info.LostExchanges - before.LostExchanges; n > 0 {
		s.e.Tell("show: %s lacks %s more that passed and could not be recorded", s.name, analysis.Plural(n, "exchange"))
	}
	if info.Crashes > before.Crashes {
		s.e.Tell("show: %s: %s", s.name, info.Crash)
	}
	if n := late; n > 0 && s.o.Format != "json" {
		s.e.Tell("show: %s in exchanges that were printed before; a2atap check %s prints all",
			analysis.Plural(n, "finding"), s.name)
	}
	return nil
}

// A showFollower prints exchanges of a recording as they end. Its methods are called by the engine's goroutine.
type showFollower struct {
	*showing
	stop    context.CancelFunc
	ordered bool // each exchange stands after those before it

	shelf   *capture.MemoryShelf // on which the reading grows
	writer  *kept.Writer
	over    cli.Set // exchanges that have ended
	printed cli.Set // or were not chosen
	late    int     // findings in exchanges that were printed before

	begun   bool
	ended   []uint64 // those that are over since the last were printed, in the order in which they ended
	next    uint64   // if ordered: the lowest number that was not printed
	waiting []uint64 // if ordered: those that are over and come after one that is not
	err     error    // the first
}

// fail ends following with the first error.
func (f *showFollower) fail(err error) {
	if err != nil && f.err == nil {
		f.err = err
		f.stop()
	}
}

// begin prints what was over when all that was there had been judged. An interrupt is not an error.
func (f *showFollower) begin(ctx context.Context) error {
	f.p = f.newPrinter(ctx)
	f.begun, f.next = true, 1
	if err := f.refresh(ctx); err != nil {
		return err
	}
	var list []uint64
	for row, err := range f.j.Rows(ctx, 1) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case !f.over.Has(row.Seq):
		case f.ordered && row.Seq != f.next:
			f.waiting = append(f.waiting, row.Seq)
		default:
			f.next++
			f.printed.Add(row.Seq)
			f.seen++
			chosen, err := f.j.Match(ctx, f.keep, row)
			if err != nil {
				return err
			}
			if chosen && f.o.Tail.given {
				list = append(list, row.Seq)
			} else if chosen {
				if err := f.row(ctx, row.Seq); err != nil && ctx.Err() == nil {
					return err
				}
			}
		}
		if f.enough() {
			break
		}
	}
	if f.o.Tail.given {
		list = list[max(len(list)-f.o.Tail.n, 0):]
	}
	for _, seq := range list {
		if err := f.row(ctx, seq); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
	if err := f.Flush(); err != nil {
		return err
	}
	if f.enough() {
		return errEnough
	}
	return nil
}

// printEnded prints what is over since it was called last. An exchange is not printed when it ends, since the engine
// says that before it hands out what the rules found in the last step.
func (f *showFollower) printEnded(ctx context.Context) error {
	if len(f.ended) > 0 && f.err == nil {
		if err := f.refresh(ctx); err != nil {
			return err
		}
	}
	for _, seq := range f.ended {
		if f.err != nil {
			break
		}
		if err := f.follows(ctx, seq); err != nil {
			return err
		}
	}
	f.ended = f.ended[:0]
	return nil
}

// over prints an exchange that has ended.
func (f *showFollower) follows(ctx context.Context, seq uint64) error {
	if !f.ordered {
		return f.one(ctx, seq)
	}
	at, _ := slices.BinarySearch(f.waiting, seq)
	f.waiting = slices.Insert(f.waiting, at, seq)
	printed := 0
	for printed < len(f.waiting) && f.waiting[printed] == f.next {
		if err := f.one(ctx, f.next); err != nil {
			return err
		}
		printed++
		f.next++
	}
	f.waiting = f.waiting[printed:]
	if printed > 0 {
		return f.Flush()
	}
	return nil
}

// rest prints what was still waiting when the recording ended, or an interrupt came.
func (f *showFollower) rest(ctx context.Context) error {
	for _, seq := range f.waiting {
		if err := f.one(ctx, seq); err != nil {
			return err
		}
	}
	f.waiting = nil
	return nil
}

func (f *showFollower) one(ctx context.Context, seq uint64) error {
	f.seen++
	f.printed.Add(seq)
	row, err := f.j.Row(ctx, seq)
	if err != nil || row == nil {
		return err
	}
	chosen, err := f.j.Match(ctx, f.keep, row)
	if err == nil && chosen {
		err = f.row(ctx, seq)
	}
	if flushErr := f.flushEach(); flushErr != nil {
		return flushErr
	}
	if err == nil && f.enough() {
		err = errEnough
	}
	return err
}

// row prints an exchange.
func (f *showFollower) row(ctx context.Context, seq uint64) error {
	row, err := f.j.Row(ctx, seq)
	if err != nil {
		return err
	}
	f.matched++
	return f.printRow(ctx, row, document.Section{})
}

// refresh reads what was judged since.
func (f *showFollower) refresh(ctx context.Context) (err error) {
	f.writer.Flush()
	if f.j == nil {
		r, err := kept.Open(ctx, f.shelf, rules.All)
		if err != nil {
			return err
		}
		f.j = judged.Growing(r, f.src)
	} else if _, err = f.j.Refresh(ctx); err != nil {
		return err
	}
	if f.keep.Linked {
		f.keep.Links = f.writer.Links()
	}
	reader, err := source.NewReader(ctx, f.src)
	f.j.Know(f.keep.Links, reader)
	return err
}

// flushEach prints what a printer holds back, if it does not have to wait for more.
func (f *showFollower) flushEach() error {
	if f.ordered {
		return nil
	}
	return f.Flush()
}

func (f *showFollower) Flush() error {
	if p, ok := f.p.(present.Flusher); ok {
		return p.Flush()
	}
	return nil
}

// A catchingUp is a source that calls a function whenever its reader has come to the end of what is there and begins
// to wait for more.
type catchingUp struct {
	capture.Source
	then func()
}

// Wait implements capture.Source.
func (c *catchingUp) Wait(ctx context.Context, from uint64) error {
	c.then()
	return c.Source.Wait(ctx, from)
}
