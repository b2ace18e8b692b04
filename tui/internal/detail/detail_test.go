package detail

import (
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/tui/document"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
)

// spotAt and lineOf are inverse functions, wherever events have lines below them.
func TestSpotsAndLines(t *testing.T) {
	d := &Layout{Excerpt: load.Excerpt{Events: load.Stream{Last: make([]int32, 50)}}}
	d.doc.Before, d.doc.After = make([]document.Line, 7), make([]document.Line, 3)
	d.doc.Marks = map[int][]document.Line{
		0: make([]document.Line, 2), 8: make([]document.Line, 1), 9: make([]document.Line, 4),
		49: make([]document.Line, 2),
	}
	d.doc.Open = map[int][]document.Line{9: make([]document.Line, 5), 20: make([]document.Line, 6)}
	d.extra = []int{0, 8, 9, 20, 49}
	if got, want := d.Length(), 7+50+3+2+1+5+6+2; got != want {
		t.Fatalf("there are %d lines, want %d", got, want)
	}
	seen := make(map[spot]bool)
	for n := range d.Length() {
		s := d.spotAt(n)
		if seen[s] {
			t.Fatalf("line %d is %+v, which was there before", n, s)
		}
		seen[s] = true
		if got := d.lineOf(s); got != n {
			t.Errorf("line %d is %+v, which is line %d", n, s, got)
		}
	}
}

// BenchmarkLongStream opens a stream of 200,000 events to its first frame.
func BenchmarkLongStream(b *testing.B) {
	l := load.New(b.Context(), tuitest.Long(b, 200_000), nil)
	for b.Loop() {
		d := New(&panel.Shared{Load: l}, analysis.Place{Exchange: 1})
		d.Resize(80, 22)
		d.Update(d.Begin()())
		d.Update(d.build()())
		if lines := d.View(); len(lines) != 22 {
			b.Fatalf("%d lines", len(lines))
		}
	}
}
