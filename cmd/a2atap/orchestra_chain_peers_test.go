//go:build unix && peers

package main

import (
	"testing"

	"a2atap/replay/peers"
)

// The names of the agents of a chain: each asks the next.
var chainNames = []string{leaderName, "buyer", "seller"}

// chained are the ways to record a chain.
var chained = []recordedBy{
	{name: "one recorder", recorders: [][]string{chainNames}},
	{name: "one each", recorders: [][]string{chainNames[:1], chainNames[1:2], chainNames[2:]}},
	{name: "fleet", recorders: [][]string{chainNames[:1], chainNames[1:2], chainNames[2:]}, ship: true},
	{name: "middle not tapped", recorders: [][]string{{chainNames[0], chainNames[2]}}, strangers: true},
	{name: "middle not tapped, one each", recorders: [][]string{chainNames[:1], chainNames[2:]}, strangers: true},
	{name: "first not tapped", recorders: [][]string{chainNames[1:]}},
}

// TestOrchestraChain is TestOrchestraApart with agents of which each asks the next.
func TestOrchestraChain(t *testing.T) {
	t.Parallel()
	sdk := peers.Go2Program("peer-go2")
	newChain(t, chainNames, sdk, sdk, sdk).playApart(t, telling(chained)[1:])
}

// TestOrchestraChainOfBindings is TestOrchestraChain with agents that ask over gRPC, some of them or, with the tag peers,
// all.
func TestOrchestraChainOfBindings(t *testing.T) {
	t.Parallel()
	sdk := peers.Go2Program("peer-go2")
	for name, speaks := range map[string]map[string]string{
		"gRPC then JSON-RPC":  {leaderName: peers.GRPC, "buyer": peers.JSONRPC},
		"HTTP+JSON then gRPC": {leaderName: peers.HTTPJSON, "buyer": peers.GRPC},
		"gRPC":                {leaderName: peers.GRPC, "buyer": peers.GRPC},
	} {
		if !thorough && speaks[leaderName] != peers.HTTPJSON {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := newChain(t, chainNames, sdk, sdk, sdk)
			chain.speaks = speaks
			chain.playApart(t, telling(chained)[1:])
		})
	}
}
