package bolt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// TestIndexAgainstModel gives exchanges keys at random, in commits of random sizes, some long after the exchange began,
// and reads each key back in pages of several sizes.
func TestIndexAgainstModel(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	path := newPath(t)
	s := mustOpen(t, path, Options{SegmentSize: 96 << 10})
	want := make(map[capture.Key][]uint64)
	const last = 3000
	for seq := uint64(1); seq <= last; seq++ {
		steps := exchangeSteps(seq, 50)
		keys := []capture.Key{{Kind: "agent", Value: "booker"}, {Kind: "task", Value: fmt.Sprint(seq / 3)}}
		steps[2].Keys = keys
		mustAppend(t, s, steps...)
		for _, k := range keys {
			want[k] = append(want[k], seq)
		}
		if random.IntN(50) == 0 {
			late := capture.Key{Kind: "late", Value: fmt.Sprint(random.IntN(5))}
			about := random.Uint64N(seq) + 1
			mustAppend(t, s,
				capture.Step{Seq: about, What: capture.Fact{Note: "late"}, Keys: []capture.Key{late, late}})
			want[late] = append(want[late], about)
		}
		if random.IntN(30) == 0 {
			s.Flush()
		}
	}
	mustClose(t, s)
	for k := range want {
		slices.Sort(want[k])
		want[k] = slices.Compact(want[k])
	}
	set := must.Get(remote.New(path).Open())(t)
	defer set.Close()
	if len(set) < 3 {
		t.Fatalf("%d segments; the test wants more", len(set))
	}
	for k, all := range want {
		limit := 1 + random.IntN(40)
		if k.Kind == "agent" {
			limit = 1000
		}
		var got []uint64
		for next := uint64(1); ; {
			page := must.Get(set.Find(layout.HashKey(k), next, limit))(t)
			if got = append(got, page...); len(page) < limit {
				break
			}
			next = page[limit-1] + 1
		}
		expect.Same(t, fmt.Sprintf("%v in pages of %d", k, limit), all, got)
	}
}

// TestYoungRunsAreMerged counts runs: there are few of them, however many commits there were.
func TestYoungRunsAreMerged(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	runs := func() (young, merged int) {
		set, err := remote.New(path).Open()
		must.Do(t, err)
		defer set.Close()
		err = set[0].View(func(tx *bbolt.Tx) error {
			return tx.Bucket(layout.BucketIndex).ForEach(func(k, _ []byte) error {
				if k[0] == layout.RunYoung {
					young++
				} else {
					merged++
				}
				return nil
			})
		})
		must.Do(t, err)
		return young, merged
	}
	// Two recorders, so that the second takes over the young runs of the first.
	for range 2 {
		s := mustOpen(t, path, Options{})
		for range 200 {
			mustAppend(t, s, exchangeSteps(s.queue.in/7+1+s.Position().Seq, 50)...)
			s.Flush()
		}
		mustClose(t, s)
	}
	if young, merged := runs(); young != 400-layout.MergeRuns-1 || merged != 1 {
		t.Errorf("%d young runs and %d merged, want %d and 1", young, merged, 400-layout.MergeRuns-1)
	}
	s := mustOpen(t, path, Options{})
	steps := exchangeSteps(401, 50)
	for i := range layout.MergeEntries {
		steps[2].Keys = append(steps[2].Keys, capture.Key{Kind: "many", Value: fmt.Sprint(i)})
	}
	mustAppend(t, s, steps...)
	mustClose(t, s)
	if young, merged := runs(); young != 0 || merged != 2 {
		t.Errorf("%d young runs and %d merged, want 0 and 2", young, merged)
	}
}

// TestStreamNamesItsTaskOnce has every event name the task, as describers do.
func TestStreamNamesItsTaskOnce(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(1, 50)[0])
	for k := 1; k <= 100; k++ {
		step := event(1, k)
		step.Keys = []capture.Key{{Kind: "task", Value: "t-1"}}
		mustAppend(t, s, step)
		s.Flush()
	}
	expect.Equal(t, "entries", 1, len(s.writer.young.Entries))
}
