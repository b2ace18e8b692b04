//go:build peers

package rules_test

import (
	"runtime"
	"testing"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
)

// oneIn says which part of the transcripts a test has that does the same with each of them.
const oneIn = 1

// orders is in how many orders TestOverlapsProveNothing and TestLiveFindsTheSame have each transcript.
const orders = 15

// streamEvents is how many events TestStreamsTakeFlatMemory has in a stream.
const streamEvents = 40_000

// Sessions forget old entries, so that a long capture needs no more memory than a short one: once a table is full, new
// entries replace old ones.
func TestManyExchangesTakeBoundedMemory(t *testing.T) {
	const full, more, enough, slack = 52_000, 8_000, 256 << 20, 1 << 20
	e := engine.New(rules.All)
	judgeMany(e, 0, full)
	before := heap()
	judgeMany(e, full, full+more)
	after := heap()
	if after > enough || after > before+slack {
		t.Errorf("%d exchanges took %d MiB, want at most %d; %d more took %d KiB", full, before>>20, enough>>20, more,
			int64(after-before)>>10)
	}
	if n := e.Counts().Forgotten; n == 0 {
		t.Errorf("nothing was forgotten of %d tasks", full+more)
	}
	runtime.KeepAlive(e)
}
