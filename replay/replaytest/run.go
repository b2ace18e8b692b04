package replaytest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/record"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/report"
)

// RunOptions are the options of package replay, with additions for tests. Run begins with all rules and no pauses.
type RunOptions struct {
	replay.Options

	// KeepIn is a directory to which the live traffic is written as a transcript if the test has failed: a2atap check,
	// show and tui read it, and diff compares it with the session. Credentials in it are placeholders. Empty keeps
	// nothing; t.ArtifactDir() is a good place, with go test -artifacts.
	KeepIn string
}

// Run plays the client of a session against the agent at a URL, and calls t.Error for each difference between the
// agent and the recording: with the file, the numbers of both exchanges, the change and the smallest JSON difference.
// If the session has several agents, name the others in Options.Agents.
//
// It fails the test at once if it cannot read the session or reach the agent, and also calls t.Error if nothing was
// sent. It logs omissions and the verdict, and returns the report. It ends with the test's context.
func Run(t testing.TB, file, url string, options ...func(*RunOptions)) *report.Report {
	t.Helper()
	o := RunOptions{Options: replay.Options{Rules: rules.All}}
	for _, option := range options {
		option(&o)
	}
	src, err := open(file)
	if err != nil {
		t.Fatalf("replaytest.Run: %v", err)
	}
	o.tellMissing(t, file)
	var live *capture.Memory
	if o.KeepIn != "" {
		if o.Sink != nil {
			t.Fatalf("replaytest.Run: %s: KeepIn and Sink exclude each other; set one of them", file)
		}
		live = capture.NewMemory(capture.Info{Name: t.Name()})
		sink, err := o.redacted(t.Context(), live)
		if err != nil {
			t.Fatalf("replaytest.Run: %s: get credentials: %v", file, err)
		}
		o.Sink = sink
	}
	r, err := replay.Run(t.Context(), src, url, o.Options)
	if live != nil {
		err = errors.Join(err, o.Sink.Close())
	}
	if r == nil {
		t.Fatalf("replaytest.Run: %s: %v%s", file, err, hint(err))
	}
	tell(t, file, r)
	if err != nil {
		t.Errorf("%s: %v", file, err)
	}
	if live != nil && t.Failed() {
		o.keep(t, file, live)
	}
	return r
}

// tellMissing makes Run log the secrets that the session lacks.
func (o *RunOptions) tellMissing(t testing.TB, file string) {
	if o.OnMissing == nil {
		o.OnMissing = func(m *replay.Missing) {
			t.Helper()
			t.Logf("%s: %s, and the request is sent without it; set RunOptions.Authorize", file, analysis.Clean(m.String()))
		}
	}
}

func hint(err error) string {
	if errors.Is(err, replay.ErrSeveralAgents) {
		return "; set Options.Agents, the URLs of live agents by the names of recorded ones"
	}
	return ""
}

// redacted returns a sink that hides the credentials of the session's requests, and their replacements.
func (o *RunOptions) redacted(ctx context.Context, live *capture.Memory) (capture.Sink, error) {
	names := &redact.Names{}
	if o.Authorize != nil {
		given := &client.Outgoing{Header: http.Header{}}
		if err := o.Authorize(ctx, given); err != nil {
			return nil, err
		}
		var headers, query []string
		for name := range given.Header {
			headers = append(headers, name)
		}
		_, pairs, _ := strings.Cut(given.URL, "?")
		values, _ := url.ParseQuery(pairs) // the readable part
		for name := range values {
			query = append(query, name)
		}
		names.LearnForAll(headers, query)
	}
	return record.NewSink(live, redact.Options{Describer: reading.NewDescriber(), Names: names}), nil
}

// tell fails the test for differences, and logs the rest.
func tell(t testing.TB, file string, r *report.Report) {
	t.Helper()
	for _, text := range differences(r) {
		t.Errorf("%s: %s", file, text)
	}
	for i := range r.Lines {
		if l := &r.Lines[i]; l.Status == report.LeftOut {
			t.Logf("%s: left out: exchange %d %s: %s", file, l.Exchange, l.Operation, analysis.Clean(l.Why))
		}
	}
	if d := r.Deliveries; d.LeftOut > 0 {
		t.Logf("%s: left out: %s: %s", file, analysis.Plural(int64(d.LeftOut), "notification"), analysis.Clean(d.Why))
	}
	for _, note := range r.Notes {
		t.Logf("%s: %s", file, analysis.Clean(note))
	}
	if r.Sent == 0 {
		t.Errorf("%s: nothing was sent, so the agent was not tested", file)
	}
	t.Logf("%s: %s", file, r.Verdict())
}

// differences returns the differences in the form of the text report: each cause with its consequences.
func differences(r *report.Report) []string {
	only := *r
	only.Lines = slices.DeleteFunc(slices.Clone(r.Lines), func(l report.Line) bool { return l.Status == report.LeftOut })
	only.Notes, only.Deliveries = nil, report.Deliveries{}
	var b bytes.Buffer
	if err := report.Text(&b, &only); err != nil {
		return []string{err.Error()} // of memory
	}
	text := strings.TrimSpace(b.String())
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n\n")
}

// keep writes the live traffic.
func (o *RunOptions) keep(t testing.TB, file string, live *capture.Memory) {
	t.Helper()
	var list []*capture.Exchange
	for x, err := range live.Exchanges(context.WithoutCancel(t.Context()), 1) {
		if err != nil {
			t.Errorf("replaytest.Run: save the traffic: %v", err)
			return
		}
		list = append(list, x)
	}
	session := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	to := filepath.Join(o.KeepIn, fileName(t.Name())+"-"+session+".txtar")
	if err := write(to, list); err != nil {
		t.Errorf("replaytest.Run: save the traffic: %v", err)
		return
	}
	t.Logf("the traffic is in %s; a2atap diff %s %[1]s compares it with the session", to, file)
}
