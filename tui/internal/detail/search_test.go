package detail

import (
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
)

// BenchmarkSearchEvents searches a stream of 100,000 events.
func BenchmarkSearchEvents(b *testing.B) {
	m := tuitest.Long(b, 100_000)
	l := load.New(b.Context(), m, nil)
	d := New(&panel.Shared{Load: l}, analysis.Place{Exchange: 1})
	d.Resize(80, 22)
	d.Update(d.Begin()())
	for d.More {
		d.Update(d.readOn(0)())
	}
	p, err := find.Parse("kyoto")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		d.pattern = p
		d.search.restart()
		for d.search.next < d.Events.Length() {
			d.search.ticket = 1
			msg := searchEvents(l, 1, d.source(), d.search.next, d.search.arrival)().(eventsSearched)
			if msg.err != nil {
				b.Fatal(msg.err)
			}
			d.search.next, d.search.arrival = msg.next, msg.arrival
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/event")
}
