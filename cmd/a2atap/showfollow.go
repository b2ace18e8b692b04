package main

import (
	"context"
	"errors"
	"slices"
	"sync"

	"a2atap/analyzer"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/tui"
)

// follow prints what is in the capture, and then each exchange that ends, until the recording ends, an interrupt comes,
// or enough was printed.
func (s *showing) follow(ctx context.Context) error {
	before, err := s.src.Info(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := untilInterrupted(ctx, s.e)
	defer cancel()
	f := &showFollower{showing: s, stop: cancel, interrupted: ctx.Err, ordered: s.o.format == "transcript" ||
		s.o.format == "ladder"}
	s.book.seen = widths{link: followedLink, asked: followedAsked}
	s.book.ended = func(seq uint64) { f.fail(f.over(context.WithoutCancel(ctx), seq)) }
	var judging []*analyzer.Rule
	if s.judges() {
		judging = rules.All
	}
	src := &catchingUp{Source: s.src, then: func() { f.fail(f.begin(ctx)) }}
	_, err = analyzer.Follow(ctx, judging, src, s.book.take, s.book.options()...)
	if err != nil && ctx.Err() == nil {
		return err
	}
	if s.p == nil { // it was interrupted before it got to the end of what is there
		s.p = s.newPrinter()
	}
	if f.err == nil {
		f.err = f.rest(context.WithoutCancel(ctx))
	}
	if f.err != nil && !errors.Is(f.err, errEnough) {
		return f.err
	}
	return s.tellEnd(context.WithoutCancel(ctx), before)
}

// Widths of columns where nobody knows yet what will stand in them.
const (
	followedLink  = 24
	followedAsked = 22
)

// tellEnd says what came after what was printed, and how the recording ended if that was not in order.
func (s *showing) tellEnd(ctx context.Context, before capture.Info) error {
	info, err := s.src.Info(ctx)
	if err != nil {
		return err
	}
	if n := info.LostExchanges - before.LostExchanges; n > 0 {
		s.e.tell("show: %s lacks %s more that passed and could not be recorded", s.name, analyzer.Plural(n, "exchange"))
	}
	if info.Crashes > before.Crashes {
		s.e.tell("show: %s: %s", s.name, info.Crash)
	}
	if n := s.book.late; n > 0 && s.o.format != "json" {
		s.e.tell("show: %s in exchanges that were printed before; a2atap check %s prints all",
			analyzer.Plural(n, "finding"), s.name)
	}
	return nil
}

// A showFollower prints exchanges of a recording as they end. Its methods are called by the engine's goroutine.
type showFollower struct {
	*showing
	stop        context.CancelFunc
	interrupted func() error
	ordered     bool // each exchange stands after those before it

	begun   bool
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

// begin prints what was over when all that was there had been judged.
func (f *showFollower) begin(ctx context.Context) error {
	f.p = f.newPrinter()
	f.begun, f.next = true, 1
	f.book.late = 0
	holds := f.book.isOver
	if f.ordered {
		holds = func(seq uint64) bool {
			if f.book.isOver(seq) && seq == f.next {
				f.next++
				return true
			}
			if f.book.isOver(seq) {
				f.waiting = append(f.waiting, seq)
			}
			return false
		}
	}
	if err := f.printAll(ctx, holds); err != nil {
		return err
	}
	if err := f.flush(); err != nil {
		return err
	}
	if f.enough() {
		return errEnough
	}
	return nil
}

// over prints an exchange that has ended.
func (f *showFollower) over(ctx context.Context, seq uint64) error {
	if !f.begun || f.err != nil || f.interrupted() != nil {
		return nil
	}
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
		return f.flush()
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
	x, err := f.src.Exchange(ctx, seq)
	if err != nil {
		return err
	}
	f.seen++
	err = f.take(x, tui.Part{})
	f.book.forget(seq)
	if flushErr := f.flushEach(); flushErr != nil {
		return flushErr
	}
	return err
}

// flushEach prints what a printer holds back, if it does not have to wait for more.
func (f *showFollower) flushEach() error {
	if f.ordered {
		return nil
	}
	return f.flush()
}

func (f *showFollower) flush() error {
	if p, ok := f.p.(flusher); ok {
		return p.flush()
	}
	return nil
}

// A catchingUp is a source that calls a function when its reader has come to the end of what is there and begins to
// wait for more.
type catchingUp struct {
	capture.Source
	once sync.Once
	then func()
}

// Wait implements capture.Source.
func (c *catchingUp) Wait(ctx context.Context, from uint64) error {
	c.once.Do(c.then)
	return c.Source.Wait(ctx, from)
}
