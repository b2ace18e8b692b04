package main

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// A machine says how busy the computer is. It is for one goroutine.
type machine struct {
	looked time.Time
	bytes  int64 // of traffic, by then
	used   times
	isFull bool
	times  func() times

	sample []metrics.Sample
}

// times are what the processors have done since the computer started, in any unit. All is zero where nobody knows.
type times struct{ all, idle uint64 }

const (
	machineEvery = 200 * time.Millisecond // at least, between two looks
	machineIdle  = 25                     // percent of one processor; the machine is full when less is idle of all of them
)

func newMachine() *machine {
	return &machine{times: processorTimes, sample: []metrics.Sample{{Name: "/sched/goroutines/running:goroutines"}}}
}

// full reports whether the machine has no time to spare for what could wait: its processors were hardly idle while
// traffic passed. bytes is how much of that there was until now.
func (m *machine) full(bytes int64) bool {
	now := time.Now()
	since := now.Sub(m.looked)
	if since < machineEvery {
		return m.isFull
	}
	used := m.times()
	all, idle := used.all-m.used.all, used.idle-m.used.idle
	busy := all > 0 && 100*idle*uint64(runtime.NumCPU()) < machineIdle*all
	m.isFull = busy && bytes != m.bytes && since < 10*machineEvery
	m.looked, m.bytes, m.used = now, bytes, used
	return m.isFull
}

// crowded reports whether Go runs on all processors that it may use. Nobody waits for the network then: what comes is
// noticed when somebody pauses.
func (m *machine) crowded() bool {
	metrics.Read(m.sample)
	v := m.sample[0].Value
	return v.Kind() == metrics.KindUint64 && v.Uint64() >= uint64(runtime.GOMAXPROCS(0))
}
