package merge

import (
	"context"
	"runtime"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// BenchmarkRun merges the recordings of three hosts, some 16,000 exchanges.
func BenchmarkRun(b *testing.B) {
	w := newWorld(3, 3)
	recordings := w.play(b, 1000, 10)
	n := len(w.views)
	b.ReportAllocs()
	b.ResetTimer()
	var held, before runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		m := New(nothing{}, Options{})
		for _, r := range recordings {
			m.Add(r)
		}
		must.Do(b, m.Run(context.Background()))
		runtime.GC()
		runtime.ReadMemStats(&held)
		runtime.KeepAlive(m)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/exchange")
	b.ReportMetric(float64(held.HeapAlloc-before.HeapAlloc)/float64(n), "held-B/exchange")
}

type nothing struct{}

func (nothing) Append(...capture.Step) error { return nil }
func (nothing) Close() error                 { return nil }
