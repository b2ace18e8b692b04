package rule_test

import (
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestSentences(t *testing.T) {
	r := &analysis.Rule{
		ID: "some-rule", Stands: "0.3.0:40 1.0.1:proto:7 1.0.1:90 0.3.0:streaming-and-async:12",
		Cites: rule.Cite("6.1", a2a.V0_3, a2a.V1_0).And("7.2", a2a.V1_0).And("streaming guide §Order", a2a.V0_3).
			And("RFC 8259 §2", a2a.V1_0),
	}
	expect.Same(t, "sentences", []rule.Sentence{
		{Section: "0.3 §6.1", Tag: "v0.3.0", File: "docs/specification.md", Line: 40},
		{Section: "1.0 §6.1", Tag: "v1.0.1", File: "specification/a2a.proto", Line: 7},
		{Section: "1.0 §7.2", Tag: "v1.0.1", File: "docs/specification.md", Line: 90},
		{Section: "streaming guide §Order", Tag: "v0.3.0", File: "docs/topics/streaming-and-async.md", Line: 12},
	}, must.Get(rule.Sentences(r))(t))

	for stands, why := range map[string]string{
		"":                 "rule x: Stands has no entry for 0.3 §6.1",
		"1.0.1:40":         "rule x: Stands has no entry for 0.3 §6.1",
		"0.3.0:40 0.3.0:9": "rule x: Stands has docs/specification.md line 9 of v0.3.0, but no such section is cited",
		"0.3.0":            `rule x: "0.3.0" is neither VERSION:LINE nor VERSION:FILE:LINE`,
		"0.3.0:types:0":    `rule x: "0.3.0:types:0" is neither VERSION:LINE nor VERSION:FILE:LINE`,
	} {
		_, err := rule.Sentences(&analysis.Rule{ID: "x", Cites: rule.Cite("6.1", a2a.V0_3), Stands: stands})
		if err == nil || err.Error() != why {
			t.Errorf("%q: %v, want %s", stands, err, why)
		}
	}
}
