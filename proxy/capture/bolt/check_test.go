package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/check"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// TestCheckFinds breaks each invariant of a capture.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(tx *bbolt.Tx) error
		place string
		says  string
	}{
		"a missing block": {func(tx *bbolt.Tx) error {
			k, _ := tx.Bucket(layout.BucketBlocks).Cursor().Seek(layout.Number64(2))
			return tx.Bucket(layout.BucketBlocks).Delete(k)
		}, "blocks ", "a block begins at arrival"},
		"a damaged block": {func(tx *bbolt.Tx) error {
			k, v := tx.Bucket(layout.BucketBlocks).Cursor().First()
			broken := append([]byte(nil), v...)
			broken[len(broken)/2] ^= 1
			return tx.Bucket(layout.BucketBlocks).Put(k, broken)
		}, "blocks 1", "checksum is"},
		"a missing row": {func(tx *bbolt.Tx) error {
			return tx.Bucket(layout.BucketExchanges).Delete(layout.Number64(7))
		}, "exchanges 7", "exchange 7 has steps, but no row"},
		"a row too many": {func(tx *bbolt.Tx) error {
			return tx.Bucket(layout.BucketExchanges).Put(layout.Number64(9999), (&layout.Row{Flags: layout.RowClosed}).Append(nil))
		}, "exchanges", "rows of exchanges"},
		"a part too many": {func(tx *bbolt.Tx) error {
			return tx.Bucket(layout.BucketParts).Put(layout.PartKey(layout.Part{Seq: 7, Block: 1}), layout.Nothing)
		}, "parts", "parts of exchanges"},
		"an open exchange that is closed": {func(tx *bbolt.Tx) error {
			return tx.Bucket(layout.BucketOpen).Put(layout.Number64(7), layout.Nothing)
		}, "open 7", "exchange 7 is closed in one list and open in another"},
		"an index of nothing": {func(tx *bbolt.Tx) error {
			return tx.Bucket(layout.BucketIndex).Put(layout.RunKey(layout.RunMerged, 1),
				layout.MakeRun([]layout.Entry{layout.HashKey(capture.Key{}).Entry(9999)}))
		}, "index 1 1", "the index has an entry for exchange 9999"},
		"wrong totals": {func(tx *bbolt.Tx) error {
			st, err := layout.ReadState(tx)
			if err != nil {
				return err
			}
			st.LostBytes++
			return st.Put(tx)
		}, "meta state", "the state has"},
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir() + "/c.a2atap"
			s := mustOpen(t, path, Options{})
			for seq := uint64(1); seq <= 300; seq++ {
				mustAppend(t, s, exchangeSteps(seq, 2000)...)
			}
			mustClose(t, s)
			if err := Check(t.Context(), path); err != nil {
				t.Fatal("before:", err)
			}
			update(t, path, c.spoil)
			checkup := must.Get(Examine(t.Context(), path, nil))(t)
			if checkup.Sound() || len(checkup.Problems) != 1 {
				t.Fatalf("problems %v, want one", checkup.Problems)
			}
			got := checkup.Problems[0].String()
			if !strings.HasPrefix(got, path+": "+c.place) || !strings.Contains(got, c.says) {
				t.Errorf("got %q, want %q at %q", got, c.says, c.place)
			}
			expect.ErrorHas(t, "check", got, Check(t.Context(), path))
		})
	}
}

func TestCheckCanBeCanceled(t *testing.T) {
	path := closedCapture(t, Options{}, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	expect.Error(t, "a canceled check found nothing wrong", Check(ctx, path))
}

// TestExamineSays what it looked at: all segments, and how far it is.
func TestExamineSays(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{SegmentSize: 1})
	for seq := uint64(1); seq <= 3; seq++ {
		mustAppend(t, s, exchangeSteps(seq, 100)...)
		s.Flush()
	}
	mustAppend(t, s, exchangeSteps(4, 100)[0])
	mustClose(t, s)
	var at, of uint64
	c := must.Get(Examine(t.Context(), path, func(arrival, last uint64) { at, of = arrival, last }))(t)
	if !c.Sound() || !c.Ended || c.Exchanges != 4 || c.Steps != 22 || at != 22 || of != 22 {
		t.Errorf("%+v, at %d of %d", c, at, of)
	}
	var steps, exchanges int
	for i, f := range c.Files {
		if f.Name != segments.Name(path, uint64(i)+1) || f.Bytes == 0 {
			t.Errorf("file %d: %+v", i+1, f)
		}
		steps, exchanges = steps+f.Steps, exchanges+f.Exchanges
	}
	if last := c.Files[len(c.Files)-1]; len(c.Files) < 4 || steps != 22 || exchanges != 4 || last.Open != 1 {
		t.Errorf("%d files with %d steps and %d exchanges, the last %+v", len(c.Files), steps, exchanges, last)
	}
}

// TestDamageIsReportedOnce damages a block: that those after it begin where they do is not a further problem.
func TestDamageIsReportedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	s := mustOpen(t, path, Options{SegmentSize: 1})
	for seq := uint64(1); seq <= 4; seq++ {
		mustAppend(t, s, exchangeSteps(seq, 100)...)
		s.Flush()
	}
	mustClose(t, s)
	damaged := segments.Name(path, 2)
	update(t, damaged, func(tx *bbolt.Tx) error {
		k, v := tx.Bucket(layout.BucketBlocks).Cursor().First()
		return tx.Bucket(layout.BucketBlocks).Put(k, append(v[:len(v)-1:len(v)-1], v[len(v)-1]^1))
	})
	c := must.Get(Examine(t.Context(), path, nil))(t)
	if len(c.Problems) != 1 || !strings.HasPrefix(c.Problems[0].String(), damaged+": blocks 8: ") {
		t.Errorf("problems %v, want one", c.Problems)
	}
}

// TestDamagedFreePages makes bbolt's own list of free pages senseless, which only bbolt reads.
func TestDamagedFreePages(t *testing.T) {
	sound := readFile(t, closedCapture(t, Options{}, 20))
	for said, damage := range map[string]func(page []byte){
		" has ": func(page []byte) {
			binary.NativeEndian.PutUint16(page[pages.PageCountAt:], 0xffff)
			binary.NativeEndian.PutUint64(page[pages.PageHeader:], 1<<40)
		},
		", from page ": func(page []byte) { binary.NativeEndian.PutUint32(page[pages.PageOverflowAt:], 1<<31) },
	} {
		data := bytes.Clone(sound)
		for _, meta := range []int{0, os.Getpagesize()} {
			list := binary.NativeEndian.Uint64(data[meta+pages.PageHeader+pages.MetaFreelistAt:])
			damage(data[list*uint64(os.Getpagesize()):])
		}
		path := writeFile(t, filepath.Join(t.TempDir(), "c.a2atap"), data)
		c := must.Get(Examine(t.Context(), path, nil))(t)
		said = path + ": database: the list of free pages" + said
		if len(c.Problems) != 1 || !strings.HasPrefix(c.Problems[0].String(), said) {
			t.Errorf("problems %v, want one of the database", c.Problems)
		}
		if s, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "the list of free pages") {
			t.Errorf("a recorder opens it: %v, %v", s, err)
		}
	}
}

// TestManyProblems lists some and counts the rest.
func TestManyProblems(t *testing.T) {
	path := writeFile(t, filepath.Join(t.TempDir(), "c.a2atap"), readFile(t, closedCapture(t, Options{}, 300)))
	update(t, path, func(tx *bbolt.Tx) error {
		for seq := uint64(1); seq <= 300; seq++ {
			if err := tx.Bucket(layout.BucketExchanges).Delete(layout.Number64(seq)); err != nil {
				return err
			}
		}
		return nil
	})
	c := must.Get(Examine(t.Context(), path, nil))(t)
	if len(c.Problems) != check.MaxProblems || c.More < 300-check.MaxProblems { // an exchange in two blocks is missed in both
		t.Errorf("%d problems and %d more, want 300", len(c.Problems), c.More)
	}
	expect.ErrorHas(t, "check", fmt.Sprintf("and %d more", c.More), Check(t.Context(), path))
}

// update changes a file as no recorder would.
func update(t *testing.T, path string, change func(tx *bbolt.Tx) error) {
	t.Helper()
	db := must.Get(bbolt.Open(path, 0o600, nil))(t)
	must.Do(t, errors.Join(db.Update(change), db.Close()))
}
