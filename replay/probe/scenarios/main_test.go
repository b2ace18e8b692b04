package scenarios_test

import (
	"os"
	"testing"

	"a2atap/proxy/paralleltest"
)

func TestMain(m *testing.M) {
	paralleltest.AtOnce(16)
	os.Exit(m.Run())
}
