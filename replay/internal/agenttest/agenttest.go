// Package agenttest starts reference agents for tests, on real sockets until the test ends, and puts breakers in
// front of them.
package agenttest

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/injection"
	"a2atap/proxy/record"
	"a2atap/proxy/webhook"
	"a2atap/replay/client"
	"a2atap/replay/refagent"
)

// Start runs a reference agent behind breakers, and returns its URL. Its steps take a millisecond unless the options
// say otherwise.
func Start(t testing.TB, name string, o refagent.Options, broken ...Breaker) string {
	t.Helper()
	o.StepTime = cmp.Or(o.StepTime, time.Millisecond)
	a, err := refagent.New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(All(broken...)(a))
	t.Cleanup(func() {
		s.CloseClientConnections() // a stream may be open for good
		a.Close()
		s.Close()
	})
	return s.URL + a.Path()
}

// Serve serves a handler over HTTP/1.1 and HTTP/2. The caller closes the server.
func Serve(h http.Handler) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	return s
}

// Connect returns a client of an agent over one protocol, which is closed when the test ends.
func Connect(t testing.TB, agentURL string, p client.Protocol, o client.Options) *client.Client {
	t.Helper()
	o.Prefer = []client.Protocol{p}
	c, err := client.Connect(t.Context(), agentURL, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Recording configures [Record].
type Recording struct {
	Redact   redact.Options   // a key for tests unless it is set
	Faults   []injection.Spec // made by the taps
	Webhooks *webhook.Spec    // passed through the taps
}

// RecordOne is Record for one agent, whose name is booker.
func RecordOne(t testing.TB, o Recording, agentURL string, talk func(tapURL string)) *capture.Memory {
	t.Helper()
	return Record(t, o, map[string]string{"booker": agentURL}, func(taps map[string]string) { talk(taps["booker"]) })
}

// Record runs clients against agents, by name, through taps, and returns the recorded traffic.
func Record(t testing.TB, o Recording, agents map[string]string, talk func(taps map[string]string)) *capture.Memory {
	t.Helper()
	var specs []proxy.TapSpec
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		u, err := url.Parse(agents[name])
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, proxy.TapSpec{Name: name, Agent: u, Listen: "127.0.0.1:0"})
	}
	if o.Redact.Key == nil && !o.Redact.Keep {
		o.Redact.Key = []byte("0123456789abcdef0123456789abcdef")
	}
	mem := capture.NewMemory(capture.Info{Name: "test"})
	r := record.New(mem, record.Options{
		Proxy:  proxy.Options{Taps: specs, Faults: o.Faults, Webhooks: o.Webhooks, Grace: time.Second, NoCallers: true},
		Redact: o.Redact,
	})
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	taps := map[string]string{}
	for _, tap := range r.Taps() {
		taps[tap.Name()] = tap.URL()
	}
	talk(taps)
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return mem
}
