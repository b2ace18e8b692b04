package analyzertest

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
)

// A Recording is a tap in front of an agent, for the length of a test, and what passes through it.
type Recording struct {
	URL string // what the client is to use in place of the agent's URL, its path included

	options *options
	agent   *url.URL
	memory  *capture.Memory
	sink    capture.Sink
	record  *proxy.Recorder
	stop    context.CancelFunc
	served  chan struct{} // closed when the tap is
	notices []string      // what the proxy had to say; read when served is closed
}

const (
	// grace is what exchanges in flight get to end in when the test ends: a client that has just left is still being
	// noticed then.
	grace = time.Second
	// patience bounds the wait for what has passed to be recorded.
	patience = 30 * time.Second
)

// Tap puts a tap in front of the agent at a URL until the test and its subtests end. Give the URL of the Recording
// to the client in place of the agent's. An agent that has been started before, and is ended by t.Cleanup, is there
// long enough.
//
// When the test ends, what has passed is judged by all rules, and t.Error is called for each finding of severity
// error (see Gate), with its place, what is wrong, the rule, who is at fault and the sections of the specification.
// It is called too if nothing was judged, or if something passed unrecorded: then silence means nothing. What else
// was found, and how many rules applied, is logged. A test that was skipped is not judged.
//
// Tap fails the test at once if the URL or an option is wrong. It is safe in tests that run in parallel.
func Tap(t testing.TB, agent string, list ...Option) *Recording {
	t.Helper()
	o, err := newOptions(list)
	u, urlErr := parseURL(agent)
	if err := errors.Join(urlErr, err); err != nil {
		t.Fatalf("analyzertest.Tap: %v", err)
	}
	r, err := start(u, o, t.Name())
	if err != nil {
		t.Fatalf("analyzertest.Tap: %v", err)
	}
	t.Cleanup(func() {
		t.Helper()
		r.end(t)
	})
	return r
}

// start opens the tap.
func start(agent *url.URL, o *options, test string) (*Recording, error) {
	r := &Recording{options: o, agent: agent, served: make(chan struct{})}
	r.memory = capture.NewMemory(capture.Info{Name: test, Created: time.Now()})
	r.sink = redact.New(r.memory, redact.Options{Describer: reading.NewDescriber()})
	r.record = proxy.NewRecorder(proxy.RecorderOptions{Sink: r.sink})
	p, err := proxy.New(proxy.Options{
		Taps:    []proxy.TapSpec{{Name: o.name, Agent: agent, Listen: "127.0.0.1:0"}},
		Aliases: o.aliases, Recorder: r.record, RootCAs: o.roots, Grace: grace,
		OnNotice: func(text string) { r.notices = append(r.notices, text) },
	})
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	r.URL = p.Taps()[0].URL()
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() {
		defer close(r.served)
		p.Serve(ctx) //nolint:errcheck // it returns nil
	}()
	return r, nil
}

// close ends the recording.
func (r *Recording) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return errors.Join(r.record.Close(ctx), r.sink.Close())
}

// end closes the tap and judges what has passed.
func (r *Recording) end(t testing.TB) {
	t.Helper()
	r.stop()
	<-r.served
	if err := r.close(); err != nil {
		t.Errorf("analyzertest.Tap: record what has passed: %v", err)
	}
	if t.Skipped() {
		return
	}
	result, err := analyzer.Run(context.Background(), rules.All, r.memory, nil)
	if err != nil {
		t.Errorf("analyzertest.Tap: judge what has passed: %v", err)
		return
	}
	result.Counts.Lost = max(result.Counts.Lost, r.record.Stats().LostExchanges)
	r.report(t, result)
	r.kept(t, result)
}
