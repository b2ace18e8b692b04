//go:build unix

package main

import (
	"testing"

	"a2atap/replay/peers"
)

func TestOrchestra(t *testing.T) {
	sdk := peers.Go2Program("peer-go2")
	o := newOrchestra(t, sdk, sdk, sdk, sdk)
	c := &concert{plan: peers.Plan{Trace: true}, users: []peers.User{{Text: "paint the garden fence red", Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}
	o.record(t, c)
	for _, l := range c.printed {
		t.Logf("%.300s", l)
	}
	t.Log(c.said)
}
