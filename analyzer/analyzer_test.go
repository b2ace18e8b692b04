package analyzer_test

import (
	"testing"

	"a2atap/analyzer"
	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/must"
)

// Follow gives findings as they are made, those of a rule of one's own among them, and ends with the recording.
func TestFollow(t *testing.T) {
	recorded := must.Get(open.File("engine/testdata/resumed.txtar"))(t)
	own := &analyzer.Rule{
		ID: "no-stream", Title: "a stream", Family: "company", Category: analysis.Lifecycle, Level: analysis.Should,
		Side: a2a.Agent, On: analysis.StreamEnded, Bindings: analysis.OnJSONRPC,
		Cites: []a2a.Cite{{In: a2a.V1_0, Section: "9.1"}}, Doc: "It streams.", Fix: "Do not.", Silent: "Never.",
		Check: func(p *analysis.Pass) {
			p.Applied()
			p.Report(analysis.Place{Exchange: p.Exchange.Seq}, "a stream", "expected none")
		},
	}
	var found []string
	result, err := analyzer.Follow(t.Context(), recorded, func(f analyzer.Finding) { found = append(found, f.Rule.ID) }, own)
	must.Do(t, err)
	if len(found) != 2 || found[0] != "stream-closed-on-terminal" || found[1] != "no-stream" {
		t.Errorf("found %q, want stream-closed-on-terminal and the rule of one's own", found)
	}
	if len(result.Findings) > 0 || result.Live {
		t.Errorf("the result has %d findings, and more may come is %t", len(result.Findings), result.Live)
	}
}

// A rule that is not complete is an error, and nothing is judged.
func TestRuleOfOnesOwn(t *testing.T) {
	recorded := must.Get(open.File("engine/testdata/resumed.txtar"))(t)
	if _, err := analyzer.Judge(t.Context(), recorded, &analyzer.Rule{ID: "x"}); err == nil {
		t.Error("a rule without a check is taken")
	}
}
