package load

import (
	"testing"

	"a2atap/analyzer"
)

// What nobody takes is kept up to a bound.
func TestVerdictsWaitBounded(t *testing.T) {
	v := NewVerdicts(0)
	for range maxListed + 1 {
		v.Found(analyzer.Finding{})
	}
	if n := len(v.news.Findings); n != maxListed || v.news.Further.Total() != 1 {
		t.Errorf("%d findings wait, and %d are counted; want %d and 1", n, v.news.Further.Total(), maxListed)
	}
}
