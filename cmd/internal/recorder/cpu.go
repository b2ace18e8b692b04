package recorder

import (
	"runtime"
	"time"
)

// A cpuMonitor measures how busy the processors are. It is not safe for concurrent use.
type cpuMonitor struct {
	sampled     time.Time
	bytes       int64 // of traffic, at the last sample
	used        cpuTimes
	isSaturated bool
	times       func() cpuTimes
}

// cpuTimes are the times of all processors since boot, in any unit. Both are zero on systems that do not report them.
type cpuTimes struct{ all, idle uint64 }

const (
	sampleInterval = 200 * time.Millisecond // minimum, between two samples
	saturatedIdle  = 25                     // percent of one processor; saturated if all processors together idle less
)

func newCPUMonitor() *cpuMonitor {
	return &cpuMonitor{times: readCPUTimes}
}

// saturated reports whether the machine has no processor time to spare for deferrable work: its processors were hardly
// idle while traffic passed. bytes is the traffic so far.
func (m *cpuMonitor) saturated(bytes int64) bool {
	now := time.Now()
	since := now.Sub(m.sampled)
	if since < sampleInterval {
		return m.isSaturated
	}
	used := m.times()
	all, idle := used.all-m.used.all, used.idle-m.used.idle
	busy := all > 0 && 100*idle*uint64(runtime.NumCPU()) < saturatedIdle*all
	m.isSaturated = busy && bytes != m.bytes && since < 10*sampleInterval
	m.sampled, m.bytes, m.used = now, bytes, used
	return m.isSaturated
}
