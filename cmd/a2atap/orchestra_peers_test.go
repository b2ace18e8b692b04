//go:build peers && unix

package main

import (
	"testing"

	"a2atap/replay/peers"
)

func TestOrchestraPeers(t *testing.T) {
	for _, sdk := range []peers.Program{peers.Py1} {
	o := newOrchestra(t, sdk, peers.Go2Program("peer-go2"), peers.JS1, peers.Py1)
	c := &concert{plan: peers.Plan{Trace: true, Context: true}, users: []peers.User{{Text: "paint the garden fence red", Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, {Text: "paint the garden fence red", Trace: "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-01"}}}
	o.record(t, c)
	for _, l := range c.printed {
		t.Logf("%.300s", l)
	}
	t.Log(c.said)
	}
}
