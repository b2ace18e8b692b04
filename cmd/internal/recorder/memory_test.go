package recorder

import (
	"testing"
	"time"

	"a2atap/cmd/internal/cmdtest"
)

func TestMemoryIsGivenBackWhenIdle(t *testing.T) {
	var at, held uint64
	var busy bool
	freed, trimmed := 0, uint64(0)
	clock := time.Unix(0, 0)
	k := &memoryKeeper{
		position: func() uint64 { return at }, trim: func() { trimmed = at }, busy: func() bool { return busy },
		now:  func() time.Time { return clock },
		held: func() uint64 { return held },
		free: func() { freed++; held = 1000; clock = clock.Add(10 * time.Millisecond) },
	}
	steps := []struct {
		what string
		do   func()
		want int
	}{
		{"nothing was recorded", func() {}, 0},
		{"something is being recorded", func() { at = 5 }, 0},
		{"it waits to be stored", func() { busy = true }, 0},
		{"it is stored", func() { busy = false }, 1},
		{"nothing since", func() {}, 1},
		{"something again", func() { at = 6 }, 1},
		{"idle, but too soon after", func() {}, 1},
		{"idle, later", func() { clock = clock.Add(idleShare * 10 * time.Millisecond) }, 2},
		{"much again", func() { at, held = 7, 1000+much }, 2},
		{"idle, with much to give back, but too soon", func() { clock = clock.Add(muchShare*10*time.Millisecond - 1) }, 2},
		{"a moment later", func() { clock = clock.Add(1) }, 3},
		{"not so much", func() { at, held = 8, 1000+much-1 }, 3},
		{"idle, but too soon for little", func() { clock = clock.Add(muchShare * 10 * time.Millisecond) }, 3},
		{"idle, much later", func() { clock = clock.Add(idleShare * 10 * time.Millisecond) }, 4},
	}
	for _, step := range steps {
		step.do()
		k.check()
		if trimmed != at {
			t.Fatalf("%s: memory was last looked at at %d, want %d", step.what, trimmed, at)
		}
		if freed != step.want {
			t.Fatalf("%s: memory was given back %d times, want %d", step.what, freed, step.want)
		}
	}
}

// TestMemoryOfARecording asks a recording what its memoryKeeper goes by.
func TestMemoryOfARecording(t *testing.T) {
	t.Parallel()
	r := recordInto(t, recorded(t))
	k := r.keepMemory()
	if k.held() == 0 || k.busy() || k.position() != k.given {
		t.Errorf("it holds %d bytes, is busy %t, and came from %d to %d", k.held(), k.busy(), k.given, k.position())
	}
	k.trim()
	cmdtest.Stop(t, r)
}
