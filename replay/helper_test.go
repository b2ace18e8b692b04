package replay_test

import (
	"context"
	"maps"
	"net/http/httptest"
	"net/url"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"a2atap/analyzer/rules"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/injection"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/peers"
	"a2atap/replay/refagent"
	"a2atap/replay/report"
)

func TestMain(m *testing.M) {
	peers.AtOnce(8)
	debug.SetGCPercent(400) // the heap is small and short-lived: what is saved in memory costs a fifth of the time
	goleak.VerifyTestMain(m)
}

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
	return recordAll(t, map[string]string{"booker": agentURL}, func(taps map[string]string) { talk(taps["booker"]) })
}

// recordAll is record for several agents, by their names.
func recordAll(t testing.TB, agents map[string]string, talk func(taps map[string]string)) *capture.Memory {
	t.Helper()
	return recordFaulted(t, nil, agents, talk)
}

// recordFaulted is recordAll with faults that the tap makes.
func recordFaulted(
	t testing.TB, faults []injection.Spec, agents map[string]string, talk func(taps map[string]string),
) *capture.Memory {
	t.Helper()
	var specs []proxy.TapSpec
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		u, err := url.Parse(agents[name])
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, proxy.TapSpec{Name: name, Agent: u, Listen: "127.0.0.1:0"})
	}
	mem := capture.NewMemory(capture.Info{Name: "test"})
	sink := redact.New(mem, redact.Options{Key: []byte("0123456789abcdef0123456789abcdef")})
	recorder := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink})
	p, err := proxy.New(proxy.Options{Taps: specs, Faults: faults, Recorder: recorder, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := p.Serve(ctx); err != nil {
			t.Error(err)
		}
	}()
	taps := map[string]string{}
	for _, tap := range p.Taps() {
		taps[tap.Name()] = tap.URL()
	}
	talk(taps)
	stop()
	<-served
	if err := recorder.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return mem
}

// play replays a capture with all rules.
func play(t testing.TB, src capture.Source, to string, o replay.Options) *report.Report {
	t.Helper()
	o.Rules = rules.All
	r, err := replay.Run(t.Context(), src, to, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantSame fails the test unless everything was sent and nothing differs.
func wantSame(t testing.TB, r *report.Report) {
	t.Helper()
	if !r.Same() || r.LeftOut > 0 {
		t.Errorf("replay: %s", r.Verdict())
		for _, d := range r.Differences {
			t.Errorf("  %s %+v", d.String(), d.Changes)
		}
		for _, l := range r.Lines {
			if l.Why != "" {
				t.Errorf("  exchange %d left out: %s", l.Exchange, l.Why)
			}
		}
	}
}

// connect returns a client of an agent over one protocol.
func connect(t testing.TB, agentURL string, p client.Protocol, o client.Options) *client.Client {
	t.Helper()
	o.Prefer = []client.Protocol{p}
	c, err := client.Connect(t.Context(), agentURL, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// A way is an agent and a protocol to speak with it.
type way struct {
	name     string
	start    func(t testing.TB) string
	protocol client.Protocol
}

func refAgent(name string) func(testing.TB) string {
	return func(t testing.TB) string { return startAgent(t, name, refagent.Options{Push: true}) }
}

var refWays = []way{
	{"spec jsonrpc", refAgent("spec"), client.JSONRPC10},
	{"spec rest", refAgent("spec"), client.REST10},
	{"spec03 jsonrpc", refAgent("spec03"), client.JSONRPC03},
}

// must returns the result of a call that has to succeed.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
