package analyzertest

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/record"
)

// A Recording is a tap in front of an agent for the duration of a test, with the recorded traffic.
type Recording struct {
	URL string // what the client should use instead of the agent's URL, including its path

	options *options
	agent   *url.URL
	memory  *capture.Memory
	record  *record.Recording
	notices []string // the proxy's notices; read when the tap is closed
}

// maxLines bounds the findings that are printed: a test may send the same wrong message ten thousand times.
const maxLines = 100

// report fails the test for findings, or if there was nothing to judge, and logs the rest.
func (r *Recording) report(t testing.TB, result *judgment.Result) {
	t.Helper()
	o := r.options
	leftOut := make(map[string]int)
	result.Keep(func(f *analysis.Finding) bool {
		_, out := o.without[f.Rule.ID]
		switch {
		case out:
			leftOut[f.Rule.ID]++
			return false
		case o.known != nil && o.known.Knows(f):
			result.Baselined++
			return false
		}
		return true
	})
	if o.known != nil {
		result.Accept(o.known.KnowsCalls)
	}
	failing, other, hidden := 0, 0, 0
	for _, n := range leftOut {
		hidden += n
	}
	for i := range result.Findings {
		f := &result.Findings[i]
		if f.Severity >= o.gate && (o.side == nil || f.Side == *o.side) {
			if failing++; failing <= maxLines {
				t.Error(report.Line(f))
			}
		} else if other++; other <= maxLines {
			t.Log("does not fail the test: " + report.Line(f))
		}
	}
	if failing > maxLines {
		t.Errorf("and %d more findings that fail the test", failing-maxLines)
	}
	r.incomplete(t, result)
	for _, n := range r.notices {
		t.Logf("%s (see analyzertest.Alias)", n)
	}
	r.stale(t, result, leftOut)
	observed, broken := tally(result)
	t.Logf("%s: %d of %d rules observed, %d broken; %d checked of %d recorded; "+
		"findings: %d fail the test, %d do not, %d in the baseline, %d of rules left out",
		o.name, observed, len(rules.All), broken, result.Counts.Judged, result.Counts.Exchanges,
		failing, other, result.Baselined, hidden)
	if failing > 0 {
		t.Log("a2atap rules ID explains a rule: why it matters, and how to fix a violation")
	}
}

// incomplete fails the test if the recording proves nothing.
func (r *Recording) incomplete(t testing.TB, result *judgment.Result) {
	t.Helper()
	c := result.Counts
	switch {
	case c.Exchanges == 0 && c.Lost == 0:
		t.Errorf("no traffic passed through the tap, so nothing was checked; let the client use %s instead of %s",
			r.URL, r.agent)
	case c.Judged == 0 && c.Exchanges > 0:
		t.Errorf("nothing was checked: no rule applied to any of %d recorded exchanges; %s", c.Exchanges, r.first())
	}
	for i := range result.Calls {
		if calls := &result.Calls[i]; calls.Failed > 0 && !calls.Proved() {
			t.Errorf("no call of %s succeeded: %s", calls.Link.Client, calls)
		} else if calls.Failed > 0 {
			t.Logf("%s: %s", calls.Link.Client, calls)
		}
	}
	if c.Lost > 0 {
		t.Errorf("%d exchanges were not recorded completely, so a lack of findings in them proves nothing; "+
			"send less in one test, or record it with a2atap record", c.Lost)
	}
}

// first describes the outcome of the first exchange, to explain why it is not A2A.
func (r *Recording) first() string {
	for x, err := range r.memory.Exchanges(context.Background(), 1) {
		if err != nil {
			break
		}
		line := capture.ParseRequestHead(x.Request.Head).Line
		if x.Fault != nil {
			return fmt.Sprintf("the first one, %q, ended with the fault %s (%s): %s; is the agent running at %s?",
				line, x.Fault.Kind, x.Fault.Side, x.Fault.Detail, r.agent)
		}
		return fmt.Sprintf("the first one is %q; is %s the URL of an A2A agent?", line, r.agent)
	}
	return "they cannot be read"
}

// stale logs exceptions that are not needed any more.
func (r *Recording) stale(t testing.TB, result *judgment.Result, leftOut map[string]int) {
	t.Helper()
	seen := make(map[string]bool)
	for _, c := range result.Coverage {
		if _, out := r.options.without[c.Rule.ID]; out && leftOut[c.Rule.ID] == 0 && !seen[c.Rule.ID] {
			seen[c.Rule.ID] = true
			t.Logf("%s is left out (%s), but was observed and not broken: Without is not needed",
				c.Rule.ID, r.options.without[c.Rule.ID])
		}
	}
	if r.options.known == nil {
		return
	}
	for _, e := range r.options.known.Stale(result.Coverage, result.Calls, nil) {
		t.Logf("the baseline contains %s, which was not found: it is not needed", &e)
	}
	for _, e := range r.options.known.Expired() {
		t.Logf("the baseline entry for %s expired on %s", &e, e.Until)
	}
}

// tally returns how many rules applied, and how many of them were broken.
func tally(result *judgment.Result) (observed, broken int) {
	rule := make(map[string]bool)
	for _, c := range result.Coverage {
		rule[c.Rule.ID] = rule[c.Rule.ID] || c.Broken > 0
	}
	for _, b := range rule {
		if b {
			broken++
		}
	}
	return len(rule), broken
}

// kept writes the traffic, if the test has failed and the caller wants it.
func (r *Recording) kept(t testing.TB, result *judgment.Result) {
	t.Helper()
	if !t.Failed() || result.Counts.Exchanges == 0 {
		return
	}
	if r.options.keep == "" {
		t.Log("analyzertest.Keep(dir) saves the traffic")
		return
	}
	file := filepath.Join(r.options.keep, fileName(t.Name())+"-"+r.options.name+".txtar")
	if err := r.write(file); err != nil {
		t.Errorf("analyzertest.Tap: save the traffic: %v", err)
		return
	}
	t.Logf("the traffic is in %s; a2atap show %[1]s --format ladder draws it", file)
}

func (r *Recording) write(file string) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	w := transcript.NewWriter(f)
	for x, err := range r.memory.Exchanges(context.Background(), 1) {
		if err != nil {
			return err
		}
		if err := w.Write(x); err != nil {
			return err
		}
	}
	return w.Close()
}

// fileName returns a file name for the name of a test.
func fileName(test string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, c) || c < ' ' {
			return '_'
		}
		return c
	}, test)
}
