package bolt

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/capture"
)

func FuzzRequest(f *testing.F) {
	for _, q := range []request{
		{ask: askHello},
		{ask: askBlocks, from: 1 << 60, limit: pageBytes},
		{ask: askFetch, firsts: []uint64{1, 100, 5}, limit: 10},
		{ask: askLocate, from: 1, limit: 256},
		{ask: askFind, from: 3, limit: 4096, key: hashKey(capture.Key{Kind: "task", Value: "t"})},
		{ask: askWait, from: 7},
		{ask: askKept, limit: 10, keys: [][]byte{[]byte("k"), nil, {}}},
		{ask: askKeptRange, limit: 10, low: []byte("a"), end: []byte("b")},
		{ask: askMark},
	} {
		f.Add(q.encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := decodeRequest(b)
		if err != nil {
			return
		}
		if q.limit < 0 || q.limit > pageBytes {
			t.Fatalf("limit %d", q.limit)
		}
		back, err := decodeRequest(q.encode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(q, back, cmp.AllowUnexported(request{})); diff != "" {
			t.Errorf("got +, want -:\n%s", diff)
		}
	})
}

// FuzzAnswer reads answers of a recorder that may not be one.
func FuzzAnswer(f *testing.F) {
	var e wireEncoder
	e.places(&places{found: []place{{seq: 1, blocks: []uint64{1, 9}}, {seq: 2, blocks: []uint64{9}}}, last: 2})
	f.Add(e.b)
	e = wireEncoder{}
	e.blocks([]block{{first: 1, value: []byte("value")}})
	f.Add(e.b)
	e = wireEncoder{}
	e.info(&capture.Info{Created: time.Unix(1, 2), Tool: "t"})
	f.Add(e.b)
	e = wireEncoder{}
	e.entries([]keptEntry{{[]byte("k"), sealEntry([]byte("k"), nil)}})
	f.Add(e.b)
	e = wireEncoder{}
	e.values([][]byte{nil, {}, []byte("v")})
	f.Add(e.b)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, decode := range []func(d *wireDecoder){
			func(d *wireDecoder) { d.info() },
			func(d *wireDecoder) { d.blocks() },
			func(d *wireDecoder) { d.places() },
			func(d *wireDecoder) { d.numbers() },
			func(d *wireDecoder) { d.holder() },
			func(d *wireDecoder) { d.entries() },
			func(d *wireDecoder) { d.values() },
		} {
			decode(&wireDecoder{decoder{b: b}})
		}
	})
}
