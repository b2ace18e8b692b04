package kept_test

import (
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/kept"
	"a2atap/proxy/capture"
)

// Of a reading that grows the counts are never behind its rows, and the result is not for long, also if nothing comes any
// more.
func TestCountsGrowWithRows(t *testing.T) {
	warm := &capture.MemoryShelf{} // what packs and unpacks is shared by all tests, and so none of the bubble's
	if err := kept.NewWriter(nil, warm.Put).Finish(&judgment.Result{}, nil); err != nil {
		t.Fatal(err)
	}
	if r, err := kept.Open(t.Context(), warm, nil); err != nil {
		t.Fatal(err)
	} else if _, err := r.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		shelf := &capture.MemoryShelf{}
		w := kept.NewWriter(nil, shelf.Put)
		e := engine.New(nil, w.Options()...)
		w.Flush()
		r, err := kept.Open(t.Context(), shelf, nil)
		if err != nil {
			t.Fatal(err)
		}
		counts := func() (head, result int) {
			if _, err := r.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			whole, err := r.Result(t.Context())
			if err != nil {
				t.Fatal(err)
			}
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
		if err := w.Finish(&judgment.Result{}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Refresh(t.Context()); err != nil || r.Head().Counts != nil {
			t.Errorf("the head of a reading that is whole has counts: %v", err)
		}
	})
}
