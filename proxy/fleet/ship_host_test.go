package fleet

import (
	"testing"

	"a2atap/proxy/fleet/fleettest"
)

// A capture that is shipped again by a machine of another name goes on where it is.
func TestShipGoesOnAsTheHostItHas(t *testing.T) {
	server := fleettest.Start(t)
	r := newRecorder(t)
	r.record(3, 100)
	first := ship(t, server.URL("traffic"), r, func(o *ShipOptions) { o.Host, o.HostGuessed = "one.example", true })
	first.until(18)
	first.stop()
	<-first.done
	r.record(3, 100)
	r.end()
	second := ship(t, server.URL("traffic"), r, func(o *ShipOptions) { o.Host, o.HostGuessed = "two.example", true })
	if second.wait(); second.Status().Host != "one.example" {
		t.Errorf("it says that it ships as %s", second.Status().Host)
	}
	exactly(t, server, "traffic", r)
	for _, m := range messagesIn(t, server, "traffic") {
		if m.Recorder.Host != "one.example" {
			t.Errorf("steps %d to %d are of %s", m.First, m.Last, m.Recorder.Host)
		}
	}
}
