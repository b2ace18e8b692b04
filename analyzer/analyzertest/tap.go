package analyzertest

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/record"
)

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
	r := &Recording{options: o, agent: agent}
	r.memory = capture.NewMemory(capture.Info{Name: test, Created: time.Now()})
	r.record = record.New(r.memory, record.Options{
		Proxy: proxy.Options{
			Taps:    []proxy.TapSpec{{Name: o.name, Agent: agent, Listen: "127.0.0.1:0"}},
			Aliases: o.aliases, RootCAs: o.roots, Grace: grace,
			OnNotice: func(text string) { r.notices = append(r.notices, text) },
		},
		Redact: redact.Options{Describer: reading.NewDescriber()},
	})
	if err := r.record.Start(); err != nil {
		return nil, err
	}
	r.URL = r.record.Taps()[0].URL()
	return r, nil
}

// end closes the tap and judges what has passed.
func (r *Recording) end(t testing.TB) {
	t.Helper()
	r.record.CloseTaps()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.record.Close(ctx); err != nil {
		t.Errorf("analyzertest.Tap: record what has passed: %v", err)
	}
	if t.Skipped() {
		return
	}
	result, err := engine.Run(context.Background(), rules.All, r.memory, nil)
	if err != nil {
		t.Errorf("analyzertest.Tap: judge what has passed: %v", err)
		return
	}
	result.Counts.Lost = max(result.Counts.Lost, r.record.Stats().LostExchanges)
	r.report(t, result)
	r.kept(t, result)
}
