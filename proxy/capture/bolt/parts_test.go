package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/check"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// lists returns how many young lists of parts a capture's segments have.
func lists(t *testing.T, path string) (n int) {
	t.Helper()
	for _, p := range must.Get(segments.Paths(path))(t) {
		db := must.Get(segments.OpenReadOnly(p))(t)
		must.Do(t, db.View(func(tx *bbolt.Tx) error {
			return tx.Bucket(layout.BucketParts).ForEach(func(k, _ []byte) error {
				if layout.IsPartList(k) {
					n++
				}
				return nil
			})
		}))
		must.Do(t, db.Close())
	}
	return n
}

// eventsOf returns how many events each exchange has that is read by itself.
func eventsOf(t *testing.T, r *Reader) map[uint64]int {
	t.Helper()
	counts := make(map[uint64]int)
	for x, err := range r.Exchanges(patient(t), 1) {
		must.Do(t, err)
		for i, e := range x.Response.Events {
			if e.K != i+1 {
				t.Fatalf("event %d of exchange %d is %d", i+1, x.Seq, e.K)
			}
		}
		counts[x.Seq] = len(x.Response.Events)
	}
	return counts
}

// Many streams continue over many commits. All steps of each are found, however many of their parts are in lists: while
// it is recorded, in what a killed recorder leaves, after another recorder has continued, and in all segments at the
// end.
func TestPartsInLists(t *testing.T) {
	const streams, commits = 20, 200
	for _, size := range []int64{0, 64 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			path := newPath(t)
			s := mustOpen(t, path, Options{Flush: time.Hour, SegmentSize: size})
			want := make(map[uint64]int)
			for n := range uint64(streams) {
				steps := exchangeSteps(n+1, 10)[:4]
				steps[3].What = capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\n\r\n"), Stream: true}
				mustAppend(t, s, steps...)
			}
			var left string
			for k := range commits {
				for n := range uint64(streams) {
					if k%int(n+1) == 0 { // some rarely
						want[n+1]++
						mustAppend(t, s, event(n+1, want[n+1]))
					}
				}
				s.Flush()
				if k == commits/2 && size == 0 {
					left = writeFile(t, newPath(t), readFile(t, path))
				}
			}
			expect.Same(t, "while it is recorded", want, eventsOf(t, mustRead(t, path)))
			mustClose(t, s)
			expect.Same(t, "at the end", want, eventsOf(t, mustRead(t, path)))
			expect.Equal(t, "lists at the end", 0, lists(t, path))
			must.Do(t, Check(t.Context(), path))
			if left == "" {
				return
			}
			if n := lists(t, left); n == 0 || n > 64 {
				t.Errorf("a killed recorder left %d lists", n)
			}
			must.Do(t, Check(t.Context(), left))
			then := eventsOf(t, mustRead(t, left))
			s = mustOpen(t, left, Options{})
			mustAppend(t, s, exchangeSteps(streams+1, 10)...)
			mustClose(t, s)
			after := eventsOf(t, mustRead(t, left))
			for n, events := range then {
				if n > 1 && events >= want[n] || events == 0 || after[n] != events {
					t.Errorf("exchange %d had %d of %d events, and %d after more was recorded", n, events, want[n], after[n])
				}
			}
			must.Do(t, Check(t.Context(), left))
			expect.Equal(t, "lists after more was recorded", 0, lists(t, left))
		})
	}
}

// A list of parts that was changed is noticed when the capture is opened.
func TestDamagedListOfParts(t *testing.T) {
	for name, change := range map[string]func(k, v []byte) (key, value []byte){
		"cut":         func(k, v []byte) ([]byte, []byte) { return k, v[:len(v)-1] },
		"shorter":     func(k, v []byte) ([]byte, []byte) { return k, v[:len(v)-16] },
		"changed":     func(k, v []byte) ([]byte, []byte) { v[7]++; return k, v },
		"another key": func(k, v []byte) ([]byte, []byte) { k[8] |= 0x20; return k, v },
	} {
		path := newPath(t)
		s := mustOpen(t, path, Options{Flush: time.Hour})
		for n := range uint64(3) {
			mustAppend(t, s, exchangeSteps(n+1, 10)[:4]...)
		}
		for k := range 3 {
			s.Flush()
			for n := range uint64(3) {
				mustAppend(t, s, event(n+1, k+1))
			}
		}
		s.Flush()
		left := writeFile(t, filepath.Join(t.TempDir(), "c.a2atap"), readFile(t, path))
		mustClose(t, s)
		update(t, left, func(tx *bbolt.Tx) error {
			b := tx.Bucket(layout.BucketParts)
			k, v := b.Cursor().Last()
			key, value := change(bytes.Clone(k), bytes.Clone(v))
			return errors.Join(b.Delete(k), b.Put(key, value))
		})
		expect.ErrorIs(t, name, ErrDamaged, expect.Err(Read(left)))
		expect.ErrorIs(t, name, ErrDamaged, expect.Err(Open(left, Options{})))
	}
}

// largeEvent is one that takes a block of its own.
func largeEvent(seq uint64, k int) capture.Step {
	e := event(seq, k)
	e.What = capture.ResponseEvent{Event: capture.Event{K: k, Raw: bytes.Repeat([]byte("x"), layout.BlockTarget)}}
	return e
}

// listed returns the path of what a killed recorder leaves, with a list of parts of three exchanges in as many blocks.
func listed(t *testing.T) string {
	t.Helper()
	path := newPath(t)
	s := mustOpen(t, path, Options{Flush: time.Hour})
	for n := range uint64(3) {
		mustAppend(t, s, exchangeSteps(n+1, 10)[:4]...)
	}
	s.Flush()
	for n := range uint64(3) {
		mustAppend(t, s, largeEvent(n+1, 1))
	}
	s.Flush()
	left := writeFile(t, filepath.Join(t.TempDir(), "c.a2atap"), readFile(t, path))
	mustClose(t, s)
	return left
}

// A block that is missing, and that only a list names, is no sound capture.
func TestSoundLooksAtLists(t *testing.T) {
	left := listed(t)
	expect.Equal(t, "lists", 1, lists(t, left))
	expect.OK(t, mustRead(t, left).Sound(patient(t), nil))
	update(t, left, func(tx *bbolt.Tx) error {
		k, v := tx.Bucket(layout.BucketParts).Cursor().Last()
		l := layout.PartList(v)
		if !layout.IsPartList(k) || l.Len() < 3 || l.At(0).Block == l.At(1).Block {
			t.Fatalf("the list names %d parts", l.Len())
		}
		return tx.Bucket(layout.BucketBlocks).Delete(layout.Number64(l.At(1).Block))
	})
	expect.ErrorIs(t, "sound", ErrDamaged, mustRead(t, left).Sound(patient(t), nil))
}

// A recorder that comes and goes while it is looked whether a capture is sound may make entries of lists, before those
// that are looked at next. What the lists named is looked for all the same.
func TestSoundWhileListsAreMerged(t *testing.T) {
	left := listed(t)
	update(t, left, func(tx *bbolt.Tx) error {
		b := tx.Bucket(layout.BucketParts)
		_, v := b.Cursor().Last()
		for n := range uint64(60_000) { // which are too many for one look
			if err := b.Put(layout.PartKey(layout.Part{Seq: 1000 + n, Block: 1}), layout.Nothing); err != nil {
				return err
			}
		}
		return tx.Bucket(layout.BucketBlocks).Delete(layout.Number64(layout.PartList(v).At(1).Block))
	})
	data := readFile(t, left)
	for at, calls := 1, 1; at <= calls; at++ { // after each of its looks
		calls = 0
		writeFile(t, left, data)
		err := check.Sound(patient(t), func(look func(segments.Set) error) error {
			s := must.Get(segments.OpenToRead(left))(t)
			must.Get(s.Load())(t)
			err := errors.Join(look(segments.Set{s}), s.DB.Close())
			if calls++; calls == at {
				update(t, left, mergeLists)
			}
			return err
		}, func(uint64, uint64) {})
		expect.ErrorIs(t, fmt.Sprintf("merged after look %d", at), ErrDamaged, err)
	}
}

// mergeLists makes entries of the last list.
func mergeLists(tx *bbolt.Tx) error {
	b := tx.Bucket(layout.BucketParts)
	k, v := b.Cursor().Last()
	for i := range layout.PartList(v).Len() {
		if err := b.Put(layout.PartKey(layout.PartList(v).At(i)), layout.Nothing); err != nil {
			return err
		}
	}
	return b.Delete(k)
}

// Where there is no room for an entry for each part, lists stay: what comes is stored, and a segment that is continued says
// so. Once there is room, lists are merged.
func TestNoRoomToMerge(t *testing.T) {
	full := errors.New("no space left")
	var fails atomic.Int32
	fault := func() error {
		if fails.Add(-1) == 0 {
			return full
		}
		return nil
	}
	t.Run("of a commit", func(t *testing.T) {
		path := newPath(t)
		s := mustOpen(t, path, Options{Flush: time.Hour, Fault: fault, OnError: func(err error) { t.Error(err) }})
		mustAppend(t, s, exchangeSteps(1, 10)[:4]...)
		events := 0
		add := func(n, young int) {
			t.Helper()
			for range n {
				events++
				mustAppend(t, s, event(1, events))
				s.Flush()
			}
			left := writeFile(t, newPath(t), readFile(t, path))
			expect.Equal(t, "lists", young, lists(t, left))
			expect.Same(t, "events", map[uint64]int{1: events}, eventsOf(t, mustRead(t, left)))
		}
		add(65, 64) // the first is in the block of the beginning
		fails.Store(1)
		add(1, 65)
		add(1, 0)
	})
	t.Run("of a segment", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "c.a2atap")
		s := mustOpen(t, path, Options{Flush: time.Hour, SegmentSize: 1, Fault: fault, OnError: func(err error) { t.Error(err) }})
		fails.Store(2) // it is rotated after the first commit
		mustAppend(t, s, exchangeSteps(1, 10)[:4]...)
		mustAppend(t, s, largeEvent(1, 1), largeEvent(1, 2))
		s.Flush()
		mustClose(t, s)
		expect.Same(t, "events", map[uint64]int{1: 2}, eventsOf(t, mustRead(t, path)))
		expect.Equal(t, "lists", 1, lists(t, path))
		must.Do(t, os.Remove(segments.Name(path, 2)))
		expect.ErrorIs(t, "without the second segment", ErrDamaged, expect.Err(Read(path)))
	})
}

// A capture so small that its blocks have no page of their own is rebuilt whole, also where nothing leads to them.
func TestRebuildOfASmallCapture(t *testing.T) {
	for name, damage := range map[string]func(path string){
		"sound": func(string) {},
		"its rows are gone": func(path string) {
			update(t, path, func(tx *bbolt.Tx) error { return tx.Bucket(layout.BucketExchanges).Delete(layout.Number64(1)) })
		},
	} {
		path := filepath.Join(t.TempDir(), "c.a2atap")
		s := mustOpen(t, path, Options{Flush: time.Hour})
		mustAppend(t, s, exchangeSteps(1, 10)...)
		mustClose(t, s)
		s.Reader.Close()
		damage(path)
		r := must.Get(Rebuild(t.Context(), path, newPath(t), func(s capture.Sink) capture.Sink { return s }))(t)
		expect.Equal(t, name, 7, r.Steps)
		expect.Equal(t, name, 0, r.LostSteps)
	}
}
