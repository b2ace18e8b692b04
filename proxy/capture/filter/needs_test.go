package filter_test

import (
	"testing"

	"a2atap/proxy/capture/filter"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestNeeds(t *testing.T) {
	for expr, want := range map[string]bool{
		"is:failed":                    true,
		"agent:booker is:FAILED":       true,
		"is:failed or is:error":        false,
		"not is:failed":                false,
		"(is:failed) op:GetTask":       true,
		"is:error":                     false,
		"state:failed":                 false,
		"failed":                       false,
		"":                             false,
		"op:Send* (is:failed is:push)": true,
	} {
		expect.Equal(t, expr+" needs failed", want, must.Get(filter.Parse(expr))(t).Needs("failed"))
	}
	var none *filter.Filter
	if none.Needs("failed") {
		t.Error("no filter needs something")
	}
}
