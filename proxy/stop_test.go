package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// stuckSink takes nothing until it is let go.
type stuckSink struct {
	capture.Memory
	gate chan struct{}
}

func (s *stuckSink) Append(steps ...capture.Step) error {
	<-s.gate
	return s.Memory.Append(steps...)
}

// A capture that is stuck cannot keep the proxy from stopping, even where traffic was to wait for it.
func TestStopDespiteStuckCapture(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			if _, err := w.Write(make([]byte, 1000)); err != nil {
				return
			}
		}
	}))
	defer agent.Close()
	sink := &stuckSink{gate: make(chan struct{})}
	recorder := recording.New(recording.Options{Sink: sink, IfFull: recording.Wait, QueueBytes: 5000})
	address := must.Get(url.Parse(agent.URL))(t)
	p, err := New(Options{Recorder: recorder, Taps: []TapSpec{{Name: "a", Agent: address, Listen: "127.0.0.1:0"}}})
	must.Do(t, err)
	p.stopTimeout = time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx) }()
	conn := must.Get(net.Dial("tcp", p.Taps()[0].Addr()))(t)
	defer conn.Close()
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	must.Get(conn.Read(make([]byte, 1)))(t)
	cancel()
	select {
	case <-done:
	case <-time.After(must.Patience):
		t.Error("the proxy did not stop")
	}
	close(sink.gate)
	expect.OK(t, recorder.Close(context.Background()))
}

// After a panic in a2atap, the relay reports nothing more about a connection. The recorder closes its open exchanges
// and notes why.
func TestAbandon(t *testing.T) {
	sink := new(capture.Memory)
	recorder := recording.New(recording.Options{Sink: sink})
	p := must.Get(New(Options{Recorder: recorder}))(t)
	defer p.Close()
	client, other := net.Pipe()
	defer client.Close()
	defer other.Close()
	tap := must.Get(p.listen(TapSpec{Name: "a", Agent: new(url.URL), Listen: "127.0.0.1:0"}))(t)
	defer tap.listener.Close()
	l := newLink(tap, client)
	l.Request(0, []byte("GET / HTTP/1.1\r\n\r\n"))
	expect.Equal(t, "were open", 1, l.abandon())
	select {
	case <-p.inFlight.drained():
	default:
		t.Error("an exchange is still in flight")
	}
	expect.OK(t, recorder.Close(context.Background()))
	x, err := sink.Exchange(context.Background(), 1)
	if err != nil || x.State != capture.StateClosed || x.Fault == nil || x.Fault.Side != "proxy" {
		t.Errorf("got %+v, %v", x, err)
	}
}
