//go:build unix

package main

import (
	"testing"

	"a2atap/replay/peers"
)

// The names of the agents of a chain: each asks the next.
var chainNames = []string{leaderName, "buyer", "seller"}

// chained are the ways to record a chain.
var chained = []recordedBy{
	{"one recorder", [][]string{chainNames}, false},
	{"one each", [][]string{chainNames[:1], chainNames[1:2], chainNames[2:]}, false},
	{"fleet", [][]string{chainNames[:1], chainNames[1:2], chainNames[2:]}, true},
	{"middle not tapped", [][]string{{chainNames[0], chainNames[2]}}, false},
	{"middle not tapped, one each", [][]string{chainNames[:1], chainNames[2:]}, false},
	{"first not tapped", [][]string{chainNames[1:]}, false},
}

// TestOrchestraChain is TestOrchestraApart with agents of which each asks the next.
func TestOrchestraChain(t *testing.T) {
	t.Parallel()
	sdk := peers.Go2Program("peer-go2")
	newChain(t, chainNames, sdk, sdk, sdk).playApart(t, chained)
}
