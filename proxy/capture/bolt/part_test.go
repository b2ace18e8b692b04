package bolt

import (
	"context"
	"sync/atomic"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// fetches counts the blocks that a reader asks for.
type fetches struct {
	remote.Access
	n atomic.Int64
}

func (f *fetches) Fetch(ctx context.Context, firsts []uint64, limit int) ([]layout.Block, error) {
	found, err := f.Access.Fetch(ctx, firsts, limit)
	f.n.Add(int64(len(found)))
	return found, err
}

// stored returns a reader of an exchange with so many events, among others, and what counts its blocks.
func stored(t *testing.T, events int) (*Reader, *fetches) {
	t.Helper()
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(1, 300)...)
	steps := exchangeSteps(2, 300)
	steps[3].What = capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\n\r\n"), Stream: true}
	mustAppend(t, s, steps[:4]...)
	for k := range events {
		mustAppend(t, s, event(2, k+1))
	}
	mustAppend(t, s, steps[5:]...)
	mustAppend(t, s, exchangeSteps(3, 300)...)
	mustClose(t, s)
	r := mustRead(t, path)
	f := &fetches{Access: r.access}
	r.access = f
	return r, f
}

// The ends of a stream cost what they hold, however long it is.
func TestEndsOfALongStream(t *testing.T) {
	const events, n = 100_000, 64
	r, f := stored(t, events)
	var seqs []uint64
	for x, err := range r.Ends(patient(t), 1, n) {
		must.Do(t, err)
		seqs = append(seqs, x.Seq)
		if x.Seq != 2 {
			continue
		}
		got := x.Response.Events
		if len(got) < 2*n || len(got) > events/2 || got[0].K != 1 || got[n-1].K != n || got[len(got)-n].K != events-n+1 ||
			got[len(got)-1].K != events || x.State != capture.StateClosed {
			t.Errorf("%d events come, from %d to %d, %v", len(got), got[0].K, got[len(got)-1].K, x.State)
		}
	}
	if len(seqs) != 3 || f.n.Load() > 12 {
		t.Errorf("exchanges %v took %d blocks", seqs, f.n.Load())
	}
}

// A page in the middle of a stream costs the blocks that hold it.
func TestStepsOfFromTheMiddle(t *testing.T) {
	const events = 100_000
	r, f := stored(t, events)
	k := events / 2
	for s, err := range r.StepsOf(patient(t), 2, uint64(7+4+k)) {
		must.Do(t, err)
		if e := s.What.(capture.ResponseEvent).Event; e.K != k || s.Arrival != uint64(7+4+k) {
			t.Fatalf("event %d comes at %d, want %d", e.K, s.Arrival, k)
		}
		if k++; k == events/2+100 {
			break
		}
	}
	if f.n.Load() > 3 {
		t.Errorf("a hundred events took %d blocks", f.n.Load())
	}
}

// What a killed recorder left open ends as interrupted, also for who reads the rest only; what had ended does not.
func TestStepsOfAfterACrash(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(1, 300)...)
	mustAppend(t, s, exchangeSteps(2, 300)[:3]...)
	mustClose(t, s)
	r := mustRead(t, path)
	r.access = crashed{r.access}
	for seq, want := range map[uint64]bool{1: false, 2: true} {
		for _, from := range []uint64{1, 9, 100} {
			last := capture.Step{}
			for s, err := range r.StepsOf(patient(t), seq, from) {
				must.Do(t, err)
				last = s
			}
			c, closed := last.What.(capture.Closed)
			if got := closed && c.Interrupted && last.Arrival == 0; got != want {
				t.Errorf("exchange %d from %d on ends with %+v", seq, from, last)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range r.StepsOf(ctx, 1, 1) {
		expect.ErrorIs(t, "canceled", context.Canceled, err)
	}
}

// crashed is the access to a capture whose recorder was killed.
type crashed struct{ remote.Access }

func (c crashed) Locate(ctx context.Context, seq uint64, limit int) (segments.Places, error) {
	at, err := c.Access.Locate(ctx, seq, limit)
	at.Crashed = true
	return at, err
}
