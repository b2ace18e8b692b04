package cli

import "runtime/debug"

// Before a collection, memory may grow by memoryGrowth percent of the memory in use. Beyond about memoryLimit bytes,
// the collector works harder. GOGC and GOMEMLIMIT take precedence.
const (
	memoryGrowth = 60
	memoryLimit  = 90 << 20
)

// LimitMemory keeps the memory of a command small, and returns a function that lifts the limit.
func (e Env) LimitMemory() (restore func()) { return e.LimitMemoryTo(memoryLimit) }

// LimitMemoryTo is LimitMemory with another limit, in bytes, for commands that may need more than memoryLimit.
func (e Env) LimitMemoryTo(bytes int64) (restore func()) {
	if e.Getenv("GOMEMLIMIT") != "" || e.Getenv("GOGC") != "" {
		return func() {}
	}
	limit, growth := debug.SetMemoryLimit(bytes), debug.SetGCPercent(memoryGrowth)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(growth)
	}
}
