package rules_test

import (
	"slices"
	"testing"

	"a2atap/analyzer"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// For every rule that covers others, where both break at one place one finding is made: that of the covering rule.
func TestEveryCover(t *testing.T) {
	pairs := 0
	for _, outer := range rules.All {
		for _, id := range outer.Covers {
			pairs++
			found := breakBoth(t, outer, rules.ByID(id))
			if len(found) != 1 || found[0].Rule.ID != outer.ID || !slices.Equal(found[0].Also, []string{id}) {
				t.Errorf("%s covers %s, and both broken make %q", outer.ID, id, lines(found))
			}
		}
	}
	if pairs == 0 {
		t.Error("no rule covers another one")
	}
}

// breakBoth judges one call with two rules that bear the names of those given and break at the same place.
func breakBoth(t *testing.T, outer, inner *analyzer.Rule) []analyzer.Finding {
	t.Helper()
	broken := func(r *analyzer.Rule, covers ...string) *analyzer.Rule {
		stub := *r
		stub.On, stub.Covers, stub.Bindings = analyzer.RequestSeen, covers, analyzer.OnJSONRPC
		stub.Cites = []a2a.Cite{{In: a2a.V1_0, Section: "1"}}
		stub.Check = func(p *analyzer.Pass) { p.Report(p.Place, "seen", "expected") }
		return &stub
	}
	const body = `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t1"}}`
	e := analyzer.NewEngine([]*analyzer.Rule{broken(inner), broken(outer, inner.ID)})
	var found []analyzer.Finding
	for i, what := range []capture.What{
		capture.Opened{Agent: capture.Peer{URL: "http://booker.example:9001"}, Head: []byte("POST /rpc HTTP/1.1\r\n\r\n")},
		capture.RequestBody{Data: []byte(body)},
		capture.RequestEnd{Size: int64(len(body))},
	} {
		found = append(found, e.Step(capture.Step{Arrival: uint64(i + 1), Seq: 1, What: what})...)
	}
	return found
}
