package main

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"
)

func TestMachineIsFull(t *testing.T) {
	processors := uint64(runtime.NumCPU())
	for name, c := range map[string]struct {
		each, idle uint64 // of each processor, and of all together
		bytes      int64
		after      time.Duration
		full       bool
	}{
		"idle":                         {100, 100 * processors, 1, time.Second, false},
		"busy":                         {100, 0, 1, time.Second, true},
		"busy without traffic":         {100, 0, 0, time.Second, false},
		"a quarter of a processor":     {100, 25, 1, time.Second, false},
		"less than that":               {100, 24, 1, time.Second, true},
		"nobody knows":                 {0, 0, 1, time.Second, false},
		"too soon to say":              {100, 0, 1, machineEvery - 1, false},
		"too long ago to be of use":    {100, 0, 1, 10 * machineEvery, false},
		"as long as is still of a use": {100, 0, 1, 10*machineEvery - 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				now := times{all: 1000, idle: 10}
				m := newMachine()
				m.times = func() times { return now }
				if m.full(5) {
					t.Error("it is full at the first look")
				}
				now.all += c.each * processors
				now.idle += c.idle
				time.Sleep(c.after)
				if got := m.full(5 + c.bytes); got != c.full {
					t.Errorf("full: %t, want %t", got, c.full)
				}
			})
		})
	}
}

// The runtime knows what is asked of it: a name that it does not know is no error.
func TestCrowdedIsKnown(t *testing.T) {
	m := newMachine()
	m.crowded()
	if kind := m.sample[0].Value.Kind(); kind != metrics.KindUint64 {
		t.Fatalf("the runtime does not know %s", m.sample[0].Name)
	}
	if got := m.sample[0].Value.Uint64(); got < 1 || got > uint64(runtime.GOMAXPROCS(0)) {
		t.Errorf("Go runs on %d of %d processors", got, runtime.GOMAXPROCS(0))
	}
}

func TestProcessorTimes(t *testing.T) {
	first := processorTimes()
	if runtime.GOOS != "linux" {
		if first != (times{}) {
			t.Errorf("the times are %+v, where nobody knows", first)
		}
		return
	}
	if first.all == 0 || first.idle > first.all {
		t.Errorf("the times are %+v", first)
	}
	if second := processorTimes(); second.all < first.all {
		t.Errorf("first %+v, then %+v", first, second)
	}
}
