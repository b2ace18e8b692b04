package baseline_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/baseline"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

var (
	echo  = &analysis.Rule{ID: "rpc-id-echo"}
	first = &analysis.Rule{ID: "stream-first-event"}
)

func finding(r *analysis.Rule, exchange uint64, agent string) *analysis.Finding {
	return &analysis.Finding{
		Rule: r, Side: a2a.Agent, Link: analysis.Link{Client: "planner", Agent: agent}, Operation: a2a.SendMessage,
		Place: analysis.Place{Exchange: exchange, Response: true}.Body().At("/id"), Seen: "seen", Expected: "expected",
	}
}

// What was accepted is known in another capture, at another exchange, and nothing else is.
func TestAcceptedIsKnown(t *testing.T) {
	b := &baseline.Baseline{}
	b.Accept(finding(echo, 3, "booker"))
	b.Accept(finding(echo, 9, "booker"))
	if len(b.Known) != 1 {
		t.Fatalf("one finding twice makes %d entries", len(b.Known))
	}
	b = reread(t, b)
	if !b.Knows(finding(echo, 7, "booker")) {
		t.Error("an accepted finding is not known")
	}
	for _, f := range []*analysis.Finding{finding(first, 3, "booker"), finding(echo, 3, "hotel")} {
		if b.Knows(f) {
			t.Errorf("%s at %s is known, and nobody accepted it", f.Rule.ID, f.Link.Agent)
		}
	}
}

// A finding on a notification is known by its sender, and by entries of the time when the receiver counted as the agent.
// So are notifications that failed.
func TestNotificationIsKnownBySender(t *testing.T) {
	f := finding(echo, 3, "booker")
	f.Operation, f.Link = a2a.Webhook, analysis.Link{Client: "booker", Agent: "planner"}
	failed := &judgment.FailedCalls{
		Exchange: 3, Link: f.Link, Operation: a2a.Webhook.String(), Error: "HTTP 401", Text: "Unauthorized", Count: 1,
	}
	b := &baseline.Baseline{}
	b.Accept(f)
	b.AcceptCalls(failed)
	for _, e := range b.Known {
		if e.Agent != "booker" {
			t.Errorf("%s is of %s, want booker", e.String(), e.Agent)
		}
	}
	old := &baseline.Baseline{Known: []baseline.Entry{
		{Fingerprint: f.OldFingerprint()},
		{Fingerprint: failed.OldFingerprint(), Error: "HTTP 401", Client: "booker", Agent: "planner"},
	}}
	for name, known := range map[string]*baseline.Baseline{"new": b, "old": old} {
		if !known.Knows(f) || !known.KnowsCalls(failed) {
			t.Errorf("a %s baseline does not know the notification", name)
		}
	}
}

// An entry is stale if its rule was observed on its agent and no finding came of it. What was not observed tells
// nothing.
func TestStale(t *testing.T) {
	b := &baseline.Baseline{}
	b.Accept(finding(echo, 3, "booker"))
	b.Accept(finding(first, 3, "booker"))
	b = reread(t, b)
	cover := func(r *analysis.Rule, agent string) judgment.Coverage {
		return judgment.Coverage{Rule: r, Link: analysis.Link{Agent: agent}, Applied: 1}
	}
	if stale := b.Stale([]judgment.Coverage{cover(echo, "hotel")}, nil, nil); stale != nil {
		t.Errorf("nothing was observed, and yet %v are stale", stale)
	}
	b.Knows(finding(first, 4, "booker"))
	stale := b.Stale([]judgment.Coverage{cover(echo, "booker"), cover(first, "booker")}, nil, nil)
	if len(stale) != 1 || stale[0].Rule != echo.ID {
		t.Fatalf("stale are %v, want the one of %s", stale, echo.ID)
	}
	b.Drop(stale)
	if len(b.Known) != 1 || b.Known[0].Rule != first.ID {
		t.Errorf("left are %v", b.Known)
	}
}

var day = time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)

// What has expired accepts nothing, and is named if it would.
func TestExpiry(t *testing.T) {
	for until, known := range map[string]bool{"": true, "2026-03-01": true, "2026-02-28": false} {
		b := &baseline.Baseline{}
		b.Accept(finding(echo, 3, "booker"))
		b.Known[0].Until = until
		b = reread(t, b)
		if len(b.Expired()) != 0 {
			t.Errorf("until %s: it is named, and nothing was found", until)
		}
		if b.Knows(finding(echo, 3, "booker")) != known || (len(b.Expired()) == 0) != known {
			t.Errorf("until %s: known %v; expired are %v", until, !known, b.Expired())
		}
		b.Accept(finding(echo, 3, "booker"))
		if !b.Knows(finding(echo, 3, "booker")) || len(b.Known) != 1 {
			t.Errorf("until %s: accepted again, it is not known; %v", until, b.Known)
		}
	}
}

// Failures of tests are known by name or by id, for one agent or for all, until their entries expire.
func TestFailures(t *testing.T) {
	test := baseline.Test{Agent: "booker", Name: "jsonrpc/a"}
	for text, want := range map[string]string{
		`[]`:                                     "",
		`[{"test": "a"}]`:                        "in the baseline",
		`[{"test": "jsonrpc/a", "reason": "r"}]`: "r",
		`[{"test": "jsonrpc/a", "reason": "r", "agent": "booker"}]`:                  "r",
		`[{"test": "jsonrpc/a", "reason": "r", "agent": "hotel"}]`:                   "",
		`[{"test": "jsonrpc/*", "reason": "r", "until": "2026-03-01"}]`:              "r",
		`[{"test": "jsonrpc/*", "reason": "r", "until": "2026-02-28"}]`:              "",
		`[{"test": "rest/*", "reason": "r"}]`:                                        "",
		`[{"test": "*", "reason": "first"}, {"test": "a", "reason": "second"}]`:      "first",
		`[{"test": "*", "until": "2026-02-28"}, {"test": "a", "reason": "second"}]`:  "second",
		`[{"fingerprint": "00", "rule": "a"}, {"test": "jsonrpc/a", "reason": "r"}]`: "r",
	} {
		b, err := baseline.Read(strings.NewReader(text), day)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, known := b.KnowsFailure(test); got != want || known != (want != "") {
			t.Errorf("%s: known %v by %q, want %q", text, known, got, want)
		}
		b.AcceptFailure(test, "seen; expected")
		if _, known := reread(t, b).KnowsFailure(test); !known {
			t.Errorf("%s: an accepted failure is not known", text)
		}
	}
}

// An entry for a test is stale if the test passes and the entry covers no other failure.
func TestStaleFailures(t *testing.T) {
	b := must.Get(baseline.Read(strings.NewReader(`[{"test": "*/a"}, {"test": "b"}, {"test": "c"}]`), day))(t)
	b.KnowsFailure(baseline.Test{Name: "rest/a"})
	stale := b.Stale(nil, nil, []baseline.Test{{Name: "jsonrpc/a"}, {Name: "jsonrpc/b"}})
	if len(stale) != 1 || stale[0].Test != "b" {
		t.Errorf("stale are %v, want b", stale)
	}
}

func failed(client, text string) *judgment.FailedCalls {
	return &judgment.FailedCalls{
		Exchange: 4, Link: analysis.Link{Client: client, Agent: "booker"}, Binding: a2a.JSONRPC, Operation: "SendMessage",
		Error: "InternalError", Code: "-32603", Text: text, Count: 1,
	}
}

// Failed calls are recognized if their texts differ only in numbers. An entry without a client matches all clients.
func TestAcceptedCalls(t *testing.T) {
	b := &baseline.Baseline{}
	b.AcceptCalls(failed("planner", "job 17 is lost"))
	b.AcceptCalls(failed("planner", "job 18 is lost"))
	if len(b.Known) != 1 {
		t.Fatalf("calls that fail alike make %d entries", len(b.Known))
	}
	b = reread(t, b)
	if !b.KnowsCalls(failed("planner", "job 4711 is lost")) {
		t.Error("accepted calls are not known")
	}
	other := map[string]func(*judgment.FailedCalls){
		"text":      func(f *judgment.FailedCalls) { f.Text = "job 17 is late" },
		"client":    func(f *judgment.FailedCalls) { f.Link.Client = "hotel" },
		"agent":     func(f *judgment.FailedCalls) { f.Link.Agent = "hotel" },
		"binding":   func(f *judgment.FailedCalls) { f.Binding = a2a.HTTPJSON },
		"operation": func(f *judgment.FailedCalls) { f.Operation = "GetTask" },
		"error":     func(f *judgment.FailedCalls) { f.Error = "InvalidParams" },
		"code":      func(f *judgment.FailedCalls) { f.Code = "-32602" },
	}
	for what, change := range other {
		f := failed("planner", "job 17 is lost")
		if change(f); b.KnowsCalls(f) {
			t.Errorf("calls of another %s are known", what)
		}
	}
	b.Known[0].Client = ""
	if !b.KnowsCalls(failed("hotel", "job 5 is lost")) {
		t.Error("an entry without a client does not stand for every client")
	}
	b.Known[0].Until = "2026-02-28"
	if b = reread(t, b); b.KnowsCalls(failed("planner", "job 17 is lost")) || len(b.Expired()) != 1 {
		t.Errorf("an entry that has expired accepts calls; expired are %v", b.Expired())
	}
	b.AcceptCalls(failed("planner", "job 17 is lost"))
	if !b.KnowsCalls(failed("planner", "job 17 is lost")) || len(b.Known) != 1 {
		t.Errorf("accepted again, they are not known: %v", b.Known)
	}
}

// An entry for failed calls is stale once a call of the same client to the same agent succeeds, and none fails so.
func TestStaleCalls(t *testing.T) {
	b := &baseline.Baseline{}
	b.AcceptCalls(failed("planner", ""))
	b = reread(t, b)
	calls := func(client string, succeeded int) []judgment.Calls {
		return []judgment.Calls{{Link: analysis.Link{Client: client, Agent: "booker"}, Made: 1, Succeeded: succeeded}}
	}
	for _, other := range [][]judgment.Calls{nil, calls("planner", 0), calls("hotel", 1)} {
		if stale := b.Stale(nil, other, nil); stale != nil {
			t.Errorf("after %v %v is stale", other, stale)
		}
	}
	stale := b.Stale(nil, calls("planner", 1), nil)
	if b.Drop(stale); len(b.Known) != 0 {
		t.Errorf("%v is not stale", b.Known)
	}
}

// What version 1 accepted is read as it was.
func TestVersion1(t *testing.T) {
	b := must.Get(baseline.Read(strings.NewReader(`{"version": 1, "known": [{"test": "a"}]}`), day))(t)
	if _, known := b.KnowsFailure(baseline.Test{Name: "a"}); !known {
		t.Error("what it accepts is not known")
	}
}

// Reasons are people's words and survive.
func TestReasonsAreKept(t *testing.T) {
	b := &baseline.Baseline{}
	b.Accept(finding(echo, 3, "booker"))
	b.Known[0].Reason = "mended in the next release"
	b = reread(t, b)
	b.Accept(finding(echo, 5, "booker"))
	expect.Equal(t, "the reason", "mended in the next release", b.Known[0].Reason)
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                "not a baseline",
		"{}":              `no "version"`,
		`{"version":1}{}`: "more than one",
		`{"version":9}`:   "version 9",
		`{"version":1,"known":[{"rule":"a-rule"}]}`:                                  "entry 1 has no fingerprint and no test",
		`{"version":1,"known":[{"fingerprint":"0"},{"fingerprint":"1","test":"a"}]}`: "entry 2 has both a fingerprint and a test",
		`{"version":1,"known":[{"fingerprint":"0","until":"soon"}]}`:                 `"until": "soon"; write a day`,
		`{"version":1,"known":[{"fingerprint":"0","untill":"2026-01-31"}]}`:          "untill",
		`[{"test":"["}]`: "write a test's name",
		`[{"x":1}]`:      `unknown field "x"`,
		`[] []`:          "not a baseline",
	} {
		if _, err := baseline.Read(strings.NewReader(text), day); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; want one with %q", text, err, want)
		}
	}
	if _, err := baseline.Read(broken{}, day); err == nil {
		t.Error("no error from a reader that fails")
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }

// reread writes a baseline and reads it again; nothing is lost on the way, and nothing changes the second time.
func reread(t *testing.T, b *baseline.Baseline) *baseline.Baseline {
	t.Helper()
	var once, twice bytes.Buffer
	must.Do(t, b.Write(&once))
	again := must.Get(baseline.Read(bytes.NewReader(once.Bytes()), day))(t)
	must.Do(t, again.Write(&twice))
	if diff := cmp.Diff(once.String(), twice.String()); diff != "" {
		t.Errorf("written again (-once +twice):\n%s", diff)
	}
	return again
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"version":1,"known":[{"fingerprint":"00","rule":"rpc-id-echo"}]}`,
		`[{"test": "a/*", "reason": "r", "until": "2026-03-01"}]`, `[{"test": "["}]`, `[] []`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := baseline.Read(bytes.NewReader(text), day)
		if err == nil {
			reread(t, b)
		}
	})
}
