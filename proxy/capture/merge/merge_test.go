package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/capture"
)

// run merges recordings, and counts that no step was lost.
func run(t *testing.T, recordings []Recording) (*Merger, *capture.Memory) {
	t.Helper()
	merged := capture.NewMemory(capture.Info{})
	m := New(merged, Options{})
	for _, r := range recordings {
		m.Add(r)
	}
	if err := m.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	checkCount(t, m, merged, recordings)
	return m, merged
}

// checkCount checks that each step that went in came out, or was folded or said to be left out.
func checkCount(t *testing.T, m *Merger, merged *capture.Memory, recordings []Recording) {
	t.Helper()
	in, out, added := uint64(0), uint64(0), uint64(0)
	for _, r := range recordings {
		for _, err := range r.Source.Steps(context.Background(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			in++
		}
	}
	for range merged.Steps(context.Background(), 1) {
		out++
	}
	s := m.Summary()
	added = s.Added
	if in != s.Steps || out != s.Steps-s.Folded-s.Dropped+added {
		t.Errorf("%d steps went in, %d were read, %d came out, %d were folded, %d left out, %d added",
			in, s.Steps, out, s.Folded, s.Dropped, added)
	}
}

func TestRandomWorlds(t *testing.T) {
	var all pairs
	for seed := range uint64(60) {
		w := newWorld(seed, 2+int(seed%4))
		w.losses = seed%3 == 1
		w.plain = seed%5 == 4
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m, merged := run(t, w.play(t, 12, 8))
			p := w.compare(t, m, merged)
			if p.missed > 0 {
				t.Errorf("%d requests with ids of their own were not recognised", p.missed)
			}
			if !w.losses && !w.plain {
				all.found, all.possible = all.found+p.found, all.possible+p.possible
			}
		})
	}
	t.Logf("%d of %d pairs were found where nothing was lost", all.found, all.possible)
	if all.found < all.possible*9/10 {
		t.Errorf("%d of %d pairs were found; most are certain", all.found, all.possible)
	}
}

// What comes of recordings does not depend on the order in which they are added.
func TestOrderOfRecordingsDoesNotMatter(t *testing.T) {
	recordings := newWorld(7, 4).play(t, 12, 8)
	_, want := run(t, recordings)
	slices.Reverse(recordings)
	_, got := run(t, recordings)
	if a, b := printed(t, want), printed(t, got); a != b {
		t.Errorf("the merged captures differ")
	}
}

func printed(t *testing.T, src capture.Source) string {
	t.Helper()
	var out strings.Builder
	for s, err := range src.Steps(context.Background(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%d %s %+v\n", s.Seq, s.Offset, s.What)
	}
	return out.String()
}
