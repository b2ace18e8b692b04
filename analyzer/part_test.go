package analyzer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/proxy/capture"
)

// judgeParts returns what is found in a conversation: in the whole, in each of n parts, and in the parts together.
func judgeParts(
	c *enginetest.Conversation, n int, rules ...*analyzer.Rule,
) (whole []string, parts [][]string, joined []string) {
	c.T.Helper()
	memory := capture.NewMemory(capture.Info{Name: "c"})
	if err := memory.Append(c.Steps...); err != nil {
		c.T.Fatal(err)
	}
	if err := memory.Close(); err != nil {
		c.T.Fatal(err)
	}
	var results []*analyzer.Result
	for k := range n + 1 {
		p := analyzer.Part{Number: k, Of: n}
		if k == 0 {
			p = analyzer.Part{}
		}
		r, err := analyzer.Run(c.T.Context(), rules, memory, nil, analyzer.InPart(p))
		if err != nil {
			c.T.Fatal(err)
		}
		if k == 0 {
			whole = enginetest.Texts(r.Findings)
			continue
		}
		results, parts = append(results, r), append(parts, enginetest.Texts(r.Findings))
	}
	r, err := analyzer.Join(rules, results)
	if err != nil {
		c.T.Fatal(err)
	}
	r.Settle()
	return whole, parts, enginetest.Texts(r.Findings)
}

// What belongs to one context is judged in one part, also what came before anybody knew the context.
func TestContextsStayTogether(t *testing.T) {
	t.Parallel()
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	again := strings.Replace(enginetest.Send, `"messageId":"m1"`, `"messageId":"m2","contextId":"c1"`, 1)
	for range 3 {
		c.Exchange("planner", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t1"}}`,
			strings.NewReplacer(`{"task":`, "", "}}}}", "}}}").Replace(enginetest.Working))
		c.Exchange("planner", again, enginetest.Working)
	}
	whole, parts, joined := judgeParts(c, 7, enginetest.Rule("r", analyzer.AnswerSeen, enginetest.At(enginetest.Here)))
	if diff := cmp.Diff(whole, joined); diff != "" || len(whole) != 7 {
		t.Errorf("%d findings; parts (-whole +joined):\n%s", len(whole), diff)
	}
	for i, found := range parts {
		if len(found) != 0 && len(found) != len(whole) {
			t.Errorf("part %d has %d of %d findings", i+1, len(found), len(whole))
		}
	}
}

// A rule that reports once in an exchange may find it broken there by what comes in others, in whichever part they are.
func TestPartsAgreeOnWhoIsTheFirst(t *testing.T) {
	t.Parallel()
	var pages []string
	rule := enginetest.Rule("r", analyzer.AnswerSeen, func(p *analyzer.Pass) {
		p.Report(analyzer.Place{Exchange: 1, Response: true}, "seen", "expected")
	})
	rule.Once, rule.Needs = analyzer.PerExchange, []*analyzer.Tracker{noting("a", &pages)}
	outer := enginetest.Rule("outer", analyzer.AnswerSeen, func(p *analyzer.Pass) {
		if p.Exchange.Seq == 2 { // then the other one is covered, and the next to find it is the first
			p.Report(analyzer.Place{Exchange: 1, Response: true}, "seen", "expected")
		}
	})
	outer.Covers = []string{"r"}
	c := &enginetest.Conversation{T: t}
	c.Open("planner", enginetest.RPCHead) // and it stays open
	for range 20 {
		c.Exchange("planner", enginetest.Send, enginetest.Working)
	}
	whole, _, joined := judgeParts(c, 4, rule, outer)
	if diff := cmp.Diff(whole, joined); diff != "" || len(whole) != 2 {
		t.Errorf("%d findings; parts (-whole +joined):\n%s", len(whole), diff)
	}
}

func TestParsePart(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1/1", "2/4", "1000/1000"} {
		p, err := analyzer.ParsePart(text)
		if err != nil || p.String() != text || p.IsWhole() {
			t.Errorf("%q: got %v, %v", text, p, err)
		}
	}
	for _, text := range []string{
		"", "1", "0/4", "5/4", "-1/4", "01/4", "1/04", "1/4/2", "1/1001", " 1/4", "x/y", "1/", "/4",
	} {
		if p, err := analyzer.ParsePart(text); err == nil || !p.IsWhole() {
			t.Errorf("%q: got %v, want an error", text, p)
		}
	}
}

// Anything but all parts of one capture is refused, by name.
func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	part := func(number, of int) *analyzer.Result {
		return &analyzer.Result{
			Portion: analyzer.Portion{Part: analyzer.Part{Number: number, Of: of}, Steps: 7, Sum: "a"},
		}
	}
	grown, other, counted := part(2, 2), part(2, 2), part(2, 2)
	grown.Portion.Steps, other.Portion.Sum, counted.Counts.Events = 8, "b", 1
	live, insecure, killed := part(2, 2), part(2, 2), part(2, 2)
	live.Live, insecure.Insecure, killed.Crashes = true, true, []capture.Crash{{Within: 1}}
	for _, r := range []*analyzer.Result{live, insecure, killed} {
		_, err := analyzer.Join(nil, []*analyzer.Result{part(1, 2), r})
		if err == nil || !strings.Contains(err.Error(), "part 2/2 was judged in another state of the capture") {
			t.Errorf("got %v", err)
		}
	}
	for want, parts := range map[string][]*analyzer.Result{
		"no part is given":                  nil,
		"of a whole capture, not of a part": {part(1, 2), {}},
		"part 2/2 is missing":               {part(1, 2)},
		"part 1/3 is missing":               {part(2, 3), part(3, 3)},
		"part 1/2 is given twice":           {part(1, 2), part(2, 2), part(1, 2)},
		"1/2 and 3/3 are of different":      {part(3, 3), part(1, 2)},
		"it has grown, or is another one":   {part(1, 2), grown},
		"part 2/2 is of another capture":    {part(1, 2), other},
		"of another capture than part 1/2":  {part(1, 2), counted},
	} {
		if _, err := analyzer.Join(nil, parts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := analyzer.Join(nil, []*analyzer.Result{part(2, 2), part(1, 2)}); err != nil {
		t.Error(err)
	}
}

// Captures that differ in anything but times are told apart.
func TestSumTellsCapturesApart(t *testing.T) {
	t.Parallel()
	sums := make(map[string]capture.What)
	for _, what := range []capture.What{
		capture.Opened{},
		capture.Opened{Client: capture.Peer{Name: "a"}},
		capture.Opened{Client: capture.Peer{How: "a"}},
		capture.Opened{Agent: capture.Peer{Name: "a"}},
		capture.RequestEnd{},
		capture.RequestEnd{Size: 1},
		capture.RequestEnd{Trailer: []byte("a: b")},
		capture.ResponseEnd{},
		capture.Informational{},
		capture.RequestBody{},
		capture.RequestBody{Dropped: 1},
		capture.Fact{},
		capture.Fact{Note: "a"},
		capture.Fact{Replayed: true},
		capture.Fact{Rewrites: []capture.Rewrite{{Place: "a", Was: "b"}}},
		capture.Fact{Rewrites: []capture.Rewrite{{Place: "a", Now: "b"}}},
		capture.Closed{},
		capture.Closed{Interrupted: true},
		capture.Closed{Dropped: 1},
		capture.Closed{Fault: &capture.Fault{}},
		capture.Closed{Fault: &capture.Fault{Kind: "reset"}},
		capture.Lost{},
		capture.Lost{Exchanges: 1},
		capture.Lost{Bytes: 1},
		capture.Lost{Reason: "a"},
	} {
		memory := capture.NewMemory(capture.Info{})
		if err := memory.Append(capture.Step{Seq: 1, What: what}); err != nil {
			t.Fatal(err)
		}
		sum, err := analyzer.Sum(t.Context(), memory)
		if err != nil {
			t.Fatal(err)
		}
		if other, known := sums[sum]; known {
			t.Errorf("%T %+v has the sum of %T %+v", what, what, other, other)
		}
		sums[sum] = what
	}
}

// A sum of losses that is too high for its number is not taken for none.
func TestLossesDoNotWrap(t *testing.T) {
	t.Parallel()
	e := analyzer.NewEngine(nil)
	for _, n := range []int64{math.MaxInt64, 1, -1} {
		e.Step(capture.Step{Offset: capture.NotKnown, What: capture.Lost{Exchanges: n}})
	}
	if n := e.Counts().Lost; n != math.MaxInt64 {
		t.Errorf("got %d exchanges lost", n)
	}
	r := &analyzer.Result{Counts: e.Counts()}
	r.Add(&analyzer.Result{Counts: analyzer.Counts{Lost: 1}})
	if r.Counts.Lost != math.MaxInt64 {
		t.Errorf("got %d exchanges lost in two captures", r.Counts.Lost)
	}
}

// A part without findings is not clean, whatever its calls came to.
func TestAPartAloneIsNotClean(t *testing.T) {
	t.Parallel()
	r := &analyzer.Result{
		Counts:  analyzer.Counts{Exchanges: 4, Judged: 1},
		Portion: analyzer.Portion{Part: analyzer.Part{Number: 1, Of: 4}},
	}
	total := &analyzer.Result{}
	total.Add(r)
	v := total.Verdict(analyzer.Error)
	if v.Status != analyzer.StatusIncomplete || !strings.Contains(v.String(), "part 1/4 alone") {
		t.Errorf("got %s", v)
	}
	total.Found[analyzer.Error]++
	if v := total.Verdict(analyzer.Error); v.Status != analyzer.StatusFindings {
		t.Errorf("got %s", v)
	}
}
