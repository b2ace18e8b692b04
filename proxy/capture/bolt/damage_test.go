package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// TestDamagedCaptures damages captures in ways derived from a seed. A reader gets everything that was recorded, or an
// error, or a report that the recorder was killed. It never gets less without a report.
func TestDamagedCaptures(t *testing.T) {
	t.Parallel()
	bases := []*base{
		newBase(t, "one file", closedCapture(t, Options{}, 80)),
		newBase(t, "segments", closedCapture(t, Options{SegmentSize: 1}, 4)),
		newBase(t, "many commits", manyCommits(t)),
	}
	const parts = 4
	for part := range parts {
		t.Run(strconv.Itoa(part), func(t *testing.T) {
			t.Parallel()
			noticed := 0
			for seed := part; seed < damages; seed += parts {
				b := bases[seed%len(bases)]
				if b.damaged(t, uint64(seed)) {
					noticed++
				}
			}
			if noticed < damages/parts/10 {
				t.Errorf("of %d damaged captures %d are noticed", damages/parts, noticed)
			}
		})
	}
}

// manyCommits makes a capture whose tables were rewritten often, with a stream that is still open.
func manyCommits(t *testing.T) string {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(1, 100)[0])
	for seq := uint64(2); seq < 40; seq++ {
		mustAppend(t, s, exchangeSteps(seq, 300)...)
		mustAppend(t, s, event(1, int(seq)))
		mustKeep(t, s,
			capture.Entry{Key: []byte("last"), Value: fmt.Append(nil, seq)},
			capture.Entry{Key: fmt.Append(nil, "entry ", seq), Value: bytes.Repeat([]byte{byte(seq)}, int(seq)*100)})
		s.Flush()
	}
	mustClose(t, s)
	return path
}

// A base is a sound capture, and what there is to read in it.
type base struct {
	name  string
	files [][]byte
	truth map[string]string
	steps []uint64 // hashes
}

func newBase(t *testing.T, name, path string) *base {
	t.Helper()
	paths := must.Get(segments.Paths(path))(t)
	b := &base{name: name}
	for _, p := range paths {
		b.files = append(b.files, readFile(t, p))
	}
	b.truth = readings(t.Context(), path)
	for what, got := range b.truth {
		if got == "" {
			t.Fatalf("%s: %s of a sound capture is an error", name, what)
		}
	}
	for _, step := range collect(t, mustRead(t, path), 1) {
		b.steps = append(b.steps, hashOf(step))
	}
	return b
}

// TestRebuild repairs captures whose index does not match their blocks: all is as it was.
func TestRebuild(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(tx *bbolt.Tx) error{
		"rows": func(tx *bbolt.Tx) error { return tx.Bucket(layout.BucketExchanges).Delete(layout.Number64(7)) },
		"parts": func(tx *bbolt.Tx) error {
			return tx.Bucket(layout.BucketParts).Put(layout.PartKey(layout.Part{Seq: 7, Block: 1}), layout.Nothing)
		},
		"index": func(tx *bbolt.Tx) error {
			k, _ := tx.Bucket(layout.BucketIndex).Cursor().First()
			return tx.Bucket(layout.BucketIndex).Delete(k)
		},
		"open": func(tx *bbolt.Tx) error { return tx.Bucket(layout.BucketOpen).Put(layout.Number64(7), layout.Nothing) },
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, filepath.Join(t.TempDir(), "c.a2atap"), readFile(t, closedCapture(t, Options{}, 60)))
			want := collect(t, mustRead(t, path), 1)
			before := must.Get(mustRead(t, path).Info(patient(t)))(t)
			update(t, path, spoil)
			if _, err := Read(path); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "run a2atap doctor") {
				t.Errorf("read: %v", err)
			}
			expect.ErrorIs(t, "open", ErrDamaged, expect.Err(Open(path, Options{})))
			to := newPath(t)
			r, err := Rebuild(t.Context(), path, to, func(s capture.Sink) capture.Sink { return s })
			if err != nil || !r.Whole() || r.Exchanges != 60 || int(r.Steps) != len(want) {
				t.Fatalf("got %+v, error %v", r, err)
			}
			expect.Same(t, "", want, collect(t, mustRead(t, to), 1))
			after, err := mustRead(t, to).Info(patient(t))
			if before.Name = after.Name; err != nil || after != before {
				t.Errorf("got %+v, want %+v, error %v", after, before, err)
			}
		})
	}
}

// damaged damages a copy, reads it in each way, and reports whether that was noticed.
func (b *base) damaged(t *testing.T, seed uint64) (noticed bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.a2atap")
	random := rand.New(rand.NewPCG(seed, 1))
	spoilt := random.IntN(len(b.files))
	how := ""
	for i, data := range b.files {
		if i == spoilt {
			how, data = damage(random, bytes.Clone(data))
		}
		writeFile(t, segments.Name(path, uint64(i)+1), data)
	}
	if len(b.files) > 1 && random.IntN(20) == 0 {
		how = "the last segment is missing"
		writeFile(t, segments.Name(path, uint64(spoilt)+1), b.files[spoilt])
		os.Remove(segments.Name(path, uint64(len(b.files))))
	}
	got := readings(t.Context(), path)
	for what := range b.truth {
		if got[what] == "" {
			noticed = true
		}
	}
	told := false
	if r, err := Read(path); err == nil {
		info, err := r.Info(t.Context())
		told = err == nil && info.Crashes > 0
		r.Close()
	}
	for what, want := range b.truth {
		if got[what] != "" && got[what] != want && !told {
			t.Errorf("%s, seed %d, %s: %s is another without a word", b.name, seed, how, what)
		}
	}
	if seed%10 == 0 {
		b.repaired(t, path, seed, how)
	}
	if seed%16 == 1 {
		b.goesOn(t, path, seed, how)
	}
	return noticed || told
}

// repaired repairs a damaged capture. What comes of it is sound, has nothing that was not recorded, and says what it
// lacks.
func (b *base) repaired(t *testing.T, path string, seed uint64, how string) {
	t.Helper()
	to := path + "-repaired"
	r, err := Rebuild(t.Context(), path, to, func(s capture.Sink) capture.Sink { return s })
	if err != nil {
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, capture.ErrFormat) && !strings.Contains(err.Error(), "is missing") {
			t.Errorf("%s, seed %d, %s: repair: %v", b.name, seed, how, err)
		}
		return
	}
	if err := Check(t.Context(), to); err != nil {
		t.Errorf("%s, seed %d, %s: the repaired capture: %v", b.name, seed, how, err)
	}
	left, said := b.steps, false
	for _, step := range collect(t, mustRead(t, to), 1) {
		if lost, ok := step.What.(capture.Lost); ok && lost.Reason == unreadable {
			said = true
			continue
		}
		if end, ok := step.What.(capture.Closed); ok && end.Interrupted || step.What == nil {
			continue
		}
		if lost, ok := step.What.(capture.Lost); ok && strings.HasPrefix(lost.Reason, "the recorder was killed") {
			continue
		}
		i := slices.Index(left, hashOf(step))
		if i < 0 {
			t.Fatalf("%s, seed %d, %s: the repaired capture has what was not recorded: %+v", b.name, seed, how, step)
		}
		left = left[i+1:]
	}
	if int(r.Steps) < len(b.steps) && (r.Whole() || !said) && r.Crash == "" {
		t.Errorf("%s, seed %d, %s: %d of %d steps were repaired, and nothing is said: %+v", b.name, seed, how, r.Steps,
			len(b.steps), r)
	}
}

// goesOn records into a damaged capture. If that is possible, what comes of it is sound.
func (b *base) goesOn(t *testing.T, path string, seed uint64, how string) {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		return
	}
	defer s.Reader.Close()
	at := s.Position()
	mustAppend(t, s, exchangeSteps(at.Seq+1, 100)...)
	if err := s.Close(); err != nil {
		return
	}
	c, err := Examine(t.Context(), path, nil)
	if err != nil {
		t.Fatalf("%s, seed %d, %s: a recorder went on: %v", b.name, seed, how, err)
	}
	paths := must.Get(segments.Paths(path))(t)
	if _, unread := readSteps(t.Context(), path); unread == nil {
		for _, p := range c.Problems {
			// Segments before the last are not written any more, so their lists of free pages are not used.
			sealed := p.File != paths[len(paths)-1] && strings.Contains(p.What, "the list of free pages")
			if p.Bucket != string(layout.BucketReading) && !sealed {
				t.Errorf("%s, seed %d, %s: a recorder went on, and left: %v", b.name, seed, how, p)
			}
		}
	}
}

// metaFields are where fields of 8 bytes are in a meta page: the list of buckets and its sequence, the list of free pages,
// the number of pages, the transaction.
var metaFields = [...]int{16, 24, 32, 40, 48}

// claimed writes a number into a field of both meta pages, with the sums that belong to it.
func claimed(data []byte, field int, claim uint64) {
	for i := range 2 {
		meta := data[i*os.Getpagesize()+pages.PageHeader:][:pages.PageMetaSize]
		binary.NativeEndian.PutUint64(meta[field:], claim)
		sum := fnv.New64a()
		sum.Write(meta[:len(meta)-8])
		binary.NativeEndian.PutUint64(meta[len(meta)-8:], sum.Sum64())
	}
}

// TestRebuildOfClaims repairs captures that claim far more pages than they have: only those that there are are read.
func TestRebuildOfClaims(t *testing.T) {
	t.Parallel()
	whole := readFile(t, closedCapture(t, Options{}, 60))
	for _, claim := range []uint64{1 << 20, 1 << 28, 1 << 33, 1 << 40, 1 << 63} {
		data := bytes.Clone(whole)
		claimed(data, 40, claim)
		path := writeFile(t, filepath.Join(t.TempDir(), "c.a2atap"), data)
		r, err := Rebuild(t.Context(), path, newPath(t), func(s capture.Sink) capture.Sink { return s })
		if err != nil || !r.Whole() || r.Exchanges != 60 {
			t.Errorf("%d pages: got %+v, error %v", claim, r, err)
		}
	}
	// All other claims, and any page number that the first page claims, are reported as a message.
	for _, field := range append([]int{-pages.PageHeader}, metaFields[:]...) {
		for bit := 0; bit < 64; bit += 7 {
			data := bytes.Clone(whole)
			if field < 0 {
				binary.NativeEndian.PutUint64(data, 1<<bit)
			} else {
				claimed(data, field, 1<<bit)
			}
			path := writeFile(t, filepath.Join(t.TempDir(), "c.a2atap"), data)
			_, err := Rebuild(t.Context(), path, newPath(t), func(s capture.Sink) capture.Sink { return s })
			c, readErr := Examine(t.Context(), path, nil)
			said := fmt.Sprint(err, readErr)
			if c != nil {
				said += fmt.Sprint(c.Problems)
			}
			if regexp.MustCompile("panic|assert|runtime error").MatchString(said) {
				t.Errorf("field %d is %#x: %s", field, uint64(1)<<bit, said)
			}
		}
	}
}

// damage spoils a file in a random way, and says how.
func damage(random *rand.Rand, data []byte) (how string, damaged []byte) {
	page := os.Getpagesize()
	count := len(data) / page
	at := random.IntN(len(data))
	if random.IntN(2) == 0 { // where things are: most of a file is free, or blocks
		at = min(random.IntN(count)*page+random.IntN(200), len(data)-1)
	}
	switch random.IntN(8) {
	case 0:
		data[at] ^= 1 << random.IntN(8)
		return fmt.Sprintf("a bit of byte %d", at), data
	case 1:
		for range 20 {
			data[random.IntN(len(data))] ^= 1 << random.IntN(8)
		}
		return "twenty bits", data
	case 2:
		clear(data[at/page*page:][:page])
		return fmt.Sprintf("page %d is zero", at/page), data
	case 3:
		return fmt.Sprintf("cut to %d bytes", at), data[:at]
	case 4:
		other := random.IntN(count)
		copy(data[at/page*page:][:page], data[other*page:][:page])
		return fmt.Sprintf("page %d over page %d", other, at/page), data
	case 5:
		n := min(1+random.IntN(64), len(data)-at)
		for i := range n {
			data[at+i] = byte(random.IntN(256))
		}
		return fmt.Sprintf("%d bytes from %d", n, at), data
	case 6:
		field, claim := metaFields[random.IntN(len(metaFields))], uint64(1)<<random.IntN(64)
		claimed(data, field, claim)
		return fmt.Sprintf("the meta pages claim %#x at %d", claim, field), data
	}
	n := min(512, len(data)-at)
	clear(data[at:][:n])
	return fmt.Sprintf("%d bytes from %d are zero", n, at), data
}

// readings reads a capture in each way, and returns what comes of it as text; nothing for an error.
func readings(ctx context.Context, path string) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, must.Patience)
	defer cancel()
	all := map[string]string{"steps": "", "exchanges": "", "one": "", "find": "", "info": "", "sound": "", "kept": ""}
	if Check(ctx, path) == nil {
		all["sound"] = "sound"
	}
	all["steps"], _ = readSteps(ctx, path)
	r, err := Read(path)
	if err != nil {
		return all
	}
	defer r.Close()
	sum := fnv.New64a()
	for x, xErr := range r.Exchanges(ctx, 1) {
		if err = xErr; err == nil {
			fmt.Fprintf(sum, "%d %s %v %d %d %s %s\n", x.Seq, x.ID, x.State, x.Ended, x.Lost, x.Request.Head,
				x.Request.Body.Data)
			if a := x.Response; a != nil {
				fmt.Fprintf(sum, "%s %s %d %v\n", a.Head, a.Body.Data, len(a.Events), a.Body.Complete)
			}
		}
	}
	if err == nil {
		all["exchanges"] = fmt.Sprint(sum.Sum64())
	}
	if x, err := r.Exchange(ctx, 3); err == nil || errors.Is(err, capture.ErrNotFound) {
		all["one"] = fmt.Sprintf("%+v", x)
		if x != nil {
			all["one"] = fmt.Sprintf("%d %s %v %s", x.Seq, x.ID, x.State, x.Request.Body.Data)
		}
	}
	found := []uint64{0}
	for seq, findErr := range r.Find(ctx, capture.Key{Kind: "agent", Value: "booker"}, 1) {
		err = findErr
		found = append(found, seq)
	}
	if err == nil {
		all["find"] = fmt.Sprint(found)
	}
	err = nil
	entries := fnv.New64a()
	for e, keptErr := range r.KeptRange(ctx, nil, nil) {
		err = keptErr
		fmt.Fprintf(entries, "%s %s\n", e.Key, e.Value)
	}
	if err == nil {
		all["kept"] = fmt.Sprint(entries.Sum64())
	}
	if info, err := r.Info(ctx); err == nil {
		info.Name = ""
		all["info"] = fmt.Sprintf("%+v", info)
	}
	return all
}

func readSteps(ctx context.Context, path string) (string, error) {
	r, err := Read(path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	sum := fnv.New64a()
	for step, err := range r.Steps(ctx, 1) {
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, step.Arrival, hashOf(step))
	}
	return fmt.Sprint(sum.Sum64()), nil
}
