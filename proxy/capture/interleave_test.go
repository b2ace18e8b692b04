package capture_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/must"
)

func TestInterleaveOrder(t *testing.T) {
	xs := capturetest.Exchanges()
	// The first two begin at one instant; the third begins while the second is passing and ends before it does.
	xs[0].Started = xs[1].Started
	var order []uint64
	for s, err := range capture.Interleave(capture.Each(xs[:3]...)) {
		must.Do(t, err)
		order = append(order, s.Seq)
	}
	want := []uint64{1, 2, 1, 2, 1, 3, 2}
	if got := slices.Compact(order); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Exchanges without times do not overlap, not even where they claim to begin at one instant.
func TestInterleaveWithoutTimes(t *testing.T) {
	xs := []*capture.Exchange{capturetest.Exchanges()[8], capturetest.Exchanges()[8], capturetest.Exchanges()[8]}
	for i, x := range xs {
		x.Seq = uint64(i) + 1
	}
	var order []uint64
	for s := range capture.Interleave(capture.Each(xs...)) {
		order = append(order, s.Seq)
	}
	if got := slices.Compact(order); !slices.Equal(got, []uint64{1, 2, 3}) {
		t.Errorf("got %v, want one after another", got)
	}
}

// Events without times had all arrived when the stream ended; nothing else is known about them.
func TestInterleaveEventsWithoutTimes(t *testing.T) {
	stream, call := capturetest.Exchanges()[1], capturetest.Exchanges()[0]
	for i := range stream.Response.Events {
		stream.Response.Events[i].At = capture.NotKnown
	}
	end := stream.Response.Body.At
	if end == capture.NotKnown || len(stream.Response.Events) == 0 {
		t.Fatal("the exchange is not a stream that was seen to its end")
	}
	call.Seq, call.Started = 9, stream.Started.Add(end-1)
	begun := false
	for s := range capture.Interleave(capture.Each(stream, call)) {
		begun = begun || s.Seq == 9
		if _, ok := s.What.(capture.ResponseEvent); ok && !begun {
			t.Fatal("an event without a time comes before what began before the end of its stream")
		}
	}
}

func TestInterleaveEndsWithTheError(t *testing.T) {
	broken := errors.New("broken")
	x := capturetest.Exchanges()[0]
	steps := 0
	var last error
	for _, err := range capture.Interleave(func(yield func(*capture.Exchange, error) bool) {
		_ = yield(x, nil) && yield(nil, broken)
	}) {
		steps++
		last = err
	}
	if want := len(capture.Steps(x)) + 1; steps != want || !errors.Is(last, broken) {
		t.Errorf("%d steps, the last with %v; want %d and the source's error", steps, last, want)
	}
}

// It holds what overlaps and nothing more: no exchange is read before the steps of those that ended before it are out.
func TestInterleaveHoldsWhatOverlaps(t *testing.T) {
	read := uint64(0)
	for s, err := range capture.Interleave(func(yield func(*capture.Exchange, error) bool) {
		for {
			x := capturetest.Exchanges()[0]
			read++
			x.Seq = read
			x.Started = x.Started.Add(time.Duration(read) * time.Second)
			if !yield(x, nil) {
				return
			}
		}
	}) {
		must.Do(t, err)
		if read > s.Seq+1 {
			t.Fatalf("%d exchanges were read at a step of exchange %d", read, s.Seq)
		}
		if s.Seq == 1000 {
			break
		}
	}
}

// TestStepsAssemble makes exchanges at random, and again of their steps.
func TestStepsAssemble(t *testing.T) {
	for seed := range uint64(3000) {
		x := randomExchange(rand.New(rand.NewPCG(seed, 0)))
		var again *capture.Exchange
		last := time.Duration(0)
		for _, s := range capture.Steps(x) {
			if s.Offset != capture.NotKnown {
				if s.Offset < last {
					t.Errorf("seed %d: offset %v after %v", seed, s.Offset, last)
				}
				last = s.Offset
			}
			again = capture.Assemble(again, s.Clone())
		}
		if diff := capturetest.Compare(x, again); diff != "" {
			t.Fatalf("seed %d: got +, want -:\n%s", seed, diff)
		}
	}
}

// randomExchange returns an exchange whose times are as a recorder would see them, some of them unknown.
func randomExchange(r *rand.Rand) *capture.Exchange {
	one := func(n int) bool { return r.IntN(n) == 0 }
	now := time.Duration(0)
	later := func() time.Duration {
		now += time.Duration(r.IntN(3))
		if one(5) {
			return capture.NotKnown
		}
		return now
	}
	x := &capture.Exchange{Seq: 1, Conn: r.Uint64N(3), Stream: r.Uint32N(3), Ended: capture.NotKnown, State: capture.State(r.IntN(3))}
	x.Request.Head = []byte("GET / HTTP/1.1\r\n\r\n")
	x.Request.Body = randomBody(r, later)
	if x.Request.Body.Complete && one(3) {
		x.Request.Trailer = []byte("A: b\r\n")
	}
	for i := range r.IntN(3) {
		x.Notes = append(x.Notes, fmt.Sprint("note ", i))
		x.Rewrites = append(x.Rewrites, capture.Rewrite{Place: fmt.Sprint("place ", i)})
	}
	if !one(4) {
		x.Response = randomResponse(r, later)
	}
	x.Lost = r.Int64N(2)
	switch x.State {
	case capture.StateClosed:
		x.Ended = later()
		if one(3) {
			x.Fault = &capture.TransportFault{Kind: "reset", Side: "agent"}
		}
	case capture.StateOpen, capture.StateInterrupted:
	}
	return x
}

func randomResponse(r *rand.Rand, later func() time.Duration) *capture.Response {
	a := &capture.Response{At: later(), Head: []byte("HTTP/1.1 200 OK\r\n\r\n")}
	for range r.IntN(2) {
		a.Informational = append(a.Informational, []byte("HTTP/1.1 100 Continue\r\n\r\n"))
	}
	if a.Stream = r.IntN(2) == 0; !a.Stream {
		a.Body = randomBody(r, later)
		return a
	}
	a.Body = capture.Body{Size: capture.NotKnown, At: capture.NotKnown}
	for k := range r.IntN(4) {
		e := capture.Event{K: k + 1, At: later(), Raw: []byte("data: 1\n\n"), Dropped: r.Int64N(2)}
		a.Events = append(a.Events, e)
		a.Body.Dropped += e.Dropped
		a.Body.At = e.At
	}
	if r.IntN(2) == 0 {
		a.Body.Complete, a.Body.Size, a.Body.At = true, r.Int64N(3)-1, later()
	}
	return a
}

func randomBody(r *rand.Rand, later func() time.Duration) capture.Body {
	b := capture.Body{Size: capture.NotKnown, At: capture.NotKnown}
	if r.IntN(3) > 0 {
		b.Data, b.Dropped, b.Decoded, b.At = make([]byte, r.IntN(3)), r.Int64N(2), r.IntN(2) == 0, later()
	}
	if r.IntN(3) > 0 {
		b.Complete, b.At = true, later()
		if b.Size = r.Int64N(4) - 1; b.Size == 0 {
			b.Data = []byte{}
		}
	}
	return b
}
