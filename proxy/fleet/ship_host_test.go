package fleet

import (
	"fmt"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/fleet/fleettest"
)

// If a machine with another name ships a capture again, shipping continues where it was.
func TestShipGoesOnAsTheHostItHas(t *testing.T) {
	t.Parallel()
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
		expect.Equal(t, fmt.Sprintf("steps %d to %d are of", m.First, m.Last), "one.example", m.Recorder.Host)
	}
}

// If the stream has copies of a capture, a machine continues with its own copy.
func TestShipGoesOnAsItself(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	r := newRecorder(t)
	r.record(1, 100)
	r.end()
	for _, host := range []string{"one.example", "two.example"} {
		ship(t, server.URL("traffic"), r, func(o *ShipOptions) { o.Host = host }).wait()
	}
	for host, want := range map[string]string{
		"one.example": "one.example", "two.example": "two.example", "three.example": "one.example",
	} {
		s := ship(t, server.URL("traffic"), r, func(o *ShipOptions) { o.Host, o.HostGuessed = host, true })
		if s.wait(); s.Status().Host != want {
			t.Errorf("%s ships as %s", host, s.Status().Host)
		}
	}
}
