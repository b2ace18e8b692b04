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
	// grace is the time for exchanges in flight to end when the test ends: the tap may not have noticed yet that a
	// client has just left.
	grace = time.Second
	// patience bounds the wait until all traffic is recorded.
	patience = 30 * time.Second
)

// Tap puts a tap in front of the agent at a URL until the test and its subtests end. Give the URL of the Recording to
// the client instead of the agent's. An agent that was started before Tap, and is stopped by t.Cleanup, runs long
// enough.
//
// When the test ends, all rules check the traffic, and t.Error is called for each finding of severity error (see Gate),
// with its place, the problem, the rule, the side at fault and the sections of the specification. t.Error is also
// called if nothing was checked, or if something passed unrecorded: silence then means nothing. Other findings, and the
// number of rules that applied, are logged. A skipped test is not checked.
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

// end closes the tap and judges the traffic.
func (r *Recording) end(t testing.TB) {
	t.Helper()
	r.record.CloseTaps()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.record.Close(ctx); err != nil {
		t.Errorf("analyzertest.Tap: record the traffic: %v", err)
	}
	if t.Skipped() {
		return
	}
	result, err := engine.Run(context.Background(), rules.All, r.memory, nil)
	if err != nil {
		t.Errorf("analyzertest.Tap: check the traffic: %v", err)
		return
	}
	result.Counts.Lost = max(result.Counts.Lost, r.record.Stats().LostExchanges)
	r.report(t, result)
	r.kept(t, result)
}
