package recorder

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestRecordingRuntime(t *testing.T) {
	for _, name := range []string{"GOMAXPROCS", "GOGC", "GOMEMLIMIT"} {
		t.Setenv(name, "")
	}
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	processors, memory := runtime.GOMAXPROCS(0), limit()
	var r runtimeSetting
	r.begin()
	r.begin()
	r.adjust()
	if got := runtime.GOMAXPROCS(0); got != processors+sparePlaces {
		t.Errorf("two recordings have %d places to run, want %d", got, processors+sparePlaces)
	}
	if got := limit(); got < heapBudget || got == memory {
		t.Errorf("two recordings have a limit of %d bytes, want %d at least", got, heapBudget)
	}
	r.end()
	if got := runtime.GOMAXPROCS(0); got != processors+sparePlaces {
		t.Errorf("one recording has %d places to run, want %d", got, processors+sparePlaces)
	}
	r.end()
	if got := runtime.GOMAXPROCS(0); got != processors {
		t.Errorf("after the last recording there are %d places to run, want %d", got, processors)
	}
	if got := limit(); got != memory {
		t.Errorf("after the last recording the limit is %d bytes, want %d", got, memory)
	}
}

func TestRecordingRuntimeKeepsWhatTheUserSet(t *testing.T) {
	t.Setenv("GOMAXPROCS", "1")
	t.Setenv("GOGC", "50")
	limit := debug.SetMemoryLimit(-1)
	processors := runtime.GOMAXPROCS(0)
	var r runtimeSetting
	r.begin()
	r.adjust()
	if got := runtime.GOMAXPROCS(0); got != processors {
		t.Errorf("there are %d places to run, want %d", got, processors)
	}
	if got := debug.SetMemoryLimit(-1); got != limit {
		t.Errorf("the limit is %d bytes, want %d", got, limit)
	}
	r.end()
}

// The limit keeps away from what is in use.
func TestMemoryLimit(t *testing.T) {
	for live, want := range map[uint64]int64{0: heapBudget, 30 << 20: heapBudget, 100 << 20: 100<<20 + heapSpare} {
		if got := memoryLimit(live); got != want {
			t.Errorf("%d bytes in use: the limit is %d, want %d", live, got, want)
		}
	}
}
