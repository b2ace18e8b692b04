package snapshot_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Of a reading that grows the counts are never behind its rows, and the result is not for long, also if nothing comes any
// more.
func TestCountsGrowWithRows(t *testing.T) {
	warm := &capture.MemoryShelf{} // what packs and unpacks is shared by all tests, and so none of the bubble's
	must.Do(t, snapshot.NewWriter(nil, warm.Put).Finish(&judgment.Result{}, nil))
	if r, err := snapshot.Open(t.Context(), warm, nil); err != nil {
		t.Fatal(err)
	} else if _, err := r.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		shelf := &capture.MemoryShelf{}
		w := snapshot.NewWriter(nil, shelf.Put)
		e := engine.New(nil, w.Options()...)
		w.Flush()
		r := must.Get(snapshot.Open(t.Context(), shelf, nil))(t)
		counts := func() (head, result int) {
			must.Get(r.Refresh(t.Context()))(t)
			whole := must.Get(r.Result(t.Context()))(t)
			return r.Head().Counts.Exchanges, whole.Counts.Exchanges
		}
		for seq := uint64(1); seq <= 2; seq++ {
			e.Step(capture.Step{Seq: seq, Arrival: 2*seq - 1, What: capture.Opened{Head: []byte("GET / HTTP/1.1\r\n\r\n")}})
			e.Step(capture.Step{Seq: seq, Arrival: 2 * seq, What: capture.Closed{}})
			w.Flush()
		}
		if head, result := counts(); head != 2 || result != 1 {
			t.Errorf("%d exchanges in the head, %d in the result; want 2 and, as it was written just before, 1", head, result)
		}
		pause, due := w.Due()
		if !due || pause <= 0 {
			t.Fatalf("what is to be written: %v, in %v", due, pause)
		}
		time.Sleep(pause) // of the bubble
		w.Flush()
		if head, result := counts(); head != 2 || result != 2 {
			t.Errorf("%d exchanges in the head, %d in the result", head, result)
		}
		if _, due := w.Due(); due {
			t.Error("there is more to write")
		}
		version := r.Head().Version
		w.Flush()
		if counts(); r.Head().Version != version {
			t.Error("what is known was written again")
		}
		must.Do(t, w.Finish(&judgment.Result{}, nil))
		if _, err := r.Refresh(t.Context()); err != nil || r.Head().Counts != nil {
			t.Errorf("the head of a reading that is whole has counts: %v", err)
		}
	})
}

// A shelf that grows between two pages: what was read of it is as it was before, what comes then as it is now.
type betweenPages struct {
	*capture.MemoryShelf
	grow func()
}

func (s *betweenPages) KeptRange(ctx context.Context, from, to []byte) iter.Seq2[capture.Entry, error] {
	return func(yield func(capture.Entry, error) bool) {
		for e, err := range s.MemoryShelf.KeptRange(ctx, from, to) {
			if from[0] == 'f' && s.grow != nil {
				s.grow()
				s.grow = nil
			}
			if from = append(e.Key, 0); !yield(e, err) {
				return
			}
		}
		for e, err := range s.MemoryShelf.KeptRange(ctx, from, to) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// Findings that are made while others are read are no damage. They come when the reading is read on.
func TestFindingsAreMadeWhileTheyAreRead(t *testing.T) {
	shelf := &betweenPages{MemoryShelf: &capture.MemoryShelf{}}
	w := snapshot.NewWriter(rules.All, shelf.Put)
	find := func(n int) {
		for range n {
			w.Found(analysis.Finding{Rule: rules.All[0], Place: analysis.Place{Exchange: 1}})
		}
		w.Flush()
	}
	find(100)
	r := must.Get(snapshot.Open(t.Context(), shelf, rules.All))(t)
	shelf.grow = func() { find(100) } // into the next chunk
	next := uint64(0)
	for range 2 {
		for f, err := range r.Findings(t.Context(), next) {
			must.Do(t, err)
			if f.Number != next {
				t.Fatalf("finding %d comes after %d", f.Number, next)
			}
			next = f.Number + 1
		}
		must.Get(r.Refresh(t.Context()))(t)
	}
	expect.Equal(t, "findings that were read", 200, next)
}

// A finding in an open exchange comes with the row of its exchange, and not before Refresh.
func TestFindingsHaveRows(t *testing.T) {
	shelf := &capture.MemoryShelf{}
	w := snapshot.NewWriter(rules.All, shelf.Put)
	e := engine.New(rules.All, w.Options()...)
	w.Flush()
	r := must.Get(snapshot.Open(t.Context(), shelf, rules.All))(t)
	must.Get(r.Row(t.Context(), 1))(t)
	found := func() (n int) {
		for f, err := range r.Findings(t.Context(), 0) {
			must.Do(t, err)
			if row := must.Get(r.Row(t.Context(), f.Place.Exchange))(t); row == nil || row.Seq != 1 {
				t.Errorf("the row is %+v", row)
			}
			n++
		}
		return n
	}
	e.Step(capture.Step{Seq: 1, Arrival: 1, What: capture.Opened{Head: []byte("GET / HTTP/1.1\r\n\r\n")}})
	w.Found(analysis.Finding{Rule: rules.All[0], Place: analysis.Place{Exchange: 1}})
	w.Flush()
	expect.Equal(t, "findings before the refresh", 0, found())
	must.Get(r.Refresh(t.Context()))(t)
	expect.Equal(t, "findings after it", 1, found())
}
