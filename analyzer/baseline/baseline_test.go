package baseline_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer"
	"a2atap/analyzer/baseline"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
)

var (
	echo  = &analyzer.Rule{ID: "rpc-id-echo"}
	first = &analyzer.Rule{ID: "stream-first-event"}
)

func finding(r *analyzer.Rule, exchange uint64, agent string) *analyzer.Finding {
	return &analyzer.Finding{
		Rule: r, Side: a2a.Agent, Link: analyzer.Link{Client: "planner", Agent: agent}, Operation: a2a.SendMessage,
		Place: analyzer.Place{Exchange: exchange, Response: true}.Body().At("/id"), Message: "seen; expected",
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
	for _, f := range []*analyzer.Finding{finding(first, 3, "booker"), finding(echo, 3, "hotel")} {
		if b.Knows(f) {
			t.Errorf("%s at %s is known, and nobody accepted it", f.Rule.ID, f.Link.Agent)
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
	cover := func(r *analyzer.Rule, agent string) judgment.Coverage {
		return judgment.Coverage{Rule: r, Link: analyzer.Link{Agent: agent}, Applied: 1}
	}
	if stale := b.Stale([]judgment.Coverage{cover(echo, "hotel")}); stale != nil {
		t.Errorf("nothing was observed, and yet %v are stale", stale)
	}
	b.Knows(finding(first, 4, "booker"))
	stale := b.Stale([]judgment.Coverage{cover(echo, "booker"), cover(first, "booker")})
	if len(stale) != 1 || stale[0].Rule != echo.ID {
		t.Fatalf("stale are %v, want the one of %s", stale, echo.ID)
	}
	b.Drop(stale)
	if len(b.Known) != 1 || b.Known[0].Rule != first.ID {
		t.Errorf("left are %v", b.Known)
	}
}

// Reasons are people's words and survive.
func TestReasonsAreKept(t *testing.T) {
	b := &baseline.Baseline{}
	b.Accept(finding(echo, 3, "booker"))
	b.Known[0].Reason = "mended in the next release"
	b = reread(t, b)
	b.Accept(finding(echo, 5, "booker"))
	if b.Known[0].Reason != "mended in the next release" {
		t.Errorf("the reason is %q", b.Known[0].Reason)
	}
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                "no baseline",
		"[]":              "no baseline",
		"{}":              `no "version"`,
		`{"version":1}{}`: "more than one",
		`{"version":9}`:   "version 9",
		`{"version":1,"known":[{"rule":"a-rule"}]}`: "entry 1 has no fingerprint",
	} {
		if _, err := baseline.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; want one with %q", text, err, want)
		}
	}
	if _, err := baseline.Read(broken{}); err == nil {
		t.Error("no error from a reader that fails")
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }

// reread writes a baseline and reads it again; nothing is lost on the way, and nothing changes the second time.
func reread(t *testing.T, b *baseline.Baseline) *baseline.Baseline {
	t.Helper()
	var once, twice bytes.Buffer
	if err := b.Write(&once); err != nil {
		t.Fatal(err)
	}
	again, err := baseline.Read(bytes.NewReader(once.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Write(&twice); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(once.String(), twice.String()); diff != "" {
		t.Errorf("written again (-once +twice):\n%s", diff)
	}
	return again
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"version":1,"known":[{"fingerprint":"00","rule":"rpc-id-echo"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := baseline.Read(bytes.NewReader(text))
		if err == nil {
			reread(t, b)
		}
	})
}
