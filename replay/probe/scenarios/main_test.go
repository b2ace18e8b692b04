package scenarios_test

import (
	"os"
	"testing"

	"a2atap/replay/peers"
)

func TestMain(m *testing.M) {
	peers.AtOnce(8)
	os.Exit(m.Run())
}
