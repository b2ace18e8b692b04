package recorder

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/expect"
)

func TestProcessorsAreSaturated(t *testing.T) {
	processors := uint64(runtime.NumCPU())
	for name, c := range map[string]struct {
		each, idle uint64 // of each processor, and of all together
		bytes      int64
		after      time.Duration
		saturated  bool
	}{
		"idle":                         {100, 100 * processors, 1, time.Second, false},
		"busy":                         {100, 0, 1, time.Second, true},
		"busy without traffic":         {100, 0, 0, time.Second, false},
		"a quarter of a processor":     {100, 25, 1, time.Second, false},
		"less than that":               {100, 24, 1, time.Second, true},
		"nobody knows":                 {0, 0, 1, time.Second, false},
		"too soon to say":              {100, 0, 1, sampleInterval - 1, false},
		"too long ago to be of use":    {100, 0, 1, 10 * sampleInterval, false},
		"as long as is still of a use": {100, 0, 1, 10*sampleInterval - 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				now := cpuTimes{all: 1000, idle: 10}
				m := newCPUMonitor()
				m.times = func() cpuTimes { return now }
				if m.saturated(5) {
					t.Error("it is saturated at the first sample")
				}
				now.all += c.each * processors
				now.idle += c.idle
				time.Sleep(c.after)
				expect.Equal(t, "saturated", c.saturated, m.saturated(5+c.bytes))
			})
		})
	}
}

func TestReadCPUTimes(t *testing.T) {
	first := readCPUTimes()
	if runtime.GOOS != "linux" {
		expect.Equal(t, "the times where nobody knows", cpuTimes{}, first)
		return
	}
	if first.all == 0 || first.idle > first.all {
		t.Errorf("the times are %+v", first)
	}
	if second := readCPUTimes(); second.all < first.all {
		t.Errorf("first %+v, then %+v", first, second)
	}
}
