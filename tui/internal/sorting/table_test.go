package sorting

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

var dawn = time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)

// sample has two contexts, one with two tasks, a task without a known context, and an exchange about nothing.
func sample() *Table {
	r := &Table{}
	put := func(seq uint64, start, took time.Duration, size int64, context, task string, s a2a.State) {
		r.Put(seq, Facts{
			Started: dawn.Add(start), Took: took, Size: size, Context: context, Task: task, State: s,
			Failed: s == a2a.Failed,
		})
	}
	put(1, 0, time.Second, 10, "", "", 0)
	put(2, 1*time.Second, 3*time.Second, 500, "trip", "plan", a2a.Working)
	put(3, 5*time.Second, time.Second, 100, "", "plan", a2a.Completed) // its context is known from the one before
	put(4, 2*time.Second, capture.NotKnown, 0, "trip", "book", a2a.Failed)
	put(5, 9*time.Second, 2*time.Second, 7000, "other", "look", a2a.Working)
	put(6, 10*time.Second, time.Second, 1, "", "lost", a2a.Submitted)
	put(7, 11*time.Second, time.Second, 1, "trip", "", 0)
	put(8, 12*time.Second, time.Second, 1, "", "book", a2a.Working) // seen late: the task has failed
	return r
}

func arranged(t testing.TB, r *Table, p Plan) *Arrangement {
	t.Helper()
	if p.Exchanges == 0 {
		p.Exchanges = r.Len()
	}
	a, err := r.Arrange(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// rows writes an arrangement as it is seen.
func rows(a *Arrangement) []string {
	var list []string
	for i := range a.Rows() {
		row := a.Row(i)
		words := strings.Repeat("  ", row.Level)
		if row.Heading < 0 {
			list = append(list, words+fmt.Sprint(row.Exchange))
			continue
		}
		h := a.Heading(row.Heading)
		words += fmt.Sprintf("[%s %s %d] %d, %v, %d B", h.Context, h.Task, h.Workflow, h.Exchanges, h.Took, h.Size)
		for _, s := range h.States {
			words += fmt.Sprintf(", %d %s", s.Count, s.State)
		}
		list = append(list, words)
	}
	return list
}

func sees(t *testing.T, what string, a *Arrangement, want ...string) {
	t.Helper()
	expect.Same(t, what, want, rows(a))
}

func TestGroups(t *testing.T) {
	r := sample()
	sees(t, "by context and task", arranged(t, r, Plan{Under: ByTask}),
		"[trip  0] 5, 12s, 602 B, 1 completed, 1 failed",
		"  7",
		"  [trip plan 0] 2, 5s, 600 B, 1 completed",
		"    2",
		"    3",
		"  [trip book 0] 2, 11s, 1 B, 1 failed",
		"    4",
		"    8",
		"[other look 0] 1, 2s, 7000 B, 1 working",
		"  5",
		"[  0] 2, 11s, 11 B, 1 submitted",
		"  1",
		"  [ lost 0] 1, 1s, 1 B, 1 submitted",
		"    6",
	)
	begins := map[uint64]uint64{1: 1, 2: 2, 3: 2, 4: 4, 5: 5, 6: 6, 7: 2, 8: 8}
	sees(t, "by workflow", arranged(t, r, Plan{Under: ByWorkflow, Workflow: func(n uint64) uint64 { return begins[n] }}),
		"1",
		"[  2] 3, 11s, 601 B, 1 completed",
		"  2",
		"  3",
		"  7",
		"4", "5", "6", "8",
	)
	sees(t, "those that a filter has chosen", arranged(t, r, Plan{Under: ByTask, Chosen: []uint64{4, 5, 8}}),
		"[trip book 0] 2, 11s, 1 B, 1 failed", "  4", "  8", "[other look 0] 1, 2s, 7000 B, 1 working", "  5")
	sees(t, "none", arranged(t, r, Plan{Under: ByTask, Chosen: []uint64{}}))
}

func TestOrders(t *testing.T) {
	r := sample()
	worst := make([]uint8, 9)
	worst[3], worst[6], worst[7] = 1, 3, 3
	order := func(by Order, reversed bool) []uint64 {
		a := arranged(t, r, Plan{By: by, Reversed: reversed, Worst: worst})
		var list []uint64
		for i := range a.Len() {
			list = append(list, a.At(i))
			if row, there := a.RowOf(a.At(i)); !there || row != i || a.Place(a.At(i)) != i {
				t.Errorf("exchange %d is said to be at %d, not %d", a.At(i), row, i)
			}
		}
		return list
	}
	for _, c := range []struct {
		name     string
		by       Order
		reversed bool
		want     []uint64
	}{
		{"number", ByNumber, false, []uint64{1, 2, 3, 4, 5, 6, 7, 8}},
		{"number, last first", ByNumber, true, []uint64{8, 7, 6, 5, 4, 3, 2, 1}},
		{"time", ByTime, false, []uint64{1, 2, 4, 3, 5, 6, 7, 8}},
		{"time, latest first", ByTime, true, []uint64{8, 7, 6, 5, 3, 4, 2, 1}},
		{"duration", ByDuration, false, []uint64{2, 5, 1, 3, 6, 7, 8, 4}},
		{"duration, shortest first; what is open stays last", ByDuration, true, []uint64{1, 3, 6, 7, 8, 5, 2, 4}},
		{"size", BySize, false, []uint64{5, 2, 3, 1, 6, 7, 8, 4}},
		{"worst finding", ByWorst, false, []uint64{6, 7, 3, 1, 2, 4, 5, 8}},
	} {
		expect.Same(t, c.name, c.want, order(c.by, c.reversed))
	}
	sees(t, "groups by duration, longest first", arranged(t, r, Plan{
		By: ByDuration, Under: ByTask, Chosen: []uint64{2, 3, 4, 5},
	}),
		"[trip  0] 3, 5s, 600 B, 1 completed, 1 failed",
		"  [trip plan 0] 2, 5s, 600 B, 1 completed", "    2", "    3",
		"  [trip book 0] 1, 0s, 0 B, 1 failed", "    4",
		"[other look 0] 1, 2s, 7000 B, 1 working", "  5")
}

func TestFolding(t *testing.T) {
	a := arranged(t, sample(), Plan{Under: ByTask, Chosen: []uint64{2, 3, 4, 5, 7}})
	var f Folds
	context := a.Heading(a.Row(0).Heading).Key
	plan := a.Heading(a.Row(2).Heading).Key
	f.Fold(plan, true)
	a.Lay(&f)
	sees(t, "a task folded", a,
		"[trip  0] 4, 11s, 601 B, 1 completed, 1 failed", "  7", "  [trip plan 0] 2, 5s, 600 B, 1 completed",
		"  [trip book 0] 1, 0s, 0 B, 1 failed", "    4", "[other look 0] 1, 2s, 7000 B, 1 working", "  5")
	if row, _ := a.RowOf(3); row != 2 {
		t.Errorf("a folded exchange is at row %d, want 2, its heading", row)
	}
	f.Fold(context, true)
	a.Lay(&f)
	sees(t, "its context folded too", a,
		"[trip  0] 4, 11s, 601 B, 1 completed, 1 failed", "[other look 0] 1, 2s, 7000 B, 1 working", "  5")
	for _, n := range []uint64{2, 3, 4, 7} {
		if row, there := a.RowOf(n); row != 0 || !there {
			t.Errorf("exchange %d is at row %d, want 0, its outer heading", n, row)
		}
	}
	if row, there := a.RowOfHeading(plan, 0); row != 0 || !there {
		t.Errorf("the hidden heading is at row %d, want 0", row)
	}
	expect.Same(t, "headings of 3", []Key{context, plan}, a.Keys(3))
	f.FoldAll(true)
	a.Lay(&f)
	sees(t, "all folded", a,
		"[trip  0] 4, 11s, 601 B, 1 completed, 1 failed", "[other look 0] 1, 2s, 7000 B, 1 working")
	f.Fold(context, false)
	a.Lay(&f)
	sees(t, "one of them unfolded", a,
		"[trip  0] 4, 11s, 601 B, 1 completed, 1 failed", "  7", "  [trip plan 0] 2, 5s, 600 B, 1 completed",
		"  [trip book 0] 1, 0s, 0 B, 1 failed", "[other look 0] 1, 2s, 7000 B, 1 working")
	if _, there := a.RowOf(1); there {
		t.Error("an exchange that was not chosen has a row")
	}
	if _, there := a.RowOf(1 << 40); there {
		t.Error("an exchange beyond the capture has a row")
	}
}

// However it is grouped, sorted and folded, rows and exchanges lead to each other, and each exchange is seen once.
func TestRowsAndExchanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		r := &Table{}
		n := 1 + random.IntN(60)
		for seq := range n {
			x := Facts{Started: dawn.Add(time.Duration(random.IntN(1000))), Took: time.Duration(random.IntN(9) - 1)}
			if k := random.IntN(4); k > 0 {
				x.Context = fmt.Sprint("c", k)
			}
			if k := random.IntN(5); k > 0 {
				x.Task = fmt.Sprint("t", k)
			}
			r.Put(uint64(seq)+1, x)
		}
		a := arranged(t, r, Plan{
			By: Order(random.IntN(int(Orders))), Reversed: random.IntN(2) > 0, Under: Grouping(random.IntN(int(Groupings))),
			Workflow: func(n uint64) uint64 { return 1 + n/5 },
		})
		folds := Folds{}
		folds.FoldAll(random.IntN(2) > 0)
		for range 6 {
			a.Lay(&folds)
			seen := 0
			for i := range a.Rows() {
				row := a.Row(i)
				if row.Heading >= 0 {
					if back, there := a.RowOfHeading(a.Heading(row.Heading).Key, random.IntN(5)-1); back != i || !there {
						t.Fatalf("heading %d in row %d is said to be in %d", row.Heading, i, back)
					}
					continue
				}
				seen++
				if back, there := a.RowOf(row.Exchange); back != i || !there {
					t.Fatalf("exchange %d in row %d is said to be in %d", row.Exchange, i, back)
				}
			}
			if !folds.All() && len(folds.except) == 0 && seen != n {
				t.Fatalf("of %d exchanges %d are seen", n, seen)
			}
			if keys := a.Keys(uint64(1 + random.IntN(n))); len(keys) > 0 {
				k := keys[random.IntN(len(keys))]
				folds.Fold(k, !folds.Folded(k))
			}
			if row := a.Row(random.IntN(a.Rows())); row.Heading >= 0 {
				a.Fold(row.Heading, random.IntN(2) > 0, &folds)
			}
		}
		all := slices.Clone(a.seqs)
		slices.Sort(all)
		for i, seq := range all {
			if seq != uint32(i)+1 {
				t.Fatalf("exchanges are %d", all)
			}
		}
	}
}

func TestIDs(t *testing.T) {
	var d ids
	for i := range 10_000 {
		if got := d.number(fmt.Sprint("task-", i)); int(got) != i+1 {
			t.Fatalf("id %d is %d", i, got)
		}
	}
	then := d.names
	for i := range 10_000 {
		if got := d.number(fmt.Sprint("task-", i)); int(got) != i+1 {
			t.Fatalf("id %d is %d the second time", i, got)
		}
	}
	long := strings.Repeat("x", 1<<20)
	a, b := d.number(long+"a"), d.number(long+"b")
	if a == b || len(d.of(a)) > longID || d.number("") != 0 || d.of(0) != "" {
		t.Errorf("two long ids are %d %d, of %d bytes", a, b, len(d.of(a)))
	}
	expect.Equal(t, "the seventh", "task-6", then.of(7))
}

func TestArrangeEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sample().Arrange(ctx, Plan{Exchanges: 8}); err == nil {
		t.Error("arranging went on after its context had ended")
	}
	if _, err := sample().Arrange(t.Context(), Plan{Exchanges: 1 << 33}); err == nil {
		t.Error("more exchanges than numbers")
	}
}

// What the documentation says of memory.
func TestSizes(t *testing.T) {
	expect.Equal(t, "bytes of a heading", 64, unsafe.Sizeof(group{}))
}

// million returns the facts of a million exchanges: four per task, two tasks per context.
func million() *Table {
	r := &Table{}
	random := rand.New(rand.NewPCG(3, 4))
	for n := range uint64(1_000_000) {
		r.Put(n+1, Facts{
			Started: dawn.Add(time.Duration(n) * time.Millisecond), Took: time.Duration(random.IntN(1e9)),
			Size: int64(random.IntN(1e6)), Task: fmt.Sprintf("5f0c8a6e-%012d", n/4), Context: fmt.Sprintf("c-%012d", n/8),
			State: a2a.Completed,
		})
	}
	return r
}

func BenchmarkArrangeMillion(b *testing.B) {
	r := million()
	for _, c := range []struct {
		name string
		plan Plan
	}{
		{"by duration", Plan{Exchanges: 1_000_000, By: ByDuration}},
		{"by task", Plan{Exchanges: 1_000_000, Under: ByTask}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				arranged(b, r, c.plan)
			}
		})
	}
}

// Folding is done while a key waits.
func BenchmarkFoldMillion(b *testing.B) {
	a := arranged(b, million(), Plan{Exchanges: 1_000_000, Under: ByTask})
	var f Folds
	k := a.Keys(500_000)[0]
	row, _ := a.RowOfHeading(k, 0)
	n := a.Row(row).Heading
	for b.Loop() {
		a.Fold(n, !f.Folded(k), &f)
		a.RowOfHeading(k, n)
	}
}
