package recorder

import (
	"runtime"
	"time"
)

// A cpuMonitor says how busy the processors are. It is for one goroutine.
type cpuMonitor struct {
	sampled     time.Time
	bytes       int64 // of traffic, by then
	used        cpuTimes
	isSaturated bool
	times       func() cpuTimes
}

// cpuTimes are what the processors have done since the computer started, in any unit. All is zero where nobody knows.
type cpuTimes struct{ all, idle uint64 }

const (
	sampleInterval = 200 * time.Millisecond // at least, between two samples
	saturatedIdle  = 25                     // percent of one processor; saturated when less is idle of all of them
)

func newCPUMonitor() *cpuMonitor {
	return &cpuMonitor{times: readCPUTimes}
}

// saturated reports whether the machine has no time to spare for what could wait: its processors were hardly idle while
// traffic passed. bytes is how much of that there was until now.
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
