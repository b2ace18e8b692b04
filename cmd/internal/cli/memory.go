package cli

import "runtime/debug"

// Memory may grow by memoryGrowth percent of what is in use before a collection, and up to about memoryLimit bytes before
// the collector works harder. GOGC and GOMEMLIMIT take precedence.
const (
	memoryGrowth = 60
	memoryLimit  = 90 << 20
)

// LimitMemory keeps the memory of a command small, and returns a function that lifts the limit.
func (e Env) LimitMemory() (restore func()) {
	if e.Getenv("GOMEMLIMIT") != "" || e.Getenv("GOGC") != "" {
		return func() {}
	}
	limit, growth := debug.SetMemoryLimit(memoryLimit), debug.SetGCPercent(memoryGrowth)
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(growth)
	}
}
