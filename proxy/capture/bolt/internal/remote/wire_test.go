package remote

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func FuzzRequest(f *testing.F) {
	for _, q := range []Request{
		{Ask: AskHello},
		{Ask: AskBlocks, From: 1 << 60, Limit: PageBytes},
		{Ask: AskFetch, Firsts: []uint64{1, 100, 5}, Limit: 10},
		{Ask: AskLocate, From: 1, Limit: 256},
		{Ask: AskFind, From: 3, Limit: 4096, key: layout.HashKey(capture.Key{Kind: "task", Value: "t"})},
		{Ask: AskWait, From: 7},
		{Ask: AskKept, Limit: 10, Keys: [][]byte{[]byte("k"), nil, {}}},
		{Ask: AskKeptRange, Limit: 10, Low: []byte("a"), End: []byte("b")},
		{Ask: askMark},
	} {
		f.Add(q.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := decodeRequest(b)
		if err != nil {
			return
		}
		if q.Limit < 0 || q.Limit > PageBytes {
			t.Fatalf("limit %d", q.Limit)
		}
		back, err := decodeRequest(q.Encode())
		must.Do(t, err)
		expect.Same(t, "", q, back, cmp.AllowUnexported(Request{}))
	})
}

// FuzzAnswer reads answers of a recorder that may not be one.
func FuzzAnswer(f *testing.F) {
	var e Encoder
	e.places(&segments.Places{Found: []segments.Place{{Seq: 1, Blocks: []uint64{1, 9}}, {Seq: 2, Blocks: []uint64{9}}}, Last: 2})
	f.Add(e.B)
	e = Encoder{}
	e.blocks([]layout.Block{{First: 1, Value: []byte("value")}})
	f.Add(e.B)
	e = Encoder{}
	e.Info(&capture.Info{Created: time.Unix(1, 2), Tool: "t"})
	f.Add(e.B)
	e = Encoder{}
	e.entries([]layout.KeptEntry{{Key: []byte("k"), Sealed: layout.SealEntry([]byte("k"), nil)}})
	f.Add(e.B)
	e = Encoder{}
	e.values([][]byte{nil, {}, []byte("v")})
	f.Add(e.B)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, decode := range []func(d *decoder){
			func(d *decoder) { d.info() },
			func(d *decoder) { d.blocks() },
			func(d *decoder) { d.places() },
			func(d *decoder) { d.numbers() },
			func(d *decoder) { d.holder() },
			func(d *decoder) { d.entries() },
			func(d *decoder) { d.values() },
		} {
			decode(&decoder{layout.Decoder{B: b}})
		}
	})
}
