package rules_test

import (
	"slices"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// For every rule that covers others, where both break at one place one finding is made: that of the covering rule, in
// every dialect no milder than what it covers, and resting on the section that makes it so bad.
func TestEveryCover(t *testing.T) {
	pairs, milder := 0, 0
	for _, outer := range rules.All {
		for _, id := range outer.Covers {
			pairs++
			inner := rules.ByID(id)
			both := outer.Dialects().Intersect(inner.Dialects())
			if both.Empty() {
				both = outer.Dialects() | inner.Dialects() // of a request and its answer
			}
			if outer.Level < inner.Level {
				milder++
			}
			for d := range both.All() {
				found := breakBoth(t, outer, inner, d)
				if len(found) != 1 || found[0].Rule.ID != outer.ID || !slices.Equal(found[0].Also, []string{id}) {
					t.Errorf("%s covers %s, and both broken in %s make %q", outer.ID, id, d, lines(found))
					continue
				}
				f := found[0]
				if want := max(outer.Level, inner.Level).Severity(); f.Severity != want {
					t.Errorf("%s covers %s in %s: the severity is %s, want %s", outer.ID, id, d, f.Severity, want)
				}
				if worse := outer.Level < inner.Level; slices.Contains(f.Sections(),
					a2a.Cite{In: d, Section: "9"}.String()) != worse {
					t.Errorf("%s covers %s in %s: it rests on %q", outer.ID, id, d, f.Sections())
				}
			}
		}
	}
	if pairs == 0 || milder == 0 {
		t.Errorf("%d rules cover others, %d of them worse ones", pairs, milder)
	}
}

// dialectCalls are calls in one dialect each.
var dialectCalls = map[a2a.Dialect]string{
	a2a.V0_1: `{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t1"}}`,
	a2a.V0_2: `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}`,
	a2a.V0_3: `{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}`,
	a2a.V1_0: `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t1"}}`,
}

// breakBoth judges one call of a dialect with two rules that bear the names and levels of those given and break at the
// same place.
func breakBoth(t *testing.T, outer, inner *analysis.Rule, in a2a.Dialect) []analysis.Finding {
	t.Helper()
	broken := func(r *analysis.Rule, section string, covers ...string) *analysis.Rule {
		stub := *r
		stub.Gravest, stub.If, stub.Odd = 0, 0, 0
		stub.On, stub.Covers, stub.Bindings = analysis.RequestSeen, covers, analysis.OnJSONRPC
		stub.Cites = []a2a.Cite{{In: in, Section: section}}
		if in == a2a.V0_2 { // its calls may be of 0.3
			stub.Cites = append(stub.Cites, a2a.Cite{In: a2a.V0_3, Section: section})
		}
		stub.Check = func(p *analysis.Pass) { p.Report(p.Place, "seen", "expected") }
		return &stub
	}
	body := dialectCalls[in]
	e := engine.New([]*analysis.Rule{broken(inner, "9"), broken(outer, "1", inner.ID)})
	var found []analysis.Finding
	for i, what := range []capture.What{
		capture.Opened{Agent: capture.Peer{URL: "http://booker.example:9001"}, Head: []byte("POST /rpc HTTP/1.1\r\n\r\n")},
		capture.RequestBody{Data: []byte(body)},
		capture.RequestEnd{Size: int64(len(body))},
	} {
		found = append(found, e.Step(capture.Step{Arrival: uint64(i + 1), Seq: 1, What: what})...)
	}
	return found
}
