package redact

import (
	"path/filepath"
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
	for _, pattern := range []string{"wild/a2a-*.txtar", "auth/*.txtar"} {
		paths, err := filepath.Glob(filepath.Join("../../../analyzer/rules/testdata", pattern))
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s: no transcripts, error %v", pattern, err)
		}
		for _, path := range paths {
			t := must.Get(transcript.ReadFile(path))(f)
			for _, x := range t.Exchanges[:min(4, len(t.Exchanges))] {
				if x.Response != nil && len(x.Response.Head)+len(x.Response.Body.Data) <= longest {
					out = append(out, x)
				}
			}
		}
	}
	return out
}
