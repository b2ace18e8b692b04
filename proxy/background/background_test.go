package background

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/expect"
)

func TestWorkGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gave := 0
		defer func(before func()) { giveWay = before }(giveWay)
		giveWay = func() { gave++ }
		var u Urgency
		w := Work{Urgency: &u}
		for _, c := range []struct {
			what   string
			takes  time.Duration
			urgent bool
			want   int
		}{
			{"the first piece", 0, false, 1},
			{"a small piece", slice / 2, false, 1},
			{"another, which makes a slice", slice / 2, false, 2},
			{"a long piece", time.Second, false, 3},
			{"a long piece that cannot wait", time.Second, true, 3},
			{"one that can again", 0, false, 4},
		} {
			time.Sleep(c.takes)
			u.Set(c.urgent)
			w.GiveWay()
			if gave != c.want {
				t.Fatalf("%s: gave way %d times, want %d", c.what, gave, c.want)
			}
		}
	})
}

// A job that takes long does not give way until the next one begins.
func TestLongJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gave := 0
		defer func(before func()) { giveWay = before }(giveWay)
		giveWay = func() { gave++ }
		var w Work
		for job := 1; job <= 2; job++ {
			w.Begin()
			for range 3 {
				time.Sleep(patience / 2)
				w.GiveWay()
			}
			expect.Equal(t, fmt.Sprintf("after job %d: gave way", job), 2*job, gave)
		}
	})
}

func TestNoUrgency(t *testing.T) {
	var u *Urgency
	u.Set(true)
	if u.High() {
		t.Error("an urgency that nobody keeps is high")
	}
}

// BenchmarkGiveWay measures the cost of giving way when nothing else waits.
func BenchmarkGiveWay(b *testing.B) {
	for b.Loop() {
		yield()
	}
}
