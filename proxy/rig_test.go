package proxy_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/paralleltest"
	"a2atap/proxy/recording"
)

func TestMain(m *testing.M) {
	paralleltest.AtOnce(8)
	goleak.VerifyTestMain(m)
}

// A rig is a proxy with its recorder, between clients and agents of a test.
type rig struct {
	t        *testing.T
	proxy    *proxy.Proxy
	recorder *recording.Recorder
	memory   *capture.Memory
	stop     func() // ends Serve and waits; may be called more than once

	mu      sync.Mutex
	notices []string
	noticed chan string     // the same, as they come
	opened  chan *proxy.Tap // further taps
}

// newRig starts a proxy for these agents, given as for --agent. Options and RecorderOptions may be changed by set.
func newRig(t *testing.T, set func(*proxy.Options, *recording.Options), agents ...string) *rig {
	t.Helper()
	r := &rig{
		t: t, memory: capture.NewMemory(capture.Info{}), noticed: make(chan string, 100),
		opened: make(chan *proxy.Tap, 100),
	}
	recorder := recording.Options{Sink: r.memory}
	opts := proxy.Options{
		NoCallers: true, // they are this process
		OnNotice: func(text string) {
			r.mu.Lock()
			r.notices = append(r.notices, text)
			r.mu.Unlock()
			r.noticed <- text
		},
		OnTap: func(tap *proxy.Tap) { r.opened <- tap },
	}
	if set != nil {
		set(&opts, &recorder)
	}
	for _, agent := range agents {
		spec := must.Get(proxy.ParseTap(agent))(t)
		opts.Taps = append(opts.Taps, spec)
	}
	r.recorder = recording.New(recorder)
	opts.Recorder = r.recorder
	var err error
	if r.proxy, err = proxy.New(opts); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.proxy.Serve(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			expect.OK(t, err)
		case <-time.After(must.Patience):
			t.Error("the proxy did not stop")
		}
	})
	t.Cleanup(func() {
		r.stop()
		r.close()
	})
	return r
}

// close ends the recording.
func (r *rig) close() {
	ctx, cancel := context.WithTimeout(context.Background(), must.Patience)
	defer cancel()
	_ = r.recorder.Close(ctx) // what it says is a test of its own
	r.memory.Close()
}

// tap returns the tap of that number.
func (r *rig) tap(n int) *proxy.Tap { return r.proxy.Taps()[n] }

// record stops everything and returns what was recorded.
func (r *rig) record() []*capture.Exchange {
	r.t.Helper()
	r.stop()
	r.close()
	return capturetest.ReadAll(r.t, r.memory)
}

// follow returns the steps of the capture as they are recorded, until want returns true.
func (r *rig) follow(want func(capture.Step) bool) {
	r.t.Helper()
	capturetest.Until(r.t, r.memory, want)
}

// notice waits for a notice.
func (r *rig) notice() string {
	r.t.Helper()
	select {
	case text := <-r.noticed:
		return text
	case <-time.After(must.Patience):
		r.t.Fatal("no notice came")
		return ""
	}
}

// newAgent starts an agent.
func newAgent(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	agent := httptest.NewServer(handler)
	t.Cleanup(agent.Close)
	return agent
}

// newClient returns a client with connections of its own.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 4 * must.Patience}
}

// get fetches a URL, with header fields given as name, value, name, value.
func get(t *testing.T, client *http.Client, url string, header ...string) (*http.Response, string) {
	t.Helper()
	return fetch(t, client, "GET", url, nil, header...)
}

func fetch(t *testing.T, client *http.Client, method, url string, body io.Reader, header ...string) (*http.Response,
	string,
) {
	t.Helper()
	request, err := http.NewRequest(method, url, body)
	must.Do(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			request.Host = header[i+1]
		}
	}
	answer, err := client.Do(request)
	must.Do(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must.Do(t, err)
	return answer, string(text)
}

var discardLog = log.New(io.Discard, "", 0)
