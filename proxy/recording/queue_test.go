package recording

import (
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// A heldSink takes nothing until it is released, and notices whether that is urgent.
type heldSink struct {
	release chan struct{}
	urgency *background.Urgency
	urgent  bool
}

func (s *heldSink) Append(...capture.Step) error {
	<-s.release
	s.urgent = s.urgent || s.urgency.High()
	return nil
}

func (s *heldSink) Close() error { return nil }

// What waits makes recording urgent, and what was recorded makes it give way again.
func TestUrgency(t *testing.T) {
	var u background.Urgency
	sink := &heldSink{release: make(chan struct{}), urgency: &u}
	const limit = 1 << 20
	r := New(Options{Sink: sink, QueueBytes: limit, Urgency: &u})
	c := r.Conn(capture.Peer{Name: "a"}, "127.0.0.1:1")
	c.Request(0, []byte("POST / HTTP/1.1\r\n\r\n"))
	for range 20 {
		c.RequestBody(0, make([]byte, limit/20/2))
	}
	if !r.q.urgent() {
		t.Error("a queue that is half full is not urgent")
	}
	close(sink.release)
	must.Do(t, r.Close(t.Context()))
	if r.q.urgent() {
		t.Error("an empty queue is urgent")
	}
	if !sink.urgent {
		t.Error("recording did not notice that it was urgent")
	}
}

// What has waited for long is urgent, however little it is.
func TestUrgentAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &heldSink{release: make(chan struct{})}
		r := New(Options{Sink: sink})
		c := r.Conn(capture.Peer{Name: "a"}, "127.0.0.1:1")
		c.Request(0, []byte("POST / HTTP/1.1\r\n\r\n"))
		time.Sleep(urgentAfter)
		if r.q.urgent() {
			t.Error("a head is urgent that has not waited for long")
		}
		time.Sleep(time.Nanosecond)
		if !r.q.urgent() {
			t.Error("a head that has waited for long is not urgent")
		}
		close(sink.release)
		must.Do(t, r.Close(t.Context()))
	})
}
