package filter_test

import (
	"testing"

	"a2atap/proxy/capture/filter"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestPart(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"rule:a", "rule:a"},
		{"agent:x rule:a severity:error", "rule:a"},
		{"rule:a or side:client", "rule:a or side:client"},
		{"(rule:a or side:client) agent:x", "rule:a or side:client"},
		{"(rule:a agent:x) or (severity:note client:y)", "rule:a or severity:note"},
		{"rule:a or agent:x", ""},
		{"not rule:a", ""},
		{"agent:x not severity:error", ""},
		{"word", ""},
		{"", ""},
	} {
		f := must.Get(filter.Parse(c.expr))(t)
		got := ""
		if p := f.Part("rule", "severity", "side"); p != nil {
			got = p.String()
		}
		expect.Equal(t, "of "+c.expr, c.want, got)
	}
}
