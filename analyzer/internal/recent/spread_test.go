package recent

import "testing"

// Consecutive numbers are in short runs of the index. Each removal walks through one run.
func TestConsecutiveHashesAreSpread(t *testing.T) {
	m := NewHashed[uint64, bool](10_000, func(n uint64) uint32 { return uint32(n) })
	for n := range uint64(50_000) {
		m.Put(n, true)
	}
	run, longest := 0, 0
	for _, p := range m.index {
		run++
		if p.at == 0 {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest > 20 {
		t.Errorf("%d of %d places stand side by side", longest, len(m.index))
	}
}
