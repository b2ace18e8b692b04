package bolt

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// TestFollowersReadWhatIsStored lets readers in the recorder's process follow it, one from the beginning and others
// that come later or leave in the middle, and compares what they saw with what is in the file.
func TestFollowersReadWhatIsStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	s := must.Get(Open(path, Options{SegmentSize: 300 << 10}))(t)
	var followers sync.WaitGroup
	seen := make([][]capture.Step, 3)
	ready := make(chan struct{}, len(seen))
	for i := range seen {
		followers.Go(func() { seen[i] = followFrom(t, s, i, ready) })
	}
	const exchanges = 400
	for seq := range uint64(exchanges) {
		must.Do(t, s.Append(exchangeSteps(seq+1, 2000)...))
		if seq%25 == 0 {
			s.Flush()
		}
		if seq == 100 {
			for range seen { // they have begun
				<-ready
			}
		}
	}
	must.Do(t, s.Close())
	followers.Wait()
	s.Reader.Close()
	r := must.Get(Read(path))(t)
	defer r.Close()
	var stored []capture.Step
	for step, err := range r.Steps(context.Background(), 1) {
		must.Do(t, err)
		stored = append(stored, step)
	}
	for i := range seen {
		if len(seen[i]) != len(stored) {
			t.Fatalf("follower %d saw %d steps, want %d", i, len(seen[i]), len(stored))
		}
		for k := range stored {
			if !reflect.DeepEqual(stored[k], seen[i][k]) { // cmp.Diff of them all takes half a minute
				t.Fatalf("follower %d: step %d (-stored +seen):\n%s", i, k, cmp.Diff(stored[k], seen[i][k]))
			}
		}
	}
}

// followFrom reads steps until the recording ends. Each follower but the first leaves an iteration now and then, in the
// middle of a block, and continues after the last step that it has.
func followFrom(t *testing.T, s *Store, follower int, ready chan<- struct{}) (seen []capture.Step) {
	for next := uint64(1); ; {
		err := s.Wait(context.Background(), next)
		if errors.Is(err, capture.ErrEnded) {
			return seen
		}
		if err != nil {
			t.Error(err)
			return seen
		}
		if next == 1 {
			ready <- struct{}{}
		}
		for step, err := range s.Steps(context.Background(), next) {
			if err != nil {
				t.Error(err)
				return seen
			}
			seen, next = append(seen, step), step.Arrival+1
			if follower > 0 && len(seen)%(500*follower) == 0 {
				break
			}
		}
	}
}

// TestFollowerInTrouble follows a recording in which commits fail, steps are refused, bodies are cut and facts come of
// exchanges that were lost, and which is closed in the middle. What it gets from memory is what is in the file.
func TestFollowerInTrouble(t *testing.T) {
	t.Parallel()
	var commits, failing atomic.Int64
	s := mustOpen(t, newPath(t), Options{Flush: time.Millisecond, SegmentSize: 1 << 20, Fault: func() error {
		if commits.Add(1)%7 < failing.Load() {
			return errors.New("input/output error")
		}
		return nil
	}})
	var seen []capture.Step
	memory := 0
	ready, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		seen = followFrom(t, s, 1, ready)
	}()
	mustAppend(t, s, exchangeSteps(1, 100)...)
	<-ready
	failing.Store(2)
	for seq := uint64(2); seq < 300; seq++ {
		size := 500
		if seq%50 == 0 {
			size = 5 * layout.PieceSize
		}
		steps := exchangeSteps(seq, size)
		for i := range steps {
			steps[i].Parsed = &capture.Parsed{} // is in memory only
		}
		if seq%60 == 0 {
			steps = slices.Insert(steps, 3, capture.Step{Seq: seq}) // no kind of step
		}
		mustAppend(t, s, steps...)
		if seq%3 == 0 {
			mustAppend(t, s, capture.Step{Seq: seq - 1, What: capture.Fact{Note: "late"}})
			s.Flush()
		}
	}
	failing.Store(0)
	expect.Error(t, "close says nothing of the steps that were lost", s.Close())
	<-ended
	for i := range seen {
		if seen[i].Parsed != nil {
			memory++
		}
		seen[i].Parsed = nil
	}
	stored := collect(t, s, 1)
	lost := 0
	for _, step := range stored {
		if _, ok := step.What.(capture.Lost); ok {
			lost++
		}
	}
	if memory == 0 || lost == 0 {
		t.Errorf("%d steps came from memory and %d say that something was lost, want some of each", memory, lost)
	}
	if !reflect.DeepEqual(stored, seen) {
		t.Errorf("who follows saw %d steps, and others than the %d of the file", len(seen), len(stored))
	}
}

func TestRecentHandsOutEachBlockOnce(t *testing.T) {
	var r recent
	of := func(first uint64, weight int) layout.Block { // four steps
		steps := make([]capture.Step, 4)
		for i := range steps {
			head := make([]byte, weight/4-128)
			steps[i] = capture.Step{Arrival: first + uint64(i), Seq: 1, What: capture.Informational{Head: head}}
		}
		return layout.Block{First: first, Steps: steps}
	}
	r.add([]layout.Block{of(1, 1000), of(5, 1000), of(9, 1000)})
	firsts := func(blocks []layout.Block) (list []uint64) {
		for _, b := range blocks {
			list = append(list, b.First)
		}
		return list
	}
	tests := []struct {
		from  uint64
		limit int
		want  []uint64
	}{
		{0, 9000, nil},
		{6, 1, []uint64{5}},
		{6, 9000, nil}, // handed out
		{2, 9000, nil}, // given up
		{12, 9000, []uint64{9}},
		{12, 9000, nil},
	}
	for _, tt := range tests {
		if got := firsts(r.take(tt.from, tt.limit)); !cmp.Equal(got, tt.want) {
			t.Errorf("take(%d, %d) gave blocks %v, want %v", tt.from, tt.limit, got, tt.want)
		}
	}
	r.reopen() // it is not full
	r.add([]layout.Block{of(13, recentBytes/4)})
	r.reopen()
	for first := range uint64(19) {
		r.add([]layout.Block{of(17+4*first, recentBytes/4)})
	}
	if r.bytes > recentBytes || len(r.blocks) != 4 {
		t.Errorf("%d blocks of %d bytes are kept, want 4 of at most %d", len(r.blocks), r.bytes, recentBytes)
	}
	if beyond, last := r.take(29, 9000), firsts(r.take(28, 9000)); beyond != nil || !cmp.Equal(last, []uint64{25}) {
		t.Errorf("the last step that is kept is in block %v, want 25; %d blocks have the one after it", last, len(beyond))
	}
	r.add([]layout.Block{of(93, 1000)})
	expect.Equal(t, "blocks are kept after some that were not", 0, len(r.blocks))
	r.reopen()
	r.add([]layout.Block{of(97, 1000)})
	expect.Equal(t, "blocks are kept since who follows has caught up", 1, len(r.blocks))
	r.add([]layout.Block{{First: 400}})
	if len(r.blocks) != 0 || r.bytes != 0 {
		t.Errorf("%d blocks are kept across one of which the steps were not kept, want none", len(r.blocks))
	}
}

// TestSlowFollower reads while it is near, falls behind by more than is kept for it, and comes near again. It gets the
// same from memory and from the file: all steps, in order.
func TestSlowFollower(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newPath(t), Options{})
	parsed := &capture.Parsed{} // is in memory only
	seq, size := uint64(0), 4000
	record := func(n int) {
		for range n {
			seq++
			steps := exchangeSteps(seq, size)
			for i := range steps {
				steps[i].Parsed = parsed
			}
			mustAppend(t, s, steps...)
			if seq%50 == 0 {
				s.Flush()
			}
		}
		s.Flush()
	}
	var seen []capture.Step
	memory := 0
	follow := func(most int) (fromMemory, read int) {
		next := uint64(len(seen)) + 1
		must.Do(t, s.Wait(patient(t), next))
		before := memory
		for step, err := range s.Steps(patient(t), next) {
			must.Do(t, err)
			if step.Parsed != nil {
				memory++
			}
			step.Parsed = nil
			seen = append(seen, step)
			if read++; read == most {
				break
			}
		}
		return memory - before, read
	}
	const all = math.MaxInt
	record(1)
	follow(all)
	record(100)
	if got, of := follow(all); of != 700 || got != of {
		t.Errorf("of %d steps that came while it waited %d are from memory, want all of 700", of, got)
	}
	const many = 3 * recentBytes / 4000
	record(many)
	if held := s.local.recent.bytes; held == 0 || held > recentBytes {
		t.Errorf("%d bytes are kept, want some, and at most %d", held, recentBytes)
	}
	far, of := follow(3000)
	record(10) // while it is far behind
	got, rest := follow(all)
	if far, of = far+got, of+rest; of != 7*(many+10) || far == 0 || far > of/2 {
		t.Errorf("of %d steps that came while it was far behind %d are from memory, want some of %d", of, far, 7*(many+10))
	}
	record(100)
	if got, of := follow(all); of != 700 || got != of {
		t.Errorf("of %d steps that came after it had caught up %d are from memory, want all of 700", of, got)
	}
	mustClose(t, s)
	if stored := collect(t, s, 1); !reflect.DeepEqual(stored, seen) { // cmp.Diff of them all takes half a minute
		t.Errorf("who follows saw %d steps, and others than the %d of the file", len(seen), len(stored))
	}
}

// TestCommitted says how far a follower can have come, and what is still to be stored.
func TestCommitted(t *testing.T) {
	path := closedCapture(t, Options{}, 2)
	s := mustOpen(t, path, Options{Flush: time.Hour})
	if got := s.Committed(); got != s.Position() {
		t.Errorf("%+v is committed at the beginning, want %+v", got, s.Position())
	}
	steps := exchangeSteps(3, 5000)
	mustAppend(t, s, steps...)
	if got := s.Waiting(); got < 5000 {
		t.Errorf("%d bytes wait, want 5000 and more", got)
	}
	expect.Equal(t, "is committed before it is stored", s.Position(), s.Committed())
	s.Flush()
	if got := s.Committed(); got.Seq != 3 || got.Arrival != s.Position().Arrival+uint64(len(steps)) ||
		s.Waiting() != 0 {
		t.Errorf("%+v is committed, and %d bytes wait", got, s.Waiting())
	}
}
