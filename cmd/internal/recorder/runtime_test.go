package recorder

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"a2atap/proxy/expect"
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
	expect.Equal(t, "places to run of two recordings", processors+sparePlaces, runtime.GOMAXPROCS(0))
	if got := limit(); got < heapBudget || got == memory {
		t.Errorf("two recordings have a limit of %d bytes, want %d at least", got, heapBudget)
	}
	r.end()
	expect.Equal(t, "places to run of one recording", processors+sparePlaces, runtime.GOMAXPROCS(0))
	r.end()
	expect.Equal(t, "places to run after the last recording", processors, runtime.GOMAXPROCS(0))
	expect.Equal(t, "the limit after the last recording", memory, limit())
}

func TestRecordingRuntimeKeepsWhatTheUserSet(t *testing.T) {
	t.Setenv("GOMAXPROCS", "1")
	t.Setenv("GOGC", "50")
	limit := debug.SetMemoryLimit(-1)
	processors := runtime.GOMAXPROCS(0)
	var r runtimeSetting
	r.begin()
	r.adjust()
	expect.Equal(t, "places to run", processors, runtime.GOMAXPROCS(0))
	expect.Equal(t, "the limit", limit, debug.SetMemoryLimit(-1))
	r.end()
}

// The limit keeps away from what is in use.
func TestMemoryLimit(t *testing.T) {
	for live, want := range map[uint64]int64{0: heapBudget, 30 << 20: heapBudget, 100 << 20: 100<<20 + heapSpare} {
		expect.Equal(t, fmt.Sprintf("%d bytes in use: the limit", live), want, memoryLimit(live))
	}
}
