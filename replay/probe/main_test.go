package probe_test

import (
	"os"
	"runtime/debug"
	"testing"

	"a2atap/proxy/paralleltest"
)

func TestMain(m *testing.M) {
	paralleltest.AtOnce(16)
	debug.SetGCPercent(400) // few objects live long
	os.Exit(m.Run())
}
