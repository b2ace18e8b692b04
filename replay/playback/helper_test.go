package playback_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/replay/client"
	"a2atap/replay/playback"
	"a2atap/replay/refagent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startAgent runs a reference agent on a real socket until the test ends, and returns its URL.
func startAgent(t testing.TB, name string, o refagent.Options) string {
	t.Helper()
	if o.StepTime == 0 {
		o.StepTime = time.Millisecond
	}
	a, err := refagent.New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(a)
	t.Cleanup(func() {
		a.Close()
		s.Close()
	})
	return s.URL + a.Path()
}

// record lets a client talk to an agent through a tap, and returns what the tap recorded.
func record(t testing.TB, agentURL string, talk func(tapURL string)) *capture.Memory {
	t.Helper()
	u, err := url.Parse(agentURL)
	if err != nil {
		t.Fatal(err)
	}
	mem := capture.NewMemory(capture.Info{Name: "test"})
	sink := redact.New(mem, redact.Options{Keep: true})
	recorder := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink})
	p, err := proxy.New(proxy.Options{
		Taps: []proxy.TapSpec{{Name: "booker", Agent: u, Listen: "127.0.0.1:0"}}, Recorder: recorder, Grace: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- p.Serve(ctx) }()
	talk(p.Taps()[0].URL())
	stop()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if err := recorder.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return mem
}

// perform plays a capture on a real socket until the test ends, and returns the player and its origin.
func perform(t testing.TB, src capture.Source, o playback.Options) (*playback.Player, string) {
	t.Helper()
	p, err := playback.New(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(p)
	t.Cleanup(func() {
		s.Close()
		p.Close()
	})
	return p, s.URL
}

func connect(t testing.TB, agentURL string, p client.Protocol) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), agentURL,
		client.Options{Prefer: []client.Protocol{p}, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// marks are what a player says that it did.
type marks struct {
	mu   sync.Mutex
	list []string
}

func (m *marks) request(*http.Request) func(string) {
	return func(text string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.list = append(m.list, text)
	}
}

// take returns the marks since it was called last.
func (m *marks) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.list
	m.list = nil
	return list
}

// told keeps what a player tells its user.
type told struct {
	marks
	came chan struct{}
}

func newTold() *told { return &told{came: make(chan struct{}, 100)} }

func (n *told) notice(text string) {
	n.request(nil)(text)
	n.came <- struct{}{}
}

// wait returns the notices when there are so many.
func (n *told) wait(t testing.TB, count int) []string {
	t.Helper()
	for range count {
		select {
		case <-n.came:
		case <-time.After(30 * time.Second):
			t.Fatal("no notice came")
		}
	}
	return n.take()
}
