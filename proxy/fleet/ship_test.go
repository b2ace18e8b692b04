package fleet

import (
	"testing"

	"a2atap/proxy/fleet/fleettest"
)

func TestShip(t *testing.T) {
	t.Parallel()
	server := fleettest.Start(t)
	r := newRecorder(t)
	r.record(3, 100)
	s := ship(t, server.URL("traffic"), r)
	s.until(18)
	for range 20 {
		r.record(1, 1000)
	}
	r.end()
	s.wait()
	exactly(t, server, "traffic", r)
	messages := messagesIn(t, server, "traffic")
	last := messages[len(messages)-1]
	if last.Recorder.Live || last.First != 139 || last.Last != 138 || last.Recorder.Committed != 138 ||
		last.Recorder.Host != "host.example" {
		t.Errorf("the last message has %d to %d, and is of %+v", last.First, last.Last, last.Recorder)
	}
	if told := s.told(); len(told) > 0 {
		t.Errorf("there was trouble: %v", told)
	}
	status := s.Status()
	if status.Shipped != 138 || status.Committed != 138 || status.Err != nil || !status.Asked {
		t.Errorf("the status is %+v", status)
	}

	// All of it is there already.
	again := ship(t, server.URL("traffic"), r)
	again.wait()
	if n := len(messagesIn(t, server, "traffic")); n != len(messages) {
		t.Errorf("shipping it again makes %d messages of %d", n, len(messages))
	}
}
