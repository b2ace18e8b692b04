package snapshot_test

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/klauspost/compress/zstd"

	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/must"
)

// FuzzStored reads any bytes as each kind of value. Whatever they are, the answer is an error or results, and never a panic.
func FuzzStored(f *testing.F) {
	ctx := context.Background()
	src := must.Get(open.File("../rules/testdata/wild/go200-go200-rest.txtar"))(f)
	defer src.Close()
	var whole capture.MemoryShelf
	if _, _, err := snapshot.Judge(ctx, rules.All, src, whole.Put, nil); err != nil {
		f.Fatal(err)
	}
	decoder := must.Get(zstd.NewReader(nil))(f)
	defer decoder.Close()
	encoder := must.Get(zstd.NewWriter(nil))(f)
	defer encoder.Close()
	var head []byte
	for e, err := range whole.KeptRange(ctx, nil, nil) {
		must.Do(f, err)
		if e.Key[0] == 'h' {
			head = e.Value
			continue
		}
		raw := must.Get(decoder.DecodeAll(e.Value, nil))(f)
		f.Add(e.Key[0], raw)
	}
	f.Add(byte('p'), []byte{0, 0, 0, 0})
	f.Add(byte('g'), []byte{1})
	key := func(letter byte, numbers ...uint64) []byte {
		k := []byte{letter}
		for _, n := range numbers {
			k = binary.BigEndian.AppendUint64(k, n)
		}
		return k
	}
	f.Fuzz(func(t *testing.T, letter byte, raw []byte) {
		var shelf capture.MemoryShelf
		at := key(letter, 0)
		switch letter {
		case 'r':
			at = []byte{'r'}
		case 'p':
			at = key('p', 1, 1)
		}
		value := encoder.EncodeAll(raw, nil)
		must.Do(t, shelf.Put(capture.Entry{Key: []byte{'h'}, Value: head}, capture.Entry{Key: at, Value: value}))
		r := must.Get(snapshot.Open(ctx, &shelf, rules.All))(t)
		rows := 0
		for row, err := range r.Rows(ctx, 1) {
			if err == nil && row.Seq == 0 {
				t.Error("a row without a number")
			}
			if rows++; rows > 10_000 {
				t.Fatal("rows without end")
			}
			if err == nil {
				row.OutcomeText()
				r.FindingsOf(ctx, row)   //nolint:errcheck // an error is an answer
				r.Workflow(ctx, row.Seq) //nolint:errcheck // the same
			}
		}
		for range r.RowsBefore(ctx, math.MaxUint64) {
			if rows--; rows < -20_000 {
				t.Fatal("rows without end")
			}
		}
		for range r.Findings(ctx, 0) {
		}
		r.Result(ctx) //nolint:errcheck // an error is an answer
	})
}
