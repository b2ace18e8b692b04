package minimize_test

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/minimize"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
)

// few are the families of which one transcript is taken where not all are.
var few = []string{
	"card", "ending", "events", "grpc", "http", "jsonrpc", "lifecycle", "parallel", "push", "signature", "task", "workflow",
}

// transcripts returns transcripts of the rules: all, or the first of a few families and a recording.
func transcripts(t testing.TB) []transcript.Scenario {
	t.Helper()
	list := rulestest.Scenarios(t)
	if everyTranscript {
		return list
	}
	first := make(map[string]bool)
	return slices.DeleteFunc(list, func(s transcript.Scenario) bool {
		family := path.Dir(s.Name)
		was := first[family] || !slices.Contains(few, family)
		first[family] = first[family] || len(must.Get(s.Parse())(t).Want) > 0
		return (was || !first[family]) && s.Name != "wild/langgraph-api-0.16.7"
	})
}

func run(t testing.TB, exchanges []*capture.Exchange, o minimize.Options) *minimize.Result {
	t.Helper()
	r, err := minimize.Run(t.Context(), rules.All, rulestest.Source(t, exchanges), o)
	if err != nil {
		t.Fatalf("rule %s: %v", o.Rule, err)
	}
	return r
}

// text writes a result down, and reads it again.
func text(t testing.TB, r *minimize.Result) ([]byte, *transcript.Transcript) {
	t.Helper()
	data := transcript.Format(r.Transcript("bug.txtar"))
	tr := must.Get(transcript.Parse("bug.txtar", data))(t)
	return data, tr
}

// Of every finding the result shows the same, nothing else is broken, nothing more can be taken away, and the result of
// the result is the result.
func TestSmallest(t *testing.T) {
	t.Parallel()
	for _, s := range transcripts(t) {
		file, tr := s.Name, must.Get(s.Parse())(t)
		recorded := rulestest.Findings(t, tr.Exchanges)
		seen := make(map[string]bool)
		for i := range recorded {
			f := &recorded[i]
			if seen[f.Rule.ID] {
				continue
			}
			seen[f.Rule.ID] = true
			r := run(t, tr.Exchanges, minimize.Options{Rule: f.Rule.ID})
			data, again := text(t, r)
			var found strings.Builder
			for _, f := range rulestest.Findings(t, again.Exchanges) {
				found.WriteString(f.String() + "\n")
			}
			if found.String() != again.Want {
				t.Errorf("%s, %s: the transcript has the findings\n%swant\n%s", file, f.Rule.ID, found.String(), again.Want)
			}
			g := &r.Finding
			if g.Rule != f.Rule || g.Side != f.Side || g.Severity != f.Severity || g.Link.Agent != f.Link.Agent {
				t.Errorf("%s: got the finding %s, want %s", file, g, f)
			}
			wantNothingNew(t, file, recorded, r)
			wantMinimal(t, file, recorded, r)
			second, _ := text(t, run(t, again.Exchanges, minimize.Options{Rule: f.Rule.ID}))
			if !bytes.Equal(data, second) {
				t.Errorf("%s, %s: once more it is\n%s\nwas\n%s", file, f.Rule.ID, second, data)
			}
		}
	}
}

// wantNothingNew fails the test if a rule is broken that was not broken in the capture.
func wantNothingNew(t *testing.T, file string, recorded []analysis.Finding, r *minimize.Result) {
	t.Helper()
	for i := range r.Findings {
		if f := &r.Findings[i]; !breaks(recorded, f.Rule.ID) {
			t.Errorf("%s, %s: the result breaks a rule that the capture does not: %s", file, r.Finding.Rule.ID, f)
		}
	}
}

func breaks(findings []analysis.Finding, rule string) bool {
	return slices.ContainsFunc(findings, func(f analysis.Finding) bool {
		return f.Rule.ID == rule || slices.Contains(f.Also, rule)
	})
}

// wantMinimal takes each exchange and each header field away from the result: either the finding is lost then, or
// something comes that the capture does not show, or what is left is read in another way.
func wantMinimal(t *testing.T, file string, recorded []analysis.Finding, r *minimize.Result) {
	t.Helper()
	for i, x := range r.Exchanges {
		if len(r.Exchanges) > 1 {
			wantNeeded(t, file, recorded, r, slices.Concat(r.Exchanges[:i], r.Exchanges[i+1:]), wholeExchange)
		}
		lines := slices.Collect(bytes.Lines(x.Request.Head))
		for n := 1; n < len(lines)-1; n++ {
			name, _, _ := strings.Cut(strings.ToLower(string(lines[n])), ":")
			if name == "host" || name == "content-type" || name == "content-encoding" {
				continue // it says how the rest is read
			}
			less := *x
			less.Request.Head = bytes.Join(slices.Concat(lines[:n], lines[n+1:]), nil)
			list := slices.Clone(r.Exchanges)
			list[i] = &less
			wantNeeded(t, file, recorded, r, list, string(bytes.TrimSpace(lines[n])))
		}
	}
}

// wholeExchange is what is taken away if it is no header field.
const wholeExchange = "exchange"

func wantNeeded(
	t *testing.T, file string, recorded []analysis.Finding, r *minimize.Result, less []*capture.Exchange, what string,
) {
	t.Helper()
	findings := rulestest.Findings(t, less)
	shown := slices.ContainsFunc(findings, func(f analysis.Finding) bool {
		g := &r.Finding
		return f.Fingerprint() == g.Fingerprint() && f.Severity == g.Severity && f.Seen == g.Seen &&
			f.Place.Exchange == g.Place.Exchange
	})
	added := slices.ContainsFunc(findings, func(f analysis.Finding) bool {
		if slices.ContainsFunc(f.Also, func(id string) bool { return !breaks(recorded, id) }) {
			return true // beneath what was broken before
		}
		return !slices.ContainsFunc(recorded, func(g analysis.Finding) bool {
			// What is cut inside an exchange may break nothing there that was not broken in it.
			there := what == wholeExchange || g.Place.Exchange == f.Place.Exchange
			return g.Fingerprint() == f.Fingerprint() && g.Seen == f.Seen && there
		})
	})
	if shown && !added && sameReadings(r.Exchanges, less) {
		t.Errorf("%s, %s: %s can be spared", file, r.Finding.Rule.ID, what)
	}
}

func sameReadings(all, less []*capture.Exchange) bool {
	var before, after reading.Reader
	was := make(map[uint64]*reading.Reading)
	for _, x := range all {
		was[x.Seq] = before.Read(x)
	}
	for _, x := range less {
		r := after.Read(x)
		if b := was[x.Seq]; r.Call.Operation != b.Call.Operation || r.Call.Binding != b.Call.Binding ||
			r.Dialects.Intersect(b.Dialects) != b.Dialects {
			return false
		}
	}
	return true
}

// The published capture has no names, and still shows the finding.
func TestAnonymous(t *testing.T) {
	t.Parallel()
	tr := rulestest.Parse(t, "wild/langgraph-api-0.16.7")
	for _, x := range tr.Exchanges {
		x.Agent.URL = strings.ReplaceAll(x.Agent.URL, "127.0.0.1:9401", "agents.acme.test:9401")
		x.Request.Head = bytes.ReplaceAll(x.Request.Head, []byte("127.0.0.1:44185"), []byte("agents.acme.test:9401"))
	}
	for _, rule := range []string{
		"req-to-terminal", "card-cache-control", "stream-response-oneof", "timestamp-no-offset",
	} {
		r := run(t, tr.Exchanges, minimize.Options{Rule: rule, Anonymous: true})
		data, again := text(t, r)
		for _, private := range []string{"acme", "hello", "langgraph", "57842381-12be", "046b5dc7", "python-httpx"} {
			if strings.Contains(string(data), private) {
				t.Errorf("%s: %s is left in\n%s", rule, private, data)
			}
		}
		if !breaks(rulestest.Findings(t, again.Exchanges), rule) {
			t.Errorf("%s is not shown by\n%s", rule, data)
		}
		if len(r.Kept) > 0 {
			t.Errorf("%s: not neutral: %q", rule, r.Kept)
		}
		for _, x := range again.Exchanges {
			if x.ID.Version() != 8 || x.Started.Year() != 2026 {
				t.Errorf("%s: exchange %d has the id %s, and began at %s", rule, x.Seq, x.ID, x.Started)
			}
		}
	}
}

// The same text is the same neutral text everywhere, in paths, too.
func TestAnonymousTextsStaySame(t *testing.T) {
	t.Parallel()
	tr := rulestest.Parse(t, "wild/js10-js10-rest")
	r := run(t, tr.Exchanges, minimize.Options{Rule: "state-cancel-terminal-code", Anonymous: true})
	data, again := text(t, r)
	if n := len(again.Exchanges); n != 2 {
		t.Fatalf("got %d exchanges\n%s", n, data)
	}
	first, second := reading.Read(again.Exchanges[0]), reading.Read(again.Exchanges[1])
	if len(first.Tasks) == 0 || !slices.Equal(first.Tasks, second.Tasks) || !strings.HasPrefix(first.Tasks[0], "id-") {
		t.Errorf("the tasks are %q and %q in\n%s", first.Tasks, second.Tasks, data)
	}
}

// A finding is chosen by its agent, or by its place.
func TestChosenFinding(t *testing.T) {
	t.Parallel()
	tr := rulestest.Parse(t, "wild/langgraph-api-0.16.7")
	const rule = "legacy-field-emitted"
	places := make(map[string]bool)
	for _, f := range rulestest.Findings(t, tr.Exchanges) {
		if f.Rule.ID == rule {
			r := run(t, tr.Exchanges, minimize.Options{Rule: rule, Place: f.Place.String(), Agent: f.Link.Agent})
			if got := r.Recorded.Place.String(); got != f.Place.String() {
				t.Errorf("got the finding at %s, want that at %s", got, f.Place)
			}
			places[f.Place.String()] = true
		}
	}
	if len(places) == 0 {
		t.Errorf("the capture does not show %s", rule)
	}
	for _, o := range []minimize.Options{
		{Rule: rule, Place: "1.request"},
		{Rule: rule, Agent: "nobody"},
		{Rule: "rpc-id-echo"},
		{Rule: rule, Found: func(context.Context) ([]analysis.Finding, error) { return nil, nil }}, // what is known counts
	} {
		if _, err := minimize.Run(t.Context(), rules.All, rulestest.Source(t, tr.Exchanges), o); !errors.Is(err, minimize.ErrNotShown) {
			t.Errorf("%+v: got the error %v", o, err)
		}
	}
}

// When the time is up, the result so far shows the finding.
func TestStopped(t *testing.T) {
	t.Parallel()
	tr := rulestest.Parse(t, "wild/go0315-testkit")
	const rule = "req-to-terminal"
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	r, err := minimize.Run(ctx, rules.All, rulestest.Source(t, tr.Exchanges), minimize.Options{
		Rule: rule, OnStep: func(minimize.Progress) {
			if steps++; steps == 30 { // some exchanges are gone, and others could go
				cancel()
			}
		},
	})
	must.Do(t, err)
	if !r.Stopped || len(r.Exchanges) == 0 || !breaks(rulestest.Findings(t, r.Exchanges), rule) {
		t.Errorf("stopped: %v after %d steps, with %d exchanges", r.Stopped, steps, len(r.Exchanges))
	}
	if _, err := minimize.Run(ctx, rules.All, rulestest.Source(t, tr.Exchanges), minimize.Options{Rule: rule}); err == nil {
		t.Error("without any time there is a result")
	}
}
