package proxy

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// newUnservedProxy returns a proxy that is not served.
func newUnservedProxy(t *testing.T) *Proxy {
	t.Helper()
	recorder := recording.New(recording.Options{Sink: new(capture.Memory)})
	p := must.Get(New(Options{Recorder: recorder, AllowRemote: true}))(t)
	t.Cleanup(func() {
		p.Close()
		expect.OK(t, recorder.Close(context.Background()))
	})
	return p
}

// An address that only the resolver knows to be the tap's is found out when the connection is made.
func TestDialRefusesLoop(t *testing.T) {
	p := newUnservedProxy(t)
	tap, err := p.listen(TapSpec{
		Name: "booker", Agent: &url.URL{Scheme: "http", Host: "agent.example"},
		Listen: "127.0.0.1:0",
	})
	must.Do(t, err)
	p.taps = append(p.taps, tap)
	tap.spec.Agent.Host = tap.Addr() // as if the name led here
	conn, err := tap.dial(context.Background())
	if err == nil {
		conn.Close()
		t.Fatal("connected")
	}
	if !strings.Contains(err.Error(), "back to the tap of booker") || !strings.Contains(err.Error(), "loop") {
		t.Errorf("got %q", err)
	}
}
