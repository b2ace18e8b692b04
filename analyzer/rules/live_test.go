package rules_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// Following a recording while it grows finds what judging the finished capture finds, in the same order. The exchanges
// of each transcript overlap at random, so that any order of arrival is tried that keeps the order within an exchange.
func TestLiveFindsTheSame(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, path := range sample(t) {
		random := rulestest.Random(path)
		exchanges := rulestest.Exchanges(t, path)
		for range orders {
			steps := shuffle(random, exchanges)
			want := findings(steps)
			if diff := cmp.Diff(want, follow(t, random, steps)); diff != "" {
				t.Errorf("%s: live findings differ (-whole +live):\n%s", path, diff)
			}
		}
	}
}

// The findings do not depend on how bodies are cut into pieces.
func TestChunkingDoesNotMatter(t *testing.T) {
	t.Parallel()
	for _, path := range sample(t) {
		random := rulestest.Random(path)
		exchanges := rulestest.Exchanges(t, path)
		whole := shuffle(random, exchanges)
		if diff := cmp.Diff(findings(whole), findings(cutBodies(random, whole))); diff != "" {
			t.Errorf("%s: findings depend on the pieces of bodies (-whole +pieces):\n%s", path, diff)
		}
	}
}

// If calls overlap and their order is unknown, no rule assumes an order. A rule that is broken in some order of arrival
// is also broken in the true one, where another rule may cover it.
func TestOverlapsProveNothing(t *testing.T) {
	t.Parallel()
	for _, path := range sample(t) {
		random := rulestest.Random(path)
		exchanges := rulestest.Exchanges(t, path)
		want := make(map[string]bool)
		for _, f := range rulestest.FindingsIn(t, path) {
			want[f.Rule.ID] = true
			want[string(f.Cause)] = f.Cause != ""
			for _, id := range f.Also {
				want[id] = true
			}
		}
		for range orders {
			for _, f := range run(overlap(random, exchanges)) {
				if !want[f.Rule.ID] && !want[string(f.Cause)] {
					t.Errorf("%s: when all exchanges overlap, there is also %s", path, &f)
				}
			}
		}
	}
}

// shuffle returns the steps of the exchanges in a random order that keeps the order within each.
func shuffle(random *rand.Rand, exchanges []*capture.Exchange) []capture.Step {
	var queues [][]capture.Step
	for _, x := range exchanges {
		queues = append(queues, capture.Steps(x))
	}
	return merge(random, nil, queues)
}

// overlap returns the steps of the exchanges in a random order in which all exchanges of a recording begin before any
// response. Notifications to a webhook follow the requests, since one of them has configured it. An appended recording
// follows the earlier one, whose exchanges have all ended.
func overlap(random *rand.Rand, exchanges []*capture.Exchange) []capture.Step {
	var steps []capture.Step
	begun := 0
	for i, x := range exchanges {
		if i > begun && slices.Contains(x.Notes, capture.Resumed) {
			steps, begun = overlapAll(random, steps, exchanges[begun:i]), i
		}
	}
	return overlapAll(random, steps, exchanges[begun:])
}

// overlapAll appends to steps those of exchanges that all overlap.
func overlapAll(random *rand.Rand, opened []capture.Step, exchanges []*capture.Exchange) []capture.Step {
	var calls, deliveries [][]capture.Step
	for _, x := range exchanges {
		steps := capture.Steps(x)
		opened = append(opened, steps[0])
		if head := capture.ParseRequestHead(x.Request.Head); strings.HasPrefix(head.Target, "/hook") {
			deliveries = append(deliveries, steps[1:])
		} else {
			calls = append(calls, steps[1:])
		}
	}
	merged := merge(random, nil, calls)
	asked := 0
	for i, s := range merged {
		if _, ok := s.What.(capture.RequestEnd); ok {
			asked = i + 1
		}
	}
	return merge(random, append(opened, merged[:asked]...), append(deliveries, merged[asked:]))
}

func merge(random *rand.Rand, merged []capture.Step, queues [][]capture.Step) []capture.Step {
	for len(queues) > 0 {
		i := random.IntN(len(queues))
		if len(queues[i]) == 0 {
			queues = append(queues[:i:i], queues[i+1:]...)
			continue
		}
		merged = append(merged, queues[i][0])
		queues[i] = queues[i][1:]
	}
	for i := range merged {
		merged[i].Arrival = uint64(i + 1)
	}
	return merged
}

// cutBodies returns the steps with every body in pieces of random length.
func cutBodies(random *rand.Rand, steps []capture.Step) []capture.Step {
	var cut []capture.Step
	for _, s := range steps {
		var data []byte
		var piece func(data []byte) capture.What
		switch what := s.What.(type) {
		case capture.RequestBody:
			data, piece = what.Data, func(d []byte) capture.What { w := what; w.Data = d; return w }
		case capture.ResponseBody:
			data, piece = what.Data, func(d []byte) capture.What { w := what; w.Data = d; return w }
		}
		for len(data) > 1 {
			n := 1 + random.IntN(len(data)-1)
			first := s
			first.What = piece(data[:n])
			data = data[n:]
			s.What = piece(data)
			if whole(first.What) {
				break
			}
			cut = append(cut, first)
		}
		cut = append(cut, s)
	}
	for i := range cut {
		cut[i].Arrival = uint64(i + 1)
	}
	return cut
}

// whole reports whether a piece says that bytes were dropped behind it: it is the last one.
func whole(what capture.What) bool {
	switch w := what.(type) {
	case capture.RequestBody:
		return w.Dropped > 0
	case capture.ResponseBody:
		return w.Dropped > 0
	}
	return false
}

// run returns all findings of the steps.
func run(steps []capture.Step) []analysis.Finding {
	e := engine.New(rules.All)
	var all []analysis.Finding
	for _, s := range steps {
		all = append(all, e.Step(s)...)
	}
	return append(all, e.End(false)...)
}

func findings(steps []capture.Step) []string { return lines(run(steps)) }

// follow records the steps in batches of random size while they are judged.
func follow(t *testing.T, random *rand.Rand, steps []capture.Step) []string {
	t.Helper()
	memory := capture.NewMemory(capture.Info{})
	followed := make(chan []string)
	go func() {
		var got []string
		_, err := engine.Follow(t.Context(), rules.All, memory, func(f analysis.Finding) { got = append(got, f.String()) })
		if err != nil {
			t.Error(err)
		}
		followed <- got
	}()
	for len(steps) > 0 {
		n := 1 + random.IntN(len(steps))
		must.Do(t, memory.Append(steps[:n]...))
		steps = steps[n:]
	}
	must.Do(t, memory.Close())
	return <-followed
}
