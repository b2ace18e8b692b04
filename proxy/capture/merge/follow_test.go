package merge

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// followed follows two recordings that grow, and returns what was merged in the end. Play is called in the bubble.
func followed(t *testing.T, play func(outer, inner *capture.Memory)) []*capture.Exchange {
	t.Helper()
	var all []*capture.Exchange
	synctest.Test(t, func(t *testing.T) {
		outer, inner := capture.NewMemory(capture.Info{}), capture.NewMemory(capture.Info{})
		merged := capture.NewMemory(capture.Info{})
		m := New(merged, Options{})
		m.Add(Recording{Host: "west", Name: "west", Source: outer})
		done := make(chan error)
		go func() { done <- m.Follow(t.Context()) }()
		time.Sleep(100 * time.Millisecond)
		m.Add(Recording{Host: "east", Name: "east", Source: inner})
		play(outer, inner)
		for _, memory := range []*capture.Memory{outer, inner} {
			expect.OK(t, memory.Close())
		}
		expect.OK(t, <-done)
		all = capturetest.ReadAll(t, merged)
	})
	return all
}

func appended(t *testing.T, to *capture.Memory, steps []capture.Step) {
	t.Helper()
	expect.OK(t, to.Append(steps...))
}

func TestFollow(t *testing.T) {
	soon, late := 300*time.Millisecond, 3*time.Second
	for name, c := range map[string]struct {
		outer, inner time.Duration // when what is recorded comes
		want         int
		client       string
	}{
		"both at once":             {0, 0, 1, "shop"},
		"inner view a moment late": {0, soon, 1, "shop"},
		"outer view a moment late": {soon, 0, 1, "shop"},
		"inner view too late":      {0, late, 1, "shop"},
		"outer view too late":      {late, 0, 1, "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			all := followed(t, func(outer, inner *capture.Memory) {
				first, second := outer, inner
				steps := [][]capture.Step{outerAsk(1).steps(1, noon), innerAsk(1).steps(1, noon)}
				if c.outer > c.inner {
					first, second = inner, outer
					steps[0], steps[1] = steps[1], steps[0]
				}
				appended(t, first, steps[0])
				time.Sleep(c.outer + c.inner)
				appended(t, second, steps[1])
				time.Sleep(late)
			})
			if len(all) != c.want || all[0].Client.Name != c.client || len(all[0].Notes) != 1 {
				t.Fatalf("got %d exchanges: %+v", len(all), all[0])
			}
		})
	}
}

// What one recorder saw last before it is followed waits for what others saw of it, and so does the first that is read of
// a recorder; what is older is there at once.
func TestFollowBegins(t *testing.T) {
	for name, later := range map[string]bool{"inner recorder there": false, "inner recorder later": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				outer, inner := capture.NewMemory(capture.Info{}), capture.NewMemory(capture.Info{})
				merged := capture.NewMemory(capture.Info{})
				old := outerAsk(1)
				old.path = "/old"
				appended(t, outer, old.steps(1, noon.Add(-time.Minute)))
				appended(t, outer, outerAsk(2).steps(2, noon))
				m := New(merged, Options{})
				m.Add(Recording{Host: "west", Name: "west", Source: outer})
				if !later {
					m.Add(Recording{Host: "east", Name: "east", Source: inner})
				}
				done := make(chan error)
				go func() { done <- m.Follow(t.Context()) }()
				time.Sleep(300 * time.Millisecond)
				if all := capturetest.ReadAll(t, merged); len(all) != 1 {
					t.Errorf("at first %d exchanges are there, want the old one", len(all))
				}
				appended(t, inner, innerAsk(2).steps(1, noon))
				if later {
					m.Add(Recording{Host: "east", Name: "east", Source: inner})
				}
				time.Sleep(2 * m.options.Window)
				inners := capturetest.ReadAll(t, merged)
				if len(inners) != 2 || inners[1].Agent.Name != "invoices" {
					t.Errorf("got %d exchanges, the last with %q", len(inners), inners[len(inners)-1].Agent.Name)
				}
				for _, memory := range []*capture.Memory{outer, inner} {
					expect.OK(t, memory.Close())
				}
				expect.OK(t, <-done)
			})
		})
	}
}

// A recorder's notes about an exchange come before the exchange's end, whichever recorder saw something last before
// Follow began.
func TestFollowBeginsWithNotes(t *testing.T) {
	const note = capture.FaultMadeHere + "status=500"
	for name, later := range map[string]struct{ outer, inner time.Duration }{
		"both end with it": {0, 0},
		"inner goes on":    {0, 5 * time.Second},
		"outer goes on":    {5 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				outer, inner := capture.NewMemory(capture.Info{}), capture.NewMemory(capture.Info{})
				merged := capture.NewMemory(capture.Info{})
				faulted := innerAsk(1)
				faulted.facts = []capture.Fact{{Note: note}}
				appended(t, outer, outerAsk(1).steps(1, noon))
				appended(t, inner, faulted.steps(1, noon))
				other := outerAsk(2)
				other.path, other.agent.URL, other.host = "/other", "http://elsewhere:1", "elsewhere:2"
				if later.inner > 0 {
					appended(t, inner, other.steps(2, noon.Add(later.inner)))
				}
				if later.outer > 0 {
					appended(t, outer, other.steps(2, noon.Add(later.outer)))
				}
				m := New(merged, Options{})
				m.Add(Recording{Host: "west", Name: "west", Source: outer})
				m.Add(Recording{Host: "east", Name: "east", Source: inner})
				done := make(chan error)
				go func() { done <- m.Follow(t.Context()) }()
				time.Sleep(10 * m.options.Window)
				outer.Close()
				inner.Close()
				expect.OK(t, <-done)
				said, closed := 0, false
				for s, err := range merged.Steps(t.Context(), 1) {
					must.Do(t, err)
					switch what := s.What.(type) {
					case capture.Closed:
						closed = closed || s.Seq == 1
					case capture.Fact:
						if what.Note == note && !closed {
							said++
						}
					}
				}
				if said != 1 {
					t.Errorf("before its end it occurs %d times that a fault was made", said)
				}
			})
		})
	}
}

// An answer that turns out to be another one while it passes makes two of what was taken for one.
func TestFollowSeparates(t *testing.T) {
	all := followed(t, func(outer, inner *capture.Memory) {
		x, y := outerAsk(1), innerAsk(1)
		x.answer = `{"result":2}`
		a, b := x.steps(1, noon), y.steps(1, noon)
		appended(t, outer, a[:4])
		appended(t, inner, b[:4])
		time.Sleep(3 * time.Second)
		appended(t, inner, b[4:])
		appended(t, outer, a[4:])
		time.Sleep(3 * time.Second)
	})
	if len(all) != 2 {
		t.Fatalf("got %d exchanges, want two", len(all))
	}
	for i, x := range all {
		if x.Response == nil || !x.Response.Body.Complete || x.State != capture.StateClosed || len(x.Notes) != 1 {
			t.Errorf("exchange %d is not whole: %+v", i+1, x)
		}
	}
}

// What grows in several recordings at once is merged without a wrong pair, and all of it is there in the end.
func TestFollowWorlds(t *testing.T) {
	for seed := range uint64(12) {
		w := newWorld(seed, 2+int(seed%4))
		w.losses = seed%3 == 1
		w.play(t, 12, 8)
		synctest.Test(t, func(t *testing.T) {
			memories := make(map[*worldHost]*capture.Memory)
			merged := capture.NewMemory(capture.Info{})
			m := New(merged, Options{})
			for _, h := range w.hosts {
				name := fmt.Sprintf("host%d", h.n)
				memories[h] = capture.NewMemory(capture.Info{Name: name})
				m.Add(Recording{Host: name, Name: name, Source: memories[h]})
			}
			done := make(chan error)
			go func() { done <- m.Follow(t.Context()) }()
			for i, e := range w.events {
				offset := w.clock(e.host, e.at).Sub(e.x.own)
				appended(t, memories[e.host], []capture.Step{{Seq: e.x.seq, Offset: offset, What: e.what}})
				if i%40 == 0 {
					time.Sleep(700 * time.Millisecond)
				}
			}
			for _, memory := range memories {
				expect.OK(t, memory.Close())
			}
			expect.OK(t, <-done)
			if p := w.pairs(t, m); p.missed > 0 {
				t.Errorf("world %d: %d requests with ids of their own were not recognised", seed, p.missed)
			}
			twice := 0 // a request may come in two parts, with the window between them
			for _, r := range m.recorders {
				for _, x := range r.exchanges {
					if x.root().out == 0 {
						t.Errorf("world %d: exchange %d of %s is not there", seed, x.seq, r.Host)
					}
					if x.own && x.down != nil && !x.down.apart && x.root() != x.down.root() {
						twice++
					}
				}
			}
			if twice > 2 {
				t.Errorf("world %d: %d requests are there twice, although they were recognised in time", seed, twice)
			}
		})
	}
}

// What waits for a recorder that saw the same, and of which nothing comes any more, is written all the same.
func TestFollowDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, inner := capture.NewMemory(capture.Info{}), capture.NewMemory(capture.Info{})
		merged := capture.NewMemory(capture.Info{})
		m := New(merged, Options{})
		m.Add(Recording{Host: "west", Name: "west", Source: outer})
		m.Add(Recording{Host: "east", Name: "east", Source: inner})
		done := make(chan error)
		go func() { done <- m.Follow(t.Context()) }()
		time.Sleep(100 * time.Millisecond)
		appended(t, outer, outerAsk(1).steps(1, noon))
		appended(t, inner, innerAsk(1).steps(1, noon)[:3])
		time.Sleep(m.options.Window * 3 / 2)
		if x := capturetest.ReadAll(t, merged)[0]; x.Response != nil {
			t.Errorf("the answer did not wait for the other recorder: %+v", x)
		}
		time.Sleep(m.options.Window)
		if x := capturetest.ReadAll(t, merged)[0]; x.Response == nil || x.State != capture.StateClosed {
			t.Errorf("the answer is not there: %+v", x)
		}
		for _, memory := range []*capture.Memory{outer, inner} {
			expect.OK(t, memory.Close())
		}
		expect.OK(t, <-done)
	})
}
