package bolt

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
)

// awaitPacked returns when n runs of steps are packed and wait for the commit under way, which must not end before.
func awaitPacked(t *testing.T, h *handover, n int) {
	t.Helper()
	for {
		select {
		case <-h.wake:
		case <-patient(t).Done():
			t.Fatalf("%d runs of steps were not packed while one was stored", n)
		}
		h.mu.Lock()
		ready := len(h.ready)
		h.mu.Unlock()
		if ready >= n {
			notify(h.wake)
			return
		}
	}
}

// TestPackedAhead fails a commit while what comes after it is packed already. That gets the numbers that it would have
// had anyway, and is without what is known of exchanges that the capture has not.
func TestPackedAhead(t *testing.T) {
	t.Parallel()
	under, gate := make(chan struct{}), make(chan error)
	var gated atomic.Bool
	s := mustOpen(t, newPath(t), Options{Flush: time.Millisecond, Fault: func() error {
		if !gated.Swap(false) {
			return nil
		}
		under <- struct{}{}
		return <-gate
	}})
	mustAppend(t, s, exchangeSteps(1, 1000)...)
	s.Flush()
	gated.Store(true)
	mustAppend(t, s, exchangeSteps(2, 1000)...)
	<-under
	three, note := exchangeSteps(3, 1000), capture.Step{Seq: 2, What: capture.Fact{Note: "it was slow"}}
	mustAppend(t, s, slices.Concat(three[:3], []capture.Step{note}, three[3:])...)
	awaitPacked(t, s.writer.ready, 1)
	mustAppend(t, s, note)
	awaitPacked(t, s.writer.ready, 2)
	mustAppend(t, s, exchangeSteps(4, 1000)...)
	awaitPacked(t, s.writer.ready, 3)
	gate <- errors.New("input/output error")
	s.Flush()
	if err := s.Close(); err == nil {
		t.Error("the loss was not reported")
	}
	want := slices.Concat(exchangeSteps(1, 1000), three, exchangeSteps(4, 1000))
	for i := range want {
		want[i].Keys = nil
	}
	var got []capture.Step
	lost := int64(0)
	for i, step := range collect(t, s, 1) {
		if step.Arrival != uint64(i+1) {
			t.Errorf("step %d has arrival %d", i+1, step.Arrival)
		}
		if what, ok := step.What.(capture.Lost); ok {
			lost += what.Exchanges
			continue
		}
		step.Arrival = 0
		got = append(got, step)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the capture has %+v\nwant %+v", got, want)
	}
	if lost != 1 {
		t.Errorf("%d exchanges are said to be lost, want 1", lost)
	}
}

// wordySteps is exchangeSteps with bodies that can be compressed.
func wordySteps(seq uint64, size int) []capture.Step {
	steps := exchangeSteps(seq, 0)
	text := bytes.Repeat([]byte("one room, two nights "), size/40+1)
	for i := range steps {
		switch what := steps[i].What.(type) {
		case capture.RequestBody:
			what.Data = text
			steps[i].What = what
		case capture.ResponseBody:
			what.Data = text
			steps[i].What = what
		}
	}
	return steps
}

// TestPackedIsWhatItWas packs steps of all sizes and compares them with what their blocks hold, compressed and not, and
// with memory that is used again.
func TestPackedIsWhatItWas(t *testing.T) {
	var steps []capture.Step
	for seq, size := range []int{100, 3000, 40_000, 200_000, 500, 2 * layout.PieceSize, 900_000} {
		steps = append(steps, wordySteps(uint64(seq+1), size)...)
	}
	var short bool
	k := packer{short: func() bool { return short }}
	var p packed
	for range 3 {
		for _, short = range []bool{false, true} {
			p.reset()
			k.pack(&p, steps)
			var got []capture.Step
			for _, b := range p.blocks {
				if plain := b.value[0] == 0; plain != short {
					t.Errorf("a block is plain: %v, want %v", plain, short)
				}
				raw, err := layout.Block{Value: b.value}.Unseal()
				for len(raw) > 0 && err == nil {
					var one []byte
					var step capture.Step
					if one, raw, err = layout.Split(raw); err == nil {
						step, err = layout.DecodeStep(one, true)
					}
					got = append(got, step)
				}
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != b.end {
					t.Errorf("a block ends at %d, want %d", len(got), b.end)
				}
			}
			if err := sameBodies(got, steps); err != nil {
				t.Error(err)
			}
		}
	}
}

// sameBodies compares the kinds of steps, and the bodies in them, of which some came in pieces.
func sameBodies(got, want []capture.Step) error {
	whole := func(steps []capture.Step) (kinds []reflect.Type, bodies []byte) {
		for _, s := range steps {
			kind := reflect.TypeOf(s.What)
			if len(kinds) == 0 || kinds[len(kinds)-1] != kind {
				kinds = append(kinds, kind)
			}
			switch what := s.What.(type) {
			case capture.RequestBody:
				bodies = append(bodies, what.Data...)
			case capture.ResponseBody:
				bodies = append(bodies, what.Data...)
			}
		}
		return kinds, bodies
	}
	gotKinds, gotBodies := whole(got)
	wantKinds, wantBodies := whole(want)
	if !slices.Equal(gotKinds, wantKinds) || !bytes.Equal(gotBodies, wantBodies) {
		return errors.New("the blocks hold something else than what was packed")
	}
	return nil
}

// TestBehind lets the store fall behind: then blocks are stored as they are while nothing else is being stored, and no
// others are.
func TestBehind(t *testing.T) {
	t.Parallel()
	const budget = 2 << 20
	for _, tt := range []struct {
		exchanges uint64
		plain     bool
	}{{8, false}, {24, true}} {
		s := mustOpen(t, newPath(t), Options{Budget: budget, Flush: time.Hour})
		var want []capture.Step
		for seq := range tt.exchanges {
			want = append(want, wordySteps(seq+1, 40_000)...)
		}
		mustAppend(t, s, want...)
		s.Flush()
		plain := false
		err := s.local.last().View(func(tx *bbolt.Tx) error {
			return tx.Bucket(layout.BucketBlocks).ForEach(func(_, value []byte) error {
				plain = plain || len(value) > layout.BlockTarget/2 && value[0] == 0
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if plain != tt.plain {
			t.Errorf("%d exchanges: some were stored as they are: %v, want %v", tt.exchanges, plain, tt.plain)
		}
		mustClose(t, s)
		if err := sameBodies(collect(t, s, 1), want); err != nil {
			t.Error(err)
		}
	}
}

// Steps are divided into commits so that none but the last has less than it should, and that one no less either.
func TestPortion(t *testing.T) {
	body := func(n int) capture.Step { return capture.Step{What: capture.RequestBody{Data: make([]byte, n)}} }
	small, half, large := body(0), body(commitBytes/2), body(4*commitBytes)
	for _, tt := range []struct {
		steps []capture.Step
		want  []int
	}{
		{nil, nil},
		{[]capture.Step{small, small}, []int{2}},
		{[]capture.Step{large, small}, []int{2}},
		{[]capture.Step{small, large}, []int{2}},
		{[]capture.Step{large, large, small}, []int{1, 2}},
		{[]capture.Step{half, half, half, half, half}, []int{2, 3}},
	} {
		left := 0
		for i := range tt.steps {
			left += weight(&tt.steps[i])
		}
		var got []int
		for rest := tt.steps; len(rest) > 0; {
			n, bytes := portion(rest, left)
			rest, left = rest[n:], left-bytes
			got = append(got, n)
		}
		if !slices.Equal(got, tt.want) || left != 0 {
			t.Errorf("%d steps: got %v and %d bytes left, want %v", len(tt.steps), got, left, tt.want)
		}
	}
}
