package proxy_test

import (
	"testing"

	"a2atap/proxy"
	"a2atap/proxy/capture"
)

// What waits grows while the capture is stuck, and is gone when it is not.
func TestWaiting(t *testing.T) {
	sink := &testSink{gate: make(chan struct{}), entered: make(chan struct{}, 1000)}
	r := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink, QueueBytes: 1 << 20})
	if waiting, limit := r.Waiting(); waiting != 0 || limit != 1<<20 {
		t.Errorf("at the beginning %d bytes of %d wait", waiting, limit)
	}
	c := r.Conn(capture.Peer{Name: "booker"}, "")
	observeExchange(c, 0, 0)
	<-sink.entered
	before, _ := r.Waiting()
	observeExchange(c, 1, 20_000)
	if after, _ := r.Waiting(); before == 0 || after < before+20_000 {
		t.Errorf("%d bytes wait while some are recorded, then %d; want 20000 more", before, after)
	}
	close(sink.gate)
	closeRecorder(t, r)
	if waiting, _ := r.Waiting(); waiting != 0 {
		t.Errorf("at the end %d bytes wait", waiting)
	}
}
