//go:build peers && unix

package main

import (
	"testing"

	"a2atap/replay/peers"
)

// TestOrchestraPeers is TestOrchestra with SDKs in three languages.
func TestOrchestraPeers(t *testing.T) {
	t.Parallel()
	sdk := peers.Go2Program("peer-go2")
	for _, leader := range []peers.Program{sdk, peers.Py1} {
		t.Run(leader.Name, func(t *testing.T) {
			t.Parallel()
			newOrchestra(t, leader, sdk, peers.JS1, peers.Py1).play(t)
		})
	}
}

// TestOrchestraApartPeers is TestOrchestraApart with SDKs in three languages.
func TestOrchestraApartPeers(t *testing.T) {
	t.Parallel()
	newOrchestra(t, peers.Py1, peers.Go2Program("peer-go2"), peers.JS1, peers.Py1).playApart(t, apart)
}

// TestOrchestraChainPeers is TestOrchestraChain with SDKs in three languages, each at each place.
func TestOrchestraChainPeers(t *testing.T) {
	t.Parallel()
	sdk := peers.Go2Program("peer-go2")
	for _, sdks := range [][]peers.Program{
		{peers.Py1, peers.JS1, sdk}, {peers.JS1, sdk, peers.Py1}, {sdk, peers.Py1, peers.JS1},
	} {
		t.Run(sdks[0].Name, func(t *testing.T) {
			t.Parallel()
			newChain(t, chainNames, sdks...).playApart(t, chained)
		})
	}
}
