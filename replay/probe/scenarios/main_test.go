package scenarios_test

import (
	"os"
	"runtime/debug"
	"testing"

	"a2atap/proxy/paralleltest"
)

func TestMain(m *testing.M) {
	paralleltest.AtOnce(32)
	debug.SetGCPercent(400) // what is alive is little, and short-lived
	os.Exit(m.Run())
}
