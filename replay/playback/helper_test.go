package playback_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/playback"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record records a client's session with an agent through a tap, secrets included.
func record(t testing.TB, agentURL string, talk func(tapURL string)) *capture.Memory {
	t.Helper()
	return agenttest.RecordOne(t, agenttest.Recording{Redact: redact.Options{Keep: true}}, agentURL, talk)
}

// perform plays a capture on a real socket until the test ends, and returns the player and its origin.
func perform(t testing.TB, src capture.Source, o playback.Options) (*playback.Player, string) {
	t.Helper()
	p := must.Get(playback.New(t.Context(), src, o))(t)
	s := agenttest.Serve(p)
	t.Cleanup(func() {
		s.Close()
		p.Close()
	})
	return p, s.URL
}

func connect(t testing.TB, agentURL string, p client.Protocol) *client.Client {
	t.Helper()
	return agenttest.Connect(t, agentURL, p, client.Options{Timeout: 10 * time.Second})
}

// send sends a text and returns the resulting task.
func send(t testing.TB, c *client.Client, text string) *client.Task {
	t.Helper()
	r, err := c.Send(t.Context(), client.Text(text), client.SendOptions{})
	if err != nil || r.Task == nil {
		t.Fatalf("send %q: %v, %v", text, r, err)
	}
	return r.Task
}

// marks are the player's notes about its actions.
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

// take returns the marks since the previous call.
func (m *marks) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.list
	m.list = nil
	return list
}

// told keeps the player's notices for its user.
type told struct {
	marks
	came chan struct{}
}

func newTold() *told { return &told{came: make(chan struct{}, 100)} }

func (n *told) notice(text string) {
	n.request(nil)(text)
	n.came <- struct{}{}
}

// wait returns the notices once the given number has arrived.
func (n *told) wait(t testing.TB, count int) []string {
	t.Helper()
	for range count {
		select {
		case <-n.came:
		case <-time.After(must.Patience):
			t.Fatal("no notice came")
		}
	}
	return n.take()
}
