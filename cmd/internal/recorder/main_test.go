package recorder

import (
	"os"
	"testing"

	"a2atap/proxy/paralleltest"
)

func TestMain(m *testing.M) {
	paralleltest.AtOnce(24)
	os.Exit(m.Run())
}
