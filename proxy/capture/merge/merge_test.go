package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// run merges recordings, and counts that no step was lost.
func run(t *testing.T, recordings []Recording) (*Merger, *capture.Memory) {
	t.Helper()
	merged := capture.NewMemory(capture.Info{})
	m := New(merged, Options{})
	for _, r := range recordings {
		m.Add(r)
	}
	must.Do(t, m.Run(context.Background()))
	checkCount(t, m, merged, recordings)
	return m, merged
}

// checkCount checks that each step that went in came out, or was folded or said to be left out.
func checkCount(t *testing.T, m *Merger, merged *capture.Memory, recordings []Recording) {
	t.Helper()
	in, out, added := uint64(0), uint64(0), uint64(0)
	for _, r := range recordings {
		for _, err := range r.Source.Steps(context.Background(), 1) {
			must.Do(t, err)
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
	expect.Equal(t, "the merged captures differ", printed(t, got), printed(t, want))
}

func printed(t *testing.T, src capture.Source) string {
	t.Helper()
	var out strings.Builder
	for s, err := range src.Steps(context.Background(), 1) {
		must.Do(t, err)
		fmt.Fprintf(&out, "%d %s %+v\n", s.Seq, s.Offset, s.What)
	}
	return out.String()
}

// Secrets that were hidden with the same key are compared; those of two keys are not.
func TestOtherSecretsAreOtherRequests(t *testing.T) {
	const one, two, keyA, keyB = "0123456789abcdef", "fedcba9876543210", ".11111111", ".22222222"
	for _, c := range []struct {
		outer, inner string
		want         int
	}{
		{one + keyA, one + keyA, 1}, {one + keyA, two + keyA, 2}, {one + keyA, two + keyB, 1}, {one, two, 1},
	} {
		outer, inner := outerAsk(1), innerAsk(1)
		outer.body = strings.Replace(outer.body, "}}", `,"token":"redacted.`+c.outer+`"}}`, 1)
		inner.body = strings.Replace(inner.body, "}}", `,"token":"redacted.`+c.inner+`"}}`, 1)
		_, merged := run(t, []Recording{
			recorded(t, "west", capture.Info{}, noon, outer), recorded(t, "east", capture.Info{}, noon, inner),
		})
		expect.Equal(t, c.outer+" and "+c.inner, c.want, len(capturetest.ReadAll(t, merged)))
	}
}

// Where something was lost, two requests that are alike may be two, although they are the only ones that are there.
func TestGapsMakeDoubt(t *testing.T) {
	plain := func(a ask, at, took time.Duration) ask {
		a.method, a.body, a.at, a.took = "GET", "", time.Second+at*time.Millisecond, took*time.Millisecond
		return a
	}
	again := innerAsk(1)
	again.at, again.answer = again.at+time.Hour, `{"result":2}`
	for name, c := range map[string]struct {
		outer, inner []ask
		lost, want   int // how many are there in the end
	}{
		"of three calls on a connection each recorder lost another one": {
			[]ask{outerAsk(1), plain(outerAsk(1), 16, 4)}, []ask{innerAsk(1), plain(innerAsk(1), 12, 2)}, 1, 3,
		},
		"one call on a connection, at a time that fits only it": {
			[]ask{outerAsk(1), plain(outerAsk(1), 20, 12)}, []ask{innerAsk(1), plain(innerAsk(1), 25, 2)}, 1, 2,
		},
		"of two attempts each recorder lost another one": {[]ask{outerAsk(1)}, []ask{again}, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			info := capture.Info{LostExchanges: int64(c.lost)}
			m, merged := run(t, []Recording{
				recorded(t, "west", info, noon, c.outer...), recorded(t, "east", info, noon, c.inner...),
			})
			all := capturetest.ReadAll(t, merged)
			expect.Equal(t, "exchanges", c.want, len(all))
			if clocks := m.Summary().Clocks; c.inner[0].answer != c.outer[0].answer && len(all[0].Notes) > 0 {
				t.Errorf("they were compared: %q, %+v", all[0].Notes, clocks)
			}
		})
	}
}
