package redact

import (
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
)

// seeds returns the first exchanges of each SDK, and those of the rules about credentials. Long ones are left out: from
// them the fuzzer learns little, and slowly.
func seeds(f *testing.F) []*capture.Exchange {
	f.Helper()
	const longest = 600 // bytes of a message
	var out []*capture.Exchange
	for _, s := range must.Get(transcript.ReadDir("../../../analyzer/rules/testdata"))(f) {
		if !strings.HasPrefix(s.Name, "wild/a2a-") && !strings.HasPrefix(s.Name, "auth/") {
			continue
		}
		t := must.Get(s.Parse())(f)
		for _, x := range t.Exchanges[:min(4, len(t.Exchanges))] {
			if x.Response != nil && len(x.Response.Head)+len(x.Response.Body.Data) <= longest {
				out = append(out, x)
			}
		}
	}
	return out
}
