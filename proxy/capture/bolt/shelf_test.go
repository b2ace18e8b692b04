package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/check"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// keptOf returns all that a shelf has, and compares it with what it has of each key and of parts of the range.
func keptOf(t *testing.T, s capture.Shelf) map[string]string {
	t.Helper()
	all := make(map[string]string)
	var keys [][]byte
	for e, err := range s.KeptRange(patient(t), nil, nil) {
		must.Do(t, err)
		if len(keys) > 0 && bytes.Compare(keys[len(keys)-1], e.Key) >= 0 {
			t.Fatalf("%x comes after %x", e.Key, keys[len(keys)-1])
		}
		keys = append(keys, e.Key)
		all[string(e.Key)] = string(e.Value)
	}
	asked := append(slices.Clone(keys), []byte("absent"), nil, bytes.Repeat([]byte("x"), 200))
	values, err := s.Kept(patient(t), asked...)
	if err != nil || len(values) != len(asked) {
		t.Fatalf("%d values of %d keys, error %v", len(values), len(asked), err)
	}
	for i, key := range asked {
		want, there := all[string(key)]
		if string(values[i]) != want || (values[i] != nil) != there {
			t.Errorf("%x: %d bytes (there: %v), want %d (%v)", key, len(values[i]), values[i] != nil, len(want), there)
		}
	}
	if n := len(keys); n > 2 {
		var part [][]byte
		for e, err := range s.KeptRange(patient(t), keys[1], keys[n-1]) {
			must.Do(t, err)
			part = append(part, e.Key)
		}
		expect.Same(t, "", keys[1:n-1], part)
	}
	return all
}

func mustKeep(t *testing.T, s *Store, entries ...capture.Entry) {
	t.Helper()
	must.Do(t, s.Keep(entries...))
}

func sameKept(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	if maps.Equal(want, got) {
		return
	}
	for k, v := range want {
		if g, ok := got[k]; g != v {
			t.Errorf("%s: %x has %d bytes (there: %v), want %d", what, k, len(g), ok, len(v))
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			t.Errorf("%s: %x is there", what, k)
		}
	}
}

// TestKeptAgainstModel puts, replaces and removes entries at random while steps are recorded, and reads them in every
// way, in one file and in many segments.
func TestKeptAgainstModel(t *testing.T) {
	t.Parallel()
	for name, segment := range map[string]int64{"one file": 0, "many segments": 300 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(7, uint64(segment)))
			path := newPath(t)
			s := mustOpen(t, path, Options{SegmentSize: segment, Flush: time.Millisecond})
			want := make(map[string]string)
			socket := mustRead(t, path)
			for seq := uint64(1); seq <= 60; seq++ {
				mustAppend(t, s, exchangeSteps(seq, 3000)...)
				var entries []capture.Entry
				for range random.IntN(5) {
					key := fmt.Append(nil, "key ", random.IntN(30))
					if random.IntN(4) == 0 {
						entries = append(entries, capture.Entry{Key: key})
						delete(want, string(key))
						continue
					}
					value := bytes.Repeat([]byte{byte(seq)}, random.IntN(2)*random.IntN(100_000))
					entries = append(entries, capture.Entry{Key: key, Value: value})
					want[string(key)] = string(value)
				}
				mustKeep(t, s, entries...)
				if seq%10 == 0 {
					s.Flush()
					sameKept(t, "same process", want, keptOf(t, s))
					sameKept(t, "socket", want, keptOf(t, socket))
				}
			}
			before := must.Get(s.Mark(patient(t)))(t)
			mustClose(t, s)
			expect.OK(t, s.KeepFailed())
			for name, r := range map[string]*Reader{
				"closed store": &s.Reader, "was socket": socket, "file": mustRead(t, path),
			} {
				sameKept(t, name, want, keptOf(t, r))
				if mark, err := r.Mark(patient(t)); err != nil || !bytes.Equal(mark, before) {
					t.Errorf("%s: mark %x, error %v, was %x", name, mark, err, before)
				}
				if err := r.Sound(patient(t), nil); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if paths, err := segments.Paths(path); err != nil || segment > 0 && len(paths) < 2 {
				t.Errorf("%d segments, error %v", len(paths), err)
			}
		})
	}
}

// Close does not wait for the flush interval, however many commits what was kept takes.
func TestCloseWaitsForNoInterval(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{Flush: time.Hour})
	for k := range byte(3) {
		mustKeep(t, s, capture.Entry{Key: []byte{k}, Value: make([]byte, commitBytes)})
	}
	go s.Close()
	select {
	case <-s.done:
	case <-patient(t).Done():
		t.Fatal("it waits")
	}
}

// TestKeepByItself has no steps that would take the entries along.
func TestKeepByItself(t *testing.T) {
	path := closedCapture(t, Options{}, 2)
	before, err := mustRead(t, path).Info(patient(t))
	must.Do(t, err)
	s := mustOpen(t, path, Options{Flush: time.Millisecond})
	value := []byte("value")
	mustKeep(t, s, capture.Entry{Key: []byte("k"), Value: value})
	value[0] = 'x' // it is the caller's
	var got [][]byte
	for deadline := time.Now().Add(must.Patience); got == nil || got[0] == nil; {
		if got, err = s.Kept(patient(t), []byte("k")); err != nil || time.Now().After(deadline) {
			t.Fatalf("nothing is kept: %v", err)
		}
	}
	expect.Equal(t, got, "value", string(got[0]))
	mustKeep(t, s)
	mustKeep(t, s, capture.Entry{Key: []byte("last"), Value: []byte("1")})
	mustClose(t, s) // which stores what waits
	after, err := mustRead(t, path).Info(patient(t))
	if err != nil || before != after {
		t.Errorf("info %+v, want %+v, error %v", after, before, err)
	}
	sameKept(t, "file", map[string]string{"k": "value", "last": "1"}, keptOf(t, mustRead(t, path)))
}

func TestKeepRefuses(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{})
	for name, e := range map[string]capture.Entry{
		"no key":     {Value: []byte("v")},
		"long key":   {Key: make([]byte, layout.MaxEntryKey+1), Value: []byte("v")},
		"long value": {Key: []byte("k"), Value: make([]byte, layout.MaxEntryValue+1)},
	} {
		expect.Error(t, fmt.Sprintf("%s is taken", name),
			s.Keep(capture.Entry{Key: []byte("good"), Value: []byte("v")}, e))
	}
	mustClose(t, s)
	expect.ErrorIs(t, "keep after close", errClosed, s.Keep(capture.Entry{Key: []byte("k"), Value: []byte("v")}))
	sameKept(t, "file", nil, keptOf(t, s))
}

// TestKeepCostsNoSteps has commits with entries fail, and then all commits.
func TestKeepCostsNoSteps(t *testing.T) {
	path := newPath(t)
	full := errors.New("no space left on device")
	var failures atomic.Int64
	s := mustOpen(t, path, Options{
		Flush: time.Hour, OnError: func(err error) { t.Error(err) },
		Fault: func() error {
			if failures.Add(-1) >= 0 {
				return full
			}
			return nil
		},
	})
	mustAppend(t, s, exchangeSteps(1, 1000)...)
	mustKeep(t, s,
		capture.Entry{Key: []byte("a"), Value: []byte("1")}, capture.Entry{Key: []byte("b"), Value: []byte("2")})
	failures.Store(1)
	s.Flush()
	expect.Equal(t, "is committed", 7, s.Committed().Arrival)
	if err := s.KeepFailed(); !errors.Is(err, full) || !strings.HasPrefix(err.Error(), "2 results") {
		t.Errorf("keep failed: %v", err)
	}
	sameKept(t, "after a failure", nil, keptOf(t, s))
	failures.Store(1)
	mustKeep(t, s, capture.Entry{Key: []byte("c"), Value: []byte("3")})
	s.Flush() // by itself
	failures.Store(0)
	mustKeep(t, s, capture.Entry{Key: []byte("d"), Value: []byte("4")})
	mustClose(t, s)
	if err := s.KeepFailed(); !errors.Is(err, full) || !strings.HasPrefix(err.Error(), "3 results") {
		t.Errorf("keep failed: %v", err)
	}
	expect.Equal(t, "account", (Account{Exchanges: 1}), s.Account())
	sameKept(t, "in the end", map[string]string{"d": "4"}, keptOf(t, s))
}

// TestKeepBudget keeps more than may wait, while a commit hangs: Keep waits, and Append does not.
func TestKeepBudget(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	var gated atomic.Bool
	entered := make(chan struct{}, 1)
	s := mustOpen(t, newPath(t), Options{Flush: time.Millisecond, Fault: func() error {
		if gated.Load() {
			notify(entered)
			<-gate
		}
		return nil
	}})
	gated.Store(true)
	kept := make(chan int, 20)
	go func() {
		for i := range 20 {
			s.Keep(capture.Entry{Key: []byte{byte(i + 1)}, Value: make([]byte, 1<<20)})
			kept <- i
		}
		close(kept)
	}()
	<-entered
	for i := range 7 { // there is room for so many
		if got := <-kept; got != i {
			t.Fatalf("call %d returned, want %d", got, i)
		}
	}
	mustAppend(t, s, exchangeSteps(1, 100)...)
	s.keeper.mu.Lock()
	waiting := s.keeper.bytes + s.keeper.busy
	s.keeper.mu.Unlock()
	if waiting > keepBudget {
		t.Errorf("%d bytes wait", waiting)
	}
	gated.Store(false)
	close(gate)
	n := 7
	for range kept {
		n++
	}
	mustClose(t, s)
	if got := keptOf(t, s); n != 20 || len(got) != 20 || len(collect(t, s, 1)) != 7 {
		t.Errorf("%d calls, %d entries", n, len(got))
	}
}

// TestTwoReadersOfAnotherProcess read what a third process records and keeps, until it is killed, and after.
func TestTwoReadersOfAnotherProcess(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	recorder := startHelper(t, "keep", path, 1<<20)
	if _, ok := recorder.line(); !ok {
		t.Fatal("the recorder did not begin")
	}
	a, b := mustRead(t, path), mustRead(t, path)
	last := 0
	for round := 0; last < 50 && round < 100_000; round++ {
		got, n := make(map[string]string), 0
		for e, err := range []*Reader{a, b}[round%2].KeptRange(patient(t), nil, nil) {
			must.Do(t, err)
			got[string(e.Key)] = string(e.Value)
		}
		fmt.Sscan(got["last"], &n)
		if n < last || n > 0 && got[fmt.Sprintf("entry %06d", n)] == "" {
			t.Fatalf("the last is %d after %d, of %d", n, last, len(got))
		}
		last = n
	}
	must.Do(t, recorder.cmd.Process.Kill())
	recorder.cmd.Wait()
	after := keptOf(t, a)
	sameKept(t, "the other reader", after, keptOf(t, b))
	n := 0
	if fmt.Sscan(after["last"], &n); n < last || last < 50 {
		t.Errorf("the last is %d after the kill, and was %d", n, last)
	}
	expect.OK(t, Check(t.Context(), path))
}

// helpKeep records and keeps entries until it is killed.
func helpKeep(path string) error {
	s, err := Open(path, Options{Flush: time.Millisecond, SegmentSize: 1 << 20})
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		s.Append(exchangeSteps(uint64(n), 3000)...)
		err := s.Keep(
			capture.Entry{Key: fmt.Appendf(nil, "entry %06d", n), Value: bytes.Repeat([]byte("v"), n%5000+1)},
			capture.Entry{Key: []byte("last"), Value: fmt.Append(nil, n)},
			capture.Entry{Key: fmt.Appendf(nil, "entry %06d", n-100)},
		)
		if err != nil {
			return err
		}
		if n%10 == 0 {
			s.Flush()
		}
		if n == 10 {
			fmt.Println("begun")
		}
	}
}

// TestOlderRecorder answers as recorders of format 2 do: it keeps nothing, and that is not an error.
func TestOlderRecorder(t *testing.T) {
	path := closedCapture(t, Options{}, 1)
	info := must.Get(mustRead(t, path).Info(patient(t)))(t)
	stop := playRecorder(t, path, func(conn net.Conn) {
		for {
			body, err := remote.ReadFrame(conn, remote.MaxRequest)
			if err != nil || body[0] > remote.AskWait { // as it does with what it does not know
				return
			}
			e := remote.Encoder{Encoder: layout.Encoder{B: []byte{remote.AnswerOK}}}
			if body[0] == remote.AskHello {
				e.Number(remote.WireVersion)
				e.Number(42)
				e.Text("a2atap")
			} else {
				e.Info(&info)
			}
			remote.WriteFrame(conn, e.B)
		}
	})
	r := mustRead(t, path)
	sameKept(t, "of an older recorder", nil, keptOf(t, r))
	if mark, err := r.Mark(patient(t)); err != nil || len(mark) != 32 {
		t.Errorf("mark %x, error %v", mark, err)
	}
	r.Close()
	stop()
}

// spoilEntry changes what is stored of an entry as no recorder would.
func spoilEntry(t *testing.T, path, key string, change func(sealed []byte) []byte) {
	t.Helper()
	update(t, path, func(tx *bbolt.Tx) error {
		b := tx.Bucket(layout.BucketReading)
		return b.Put([]byte(key), change(bytes.Clone(b.Get([]byte(key)))))
	})
}

func keptCapture(t *testing.T, entries map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.a2atap")
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(1, 100)...)
	mustAppend(t, s, exchangeSteps(2, 100)[0])
	for k, v := range entries {
		mustKeep(t, s, capture.Entry{Key: []byte(k), Value: []byte(v)})
	}
	mustClose(t, s)
	s.Reader.Close()
	return path
}

// TestDamagedEntries are errors for who reads them, problems for doctor, and nothing to who reads the traffic.
func TestDamagedEntries(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(sealed []byte) []byte{
		"a bit":            func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"cut":              func(b []byte) []byte { return b[:len(b)-1] },
		"nothing":          func([]byte) []byte { return nil },
		"way of packing":   func(b []byte) []byte { b[0] = 9; return b },
		"gone with a rest": func(b []byte) []byte { b[0] = layout.PackedGone; return b },
		"of another key":   func([]byte) []byte { return layout.SealEntry([]byte("a"), []byte("value a")) },
		"far too long":     func([]byte) []byte { return layout.SealEntry([]byte("b"), make([]byte, layout.MaxEntryValue+1)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := keptCapture(t, map[string]string{"a": "value a", "b": "value b"})
			spoilEntry(t, path, "b", change)
			readable := func(r *Reader) {
				t.Helper()
				expect.ErrorIs(t, "kept", capture.ErrDamagedEntry, expect.Err(r.Kept(patient(t), []byte("b"))))
				var err error
				for _, err = range r.KeptRange(patient(t), nil, nil) {
				}
				expect.ErrorIs(t, "range", capture.ErrDamagedEntry, err)
				if got, err := r.Kept(patient(t), []byte("a")); err != nil || string(got[0]) != "value a" {
					t.Errorf("the other: %q, error %v", got, err)
				}
				if steps := collect(t, r, 1); len(steps) < 8 {
					t.Errorf("%d steps", len(steps))
				}
			}
			readable(mustRead(t, path))
			c, err := Examine(t.Context(), path, nil)
			if err != nil || len(c.Problems) != 1 || c.Problems[0].String() != path+": reading 62: "+check.MadeAnew {
				t.Errorf("problems %v, error %v", c.Problems, err)
			}
			s := mustOpen(t, path, Options{})
			readable(mustRead(t, path)) // through the socket
			mustClose(t, s)
			nothing := func(func(...capture.Entry) error) error { return nil }
			expect.OK(t, mustRead(t, path).Replace(patient(t), nothing))
			expect.OK(t, Check(t.Context(), path))
		})
	}
}

// TestDamagedReadingPages makes the pages of the reading senseless, and no others: the traffic can be read.
func TestDamagedReadingPages(t *testing.T) {
	path := keptCapture(t, map[string]string{"a": strings.Repeat("a", 3000), "b": strings.Repeat("b", 3000)})
	want := collect(t, mustRead(t, path), 1)
	var root uint64
	update(t, path, func(tx *bbolt.Tx) error {
		root = uint64(tx.Bucket(layout.BucketReading).Root())
		return nil
	})
	data := readFile(t, path)
	data[int(root)*os.Getpagesize()+pages.PageFlagsAt] = 0x77
	writeFile(t, path, data)
	r := mustRead(t, path)
	expect.ErrorIs(t, "kept", capture.ErrDamagedEntry, expect.Err(r.Kept(patient(t), []byte("a"))))
	for _, err := range r.KeptRange(patient(t), nil, nil) {
		expect.ErrorIs(t, "range", capture.ErrDamagedEntry, err)
	}
	expect.Same(t, "", want, collect(t, r, 1))
	expect.OK(t, r.Sound(patient(t), nil))
	if _, err := Open(path, Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("a recorder opens it: %v", err)
	}
	c, err := Examine(t.Context(), path, nil)
	if err != nil || len(c.Problems) != 1 || !strings.HasPrefix(c.Problems[0].String(), path+": reading: "+check.MadeAnew) {
		t.Errorf("problems %v, error %v", c.Problems, err)
	}
}

// TestMark is another one with each step, and the same for a copy.
func TestMark(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{Flush: time.Millisecond})
	mark := func(r *Reader) string {
		t.Helper()
		return string(must.Get(r.Mark(patient(t)))(t))
	}
	seen := map[string]bool{mark(&s.Reader): true}
	for _, step := range exchangeSteps(1, 100) {
		mustAppend(t, s, step)
		s.Flush()
		m := mark(&s.Reader)
		if seen[m] {
			t.Error("a step was added, and the mark is one that was")
		}
		seen[m] = true
		expect.Equal(t, "through the socket the mark is another", mark(mustRead(t, path)), m)
	}
	last := mark(&s.Reader)
	mustKeep(t, s, capture.Entry{Key: []byte("k"), Value: []byte("v")})
	s.Flush()
	mustClose(t, s)
	copied := writeFile(t, filepath.Join(t.TempDir(), "copy.a2atap"), readFile(t, path))
	for name, path := range map[string]string{"the file": path, "a copy": copied} {
		expect.Equal(t, fmt.Sprintf("%s has another mark", name), last, mark(mustRead(t, path)))
	}
	mustClose(t, mustOpen(t, copied, Options{Insecure: true})) // which adds no step
	expect.Equal(t, "a recorder that recorded nothing changed the mark", last, mark(mustRead(t, copied)))
	other := mustOpen(t, newPath(t), Options{})
	mustAppend(t, other, exchangeSteps(1, 100)...)
	other.Flush()
	if mark(&other.Reader) == last {
		t.Error("another recording has the same mark")
	}
}

// TestSound finds what is missing or changed in the blocks.
func TestSound(t *testing.T) {
	t.Parallel()
	build := func(t *testing.T, segment int64) string {
		path := filepath.Join(t.TempDir(), "c.a2atap")
		s := mustOpen(t, path, Options{SegmentSize: segment})
		for seq := uint64(1); seq <= 400; seq++ {
			mustAppend(t, s, exchangeSteps(seq, 2000)...)
			if segment > 0 && seq%100 == 0 {
				s.Flush()
			}
		}
		mustClose(t, s)
		s.Reader.Close()
		return path
	}
	in := func(segment string, change func(*bbolt.Tx) error) func(*testing.T, string) {
		return func(t *testing.T, path string) { update(t, path+segment, change) }
	}
	for name, c := range map[string]struct {
		segment int64
		spoil   func(t *testing.T, path string)
		says    string
	}{
		"nothing":               {0, func(*testing.T, string) {}, ""},
		"nothing, in segments":  {1, func(*testing.T, string) {}, ""},
		"a damaged block":       {0, in("", spoilBlock), "checksum is"},
		"a missing block":       {0, in("", dropBlock(false)), "is missing"},
		"a missing last block":  {0, in("", dropBlock(true)), "is missing"},
		"damaged, in a segment": {1, in(".0002", spoilBlock), "checksum is"},
		"missing, in a segment": {1, in(".0002", dropBlock(true)), "is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := build(t, c.segment)
			c.spoil(t, path)
			var done, total uint64
			err := mustRead(t, path).Sound(patient(t), func(d, of uint64) { done, total = d, of })
			if c.says == "" {
				if err != nil || done != 2800 || total != 2800 {
					t.Errorf("%d of %d, error %v", done, total, err)
				}
				s := mustOpen(t, path, Options{})
				if err := mustRead(t, path).Sound(patient(t), nil); err != nil {
					t.Error("through the socket:", err)
				}
				mustClose(t, s)
				return
			}
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	expect.ErrorIs(t, "canceled", context.Canceled, mustRead(t, build(t, 0)).Sound(ctx, nil))
}

func spoilBlock(tx *bbolt.Tx) error {
	k, v := tx.Bucket(layout.BucketBlocks).Cursor().First()
	return tx.Bucket(layout.BucketBlocks).Put(bytes.Clone(k), append(v[:len(v)-1:len(v)-1], v[len(v)-1]^1))
}

// dropBlock removes the last block or one in the middle.
func dropBlock(last bool) func(tx *bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		c := tx.Bucket(layout.BucketBlocks).Cursor()
		k, _ := c.Last()
		if !last {
			k, _ = c.Prev()
		}
		return tx.Bucket(layout.BucketBlocks).Delete(bytes.Clone(k))
	}
}

func FuzzSealedEntry(f *testing.F) {
	f.Add([]byte("key"), layout.SealEntry([]byte("key"), []byte("value")))
	f.Add([]byte("key"), layout.SealEntry([]byte("key"), nil))
	f.Add([]byte("key"), []byte{1, 2})
	f.Fuzz(func(t *testing.T, key, sealed []byte) {
		value, err := layout.UnsealEntry(key, sealed)
		if err != nil {
			expect.ErrorIs(t, "", capture.ErrDamagedEntry, err)
			return
		}
		if !bytes.Equal(layout.SealEntry(key, value), sealed) {
			t.Errorf("%x is not what %x was sealed as", sealed, value)
		}
	})
}
