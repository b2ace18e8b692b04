package filter_test

import (
	"testing"

	"a2atap/proxy/capture/filter"
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
		f, err := filter.Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Needs("failed"); got != want {
			t.Errorf("%q needs failed: %v, want %v", expr, got, want)
		}
	}
	var none *filter.Filter
	if none.Needs("failed") {
		t.Error("no filter needs something")
	}
}
