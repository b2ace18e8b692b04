package capturetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/capture"
)

// deadline bounds each wait of the suite. It is never reached where all is well.
const deadline = time.Minute

// TestSource tests a Source over finished captures. Open has to return one that holds these exchanges; it is called
// several times, and with none at all.
func TestSource(t *testing.T, open func(t *testing.T, xs []*capture.Exchange) capture.Source) {
	opened := func(t *testing.T) ([]*capture.Exchange, capture.Source) {
		xs := Exchanges()
		return xs, closing(t, open(t, Exchanges()))
	}
	t.Run("exchanges", func(t *testing.T) { xs, s := opened(t); checkExchanges(t, s, xs) })
	t.Run("steps", func(t *testing.T) { xs, s := opened(t); checkSteps(t, s, xs) })
	t.Run("one", func(t *testing.T) { xs, s := opened(t); checkExchange(t, s, xs) })
	t.Run("steps of one", func(t *testing.T) { xs, s := opened(t); checkStepsOf(t, s, xs) })
	t.Run("ends", func(t *testing.T) { xs, s := opened(t); checkEnds(t, s, xs) })
	t.Run("info", func(t *testing.T) { xs, s := opened(t); checkInfo(t, s, xs) })
	t.Run("end", func(t *testing.T) { _, s := opened(t); checkEnd(t, s) })
	t.Run("partial", func(t *testing.T) { _, s := opened(t); checkPartial(t, s) })
	t.Run("canceled", func(t *testing.T) { _, s := opened(t); checkCanceled(t, s) })
	t.Run("owned", func(t *testing.T) { xs, s := opened(t); checkOwned(t, s, xs) })
	t.Run("concurrent", func(t *testing.T) { xs, s := opened(t); checkConcurrent(t, s, xs) })
	t.Run("empty", func(t *testing.T) { checkExchanges(t, closing(t, open(t, nil)), nil) })
	t.Run("gaps", func(t *testing.T) {
		xs := slices.DeleteFunc(Exchanges(), func(x *capture.Exchange) bool { return x.Seq%3 == 0 })
		checkExchanges(t, closing(t, open(t, slices.Clone(xs))), xs)
	})
}

func closing(t *testing.T, s capture.Source) capture.Source {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func checkExchanges(t *testing.T, s capture.Source, want []*capture.Exchange) {
	t.Helper()
	i := 0
	for x, err := range s.Exchanges(t.Context(), 0) {
		if err != nil {
			t.Fatalf("after %d exchanges: %v", i, err)
		}
		if i == len(want) {
			t.Fatalf("exchange %d is one too many", x.Seq)
		}
		if diff := Compare(want[i], x); diff != "" {
			t.Errorf("exchange %d: got +, want -:\n%s", x.Seq, diff)
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d exchanges, want %d", i, len(want))
	}
}

// checkSteps reads a capture by steps: in order, numbered from 1, and saying the same as the exchanges.
func checkSteps(t *testing.T, s capture.Source, want []*capture.Exchange) {
	xs := map[uint64]*capture.Exchange{}
	var arrival uint64
	var now time.Time
	for step, err := range s.Steps(t.Context(), 0) {
		if err != nil {
			t.Fatalf("after %d steps: %v", arrival, err)
		}
		if arrival++; step.Arrival != arrival {
			t.Fatalf("step %d has arrival number %d", arrival, step.Arrival)
		}
		xs[step.Seq] = capture.Assemble(xs[step.Seq], step)
		if step.Offset == capture.NotKnown {
			continue
		}
		at := xs[step.Seq].Started.Add(step.Offset)
		if at.Before(now) {
			t.Errorf("step %d lies %v before the one before it", arrival, now.Sub(at))
		}
		now = at
	}
	for _, x := range want {
		if diff := Compare(x, xs[x.Seq]); diff != "" {
			t.Errorf("exchange %d, assembled: got +, want -:\n%s", x.Seq, diff)
		}
	}
	if len(xs) != len(want) {
		t.Errorf("the steps are of %d exchanges, want %d", len(xs), len(want))
	}
}

func checkExchange(t *testing.T, s capture.Source, want []*capture.Exchange) {
	for _, x := range want {
		got, err := s.Exchange(t.Context(), x.Seq)
		if err != nil {
			t.Fatal(err)
		}
		if diff := Compare(x, got); diff != "" {
			t.Errorf("exchange %d: got +, want -:\n%s", x.Seq, diff)
		}
	}
	for _, seq := range []uint64{0, uint64(len(want)) + 1} {
		if _, err := s.Exchange(t.Context(), seq); !errors.Is(err, capture.ErrNotFound) {
			t.Errorf("exchange %d: %v, want an error that wraps ErrNotFound", seq, err)
		}
	}
}

func checkInfo(t *testing.T, s capture.Source, want []*capture.Exchange) {
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.Live || info.Exchanges != uint64(len(want)) {
		t.Errorf("live %v with %d exchanges, want an end and %d", info.Live, info.Exchanges, len(want))
	}
	var last uint64
	for step, err := range s.Steps(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		last = step.Arrival
	}
	if info.Arrivals != last {
		t.Errorf("%d arrivals, and the last has number %d", info.Arrivals, last)
	}
}

func checkEnd(t *testing.T, s capture.Source) {
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	if err := s.Wait(ctx, 1); err != nil {
		t.Errorf("wait for the first: %v", err)
	}
	info, err := s.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(ctx, info.Arrivals+1); !errors.Is(err, capture.ErrEnded) {
		t.Errorf("wait for one more than there are: %v, want ErrEnded", err)
	}
	for step, err := range s.Steps(ctx, info.Arrivals+1) {
		t.Errorf("step %+v, error %v after the last", step, err)
	}
}

// checkPartial reads from the middle, and stops there.
func checkPartial(t *testing.T, s capture.Source) {
	for x, err := range s.Exchanges(t.Context(), 3) {
		if err != nil || x.Seq != 3 {
			t.Errorf("exchange %v, error %v; want exchange 3", x, err)
		}
		break
	}
	var want, got capture.Step
	for step, err := range s.Steps(t.Context(), 1) {
		if want = step; err != nil || step.Arrival == 7 {
			break
		}
	}
	for step, err := range s.Steps(t.Context(), 7) {
		if got = step; err != nil {
			t.Error(err)
		}
		break
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("step 7 by itself: got +, want -:\n%s", diff)
	}
}

func checkCanceled(t *testing.T, s capture.Source) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.Exchanges(ctx, 1) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("exchanges: %v, want the context's error", err)
		}
		break
	}
	for _, err := range s.Steps(ctx, 1) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("steps: %v, want the context's error", err)
		}
		break
	}
}

// checkOwned spoils what it was given, and reads again.
func checkOwned(t *testing.T, s capture.Source, want []*capture.Exchange) {
	for step, err := range s.Steps(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		spoil(step)
	}
	for x, err := range s.Exchanges(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		clear(x.Request.Head)
		clear(x.Request.Body.Data)
		clear(x.Notes)
		clear(x.Rewrites)
		if x.Response != nil {
			clear(x.Response.Body.Data)
			clear(x.Response.Events)
		}
	}
	checkExchanges(t, s, want)
}

func spoil(step capture.Step) {
	switch what := step.What.(type) {
	case capture.Opened:
		clear(what.Head)
	case capture.RequestBody:
		clear(what.Data)
	case capture.ResponseHead:
		clear(what.Head)
	case capture.ResponseBody:
		clear(what.Data)
	case capture.ResponseEvent:
		clear(what.Event.Raw)
	case capture.Fact:
		clear(what.Rewrites)
	}
}

func checkConcurrent(t *testing.T, s capture.Source, want []*capture.Exchange) {
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() { checkSteps(t, s, want) })
		readers.Go(func() { checkExchange(t, s, want) })
	}
	readers.Wait()
}
