package capturetest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/capture"
)

// A Recording is a capture that is being written and read at once.
type Recording struct {
	Sink   capture.Sink
	Source capture.Source // yields what the Sink received, at once or soon after; may continue after the Sink was closed
}

// TestSink tests a Sink through the Source that reads it. Begin has to begin an empty capture; it is called several
// times.
func TestSink(t *testing.T, begin func(t *testing.T) Recording) {
	t.Run("steps", func(t *testing.T) { checkFollow(t, begin(t)) })
	t.Run("pieces", func(t *testing.T) { checkPieces(t, begin(t)) })
	t.Run("growing", func(t *testing.T) { checkGrowing(t, begin(t)) })
	t.Run("waiting", func(t *testing.T) { checkWaiting(t, begin(t)) })
	t.Run("lost", func(t *testing.T) { checkLost(t, begin(t)) })
	t.Run("empty", func(t *testing.T) {
		r := begin(t)
		r.end(t)
		checkExchanges(t, r.Source, nil)
	})
}

// interleaved returns the steps of the suite's exchanges, without arrival numbers: those are for the Sink to give.
func interleaved(t *testing.T) []capture.Step {
	t.Helper()
	var steps []capture.Step
	for step, err := range capture.Interleave(capture.Each(Exchanges()...)) {
		if err != nil {
			t.Fatal(err)
		}
		step.Arrival = 0
		steps = append(steps, step)
	}
	return steps
}

func (r Recording) append(t *testing.T, steps ...capture.Step) {
	t.Helper()
	if err := r.Sink.Append(steps...); err != nil {
		t.Fatal(err)
	}
}

func (r Recording) end(t *testing.T) {
	t.Helper()
	if err := r.Sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// follow reads a capture from its first step until the recording has ended.
func follow(ctx context.Context, s capture.Source) ([]capture.Step, error) {
	var steps []capture.Step
	next := uint64(1)
	for {
		if err := s.Wait(ctx, next); errors.Is(err, capture.ErrEnded) {
			return steps, nil
		} else if err != nil {
			return steps, err
		}
		for step, err := range s.Steps(ctx, next) {
			if err != nil {
				return steps, err
			}
			steps = append(steps, step)
			next = step.Arrival + 1
		}
	}
}

// checkFollow has two readers follow while the capture is written, in groups of several sizes. Both see all of it.
func checkFollow(t *testing.T, r Recording) {
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	type seen struct {
		steps []capture.Step
		err   error
	}
	readers := make(chan seen)
	for range 2 {
		go func() {
			steps, err := follow(ctx, r.Source)
			readers <- seen{steps, err}
		}()
	}
	want := interleaved(t)
	given := interleaved(t)
	for size := 0; len(given) > 0; size = (size + 1) % 5 {
		n := min(size, len(given))
		r.append(t, given[:n]...)
		given = given[n:]
	}
	r.end(t)
	for i := range want {
		want[i].Arrival = uint64(i) + 1
	}
	for range 2 {
		got := <-readers
		if got.err != nil {
			t.Error(got.err)
		}
		if diff := cmp.Diff(want, got.steps); diff != "" {
			t.Errorf("followed: got +, want -:\n%s", diff)
		}
	}
	checkExchanges(t, r.Source, Exchanges())
	checkExchange(t, r.Source, Exchanges())
}

// checkPieces writes bodies in pieces and mixes exchanges as a wire does.
func checkPieces(t *testing.T, r Recording) {
	want := Exchanges()[:1]
	var first []capture.Step
	for _, step := range capture.Steps(Exchanges()[0]) {
		switch what := step.What.(type) {
		case capture.RequestBody:
			for _, c := range what.Data {
				piece := step
				piece.What = capture.RequestBody{Data: []byte{c}}
				first = append(first, piece)
			}
		default:
			first = append(first, step)
		}
	}
	second := capture.Steps(Exchanges()[1])
	want = append(want, Exchanges()[1])
	for len(first) > 0 || len(second) > 0 {
		if len(first) > 0 {
			r.append(t, first[0])
			first = first[1:]
		}
		if len(second) > 0 {
			r.append(t, second[0])
			second = second[1:]
		}
	}
	r.end(t)
	checkExchanges(t, r.Source, want)
}

// checkGrowing reads an exchange after each of its steps: it has come as far as its steps have.
func checkGrowing(t *testing.T, r Recording) {
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	var want *capture.Exchange
	for i, step := range capture.Steps(Exchanges()[1]) {
		step.Seq = 1
		want = capture.Assemble(want, step.Clone())
		r.append(t, step)
		if err := r.Source.Wait(ctx, uint64(i)+1); err != nil {
			t.Fatal(err)
		}
		got, err := r.Source.Exchange(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := Compare(want, got); diff != "" {
			t.Fatalf("after %d steps: got +, want -:\n%s", i+1, diff)
		}
	}
	info, err := r.Source.Info(ctx)
	if err != nil || !info.Live {
		t.Errorf("live %v, error %v while it is recorded", info.Live, err)
	}
	r.end(t)
}

// checkWaiting waits for what does not come before the context ends, and for what comes only as the end.
func checkWaiting(t *testing.T, r Recording) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Source.Wait(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), deadline)
	defer cancel()
	waited := make(chan error)
	go func() { waited <- r.Source.Wait(ctx, 1) }()
	r.end(t)
	if err := <-waited; !errors.Is(err, capture.ErrEnded) {
		t.Errorf("%v, want ErrEnded", err)
	}
}

func checkLost(t *testing.T, r Recording) {
	opened := capture.Steps(Exchanges()[0])[0]
	r.append(
		t, opened,
		capture.Step{
			Offset: capture.NotKnown,
			What:   capture.Lost{Exchanges: 2, Bytes: 30, Reason: "the recorder was behind"},
		},
		capture.Step{Seq: 1, Offset: 0, What: capture.Closed{Dropped: 12}},
	)
	r.end(t)
	info, err := r.Source.Info(t.Context())
	if err != nil || info.LostExchanges != 2 || info.LostBytes != 42 {
		t.Errorf("lost %d exchanges and %d bytes, error %v; want 2 and 42", info.LostExchanges, info.LostBytes, err)
	}
	x, err := r.Source.Exchange(t.Context(), 1)
	if err != nil || x.Lost != 12 {
		t.Errorf("the exchange is %+v, error %v; want 12 bytes lost", x, err)
	}
}
