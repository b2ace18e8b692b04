package bolt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/must"
)

// benchSize is the payload of the exchanges of the benchmarks, in bytes.
const benchSize = 1200

// benchSteps makes n exchanges. With keys each has a task of its own, which is the dear case for an index.
func benchSteps(n int, keys bool) (exchanges [][]capture.Step, bytes int64) {
	for seq := range uint64(n) {
		steps := exchangeSteps(seq+1, benchSize)
		steps[2].Keys = nil
		if keys {
			id := fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(seq*2654435761), seq)
			steps[2].Keys = []capture.Key{
				{Kind: "agent", Value: "booker"},
				{Kind: "operation", Value: "SendMessage"},
				{Kind: "task", Value: id},
				{Kind: "context", Value: id},
			}
		}
		for i := range steps {
			bytes += payload(&steps[i])
		}
		exchanges = append(exchanges, steps)
	}
	return exchanges, bytes
}

func fillStore(b *testing.B, path string, exchanges [][]capture.Step) {
	b.Helper()
	s := must.Get(Open(path, Options{}))(b)
	for _, steps := range exchanges {
		must.Do(b, s.Append(steps...))
	}
	must.Do(b, s.Close())
	must.Do(b, s.Reader.Close())
}

// BenchmarkAppend records exchanges as fast as they can be stored, closing included.
func BenchmarkAppend(b *testing.B) {
	for _, keys := range []bool{true, false} {
		name := "index"
		if !keys {
			name = "no-index"
		}
		b.Run(name, func(b *testing.B) {
			exchanges, size := benchSteps(b.N, keys)
			path := filepath.Join(b.TempDir(), "c.a2atap")
			b.SetBytes(size / int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			fillStore(b, path, exchanges)
			b.StopTimer()
			db := must.Get(segments.OpenReadOnly(path))(b)
			defer db.Close()
			f := must.Get(os.Open(path))(b)
			defer f.Close()
			m := must.Get(pages.NewestMeta(f))(b)
			b.ReportMetric(float64(pages.Product(m.PageSize, m.Pages))/float64(size), "file/payload")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
		})
	}
}

func benchCapture(b *testing.B, n int) string {
	b.Helper()
	exchanges, _ := benchSteps(n, true)
	path := filepath.Join(b.TempDir(), "c.a2atap")
	fillStore(b, path, exchanges)
	return path
}

const benchExchanges = 100_000

// BenchmarkScan reads all of a finished capture, by steps and by exchanges.
func BenchmarkScan(b *testing.B) {
	path := benchCapture(b, benchExchanges)
	r := must.Get(Read(path))(b)
	defer r.Close()
	b.Run("steps", func(b *testing.B) {
		for b.Loop() {
			for _, err := range r.Steps(context.Background(), 1) {
				must.Do(b, err)
			}
		}
		b.ReportMetric(float64(b.N)*benchExchanges/b.Elapsed().Seconds(), "exchanges/s")
	})
	b.Run("exchanges", func(b *testing.B) {
		for b.Loop() {
			for _, err := range r.Exchanges(context.Background(), 1) {
				must.Do(b, err)
			}
		}
		b.ReportMetric(float64(b.N)*benchExchanges/b.Elapsed().Seconds(), "exchanges/s")
	})
}

// BenchmarkOpen opens a finished capture and reads the first and the last fifty exchanges.
func BenchmarkOpen(b *testing.B) {
	path := benchCapture(b, benchExchanges)
	read := func(b *testing.B, from uint64, n int) {
		r := must.Get(Read(path))(b)
		defer r.Close()
		for _, err := range r.Exchanges(context.Background(), from) {
			must.Do(b, err)
			if n--; n == 0 {
				break
			}
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			read(b, 1, 50)
		}
	})
	b.Run("last", func(b *testing.B) {
		for b.Loop() {
			read(b, benchExchanges-49, 50)
		}
	})
	b.Run("record", func(b *testing.B) {
		for b.Loop() {
			s := must.Get(Open(path, Options{}))(b)
			s.Close()
			s.Reader.Close()
		}
	})
}
