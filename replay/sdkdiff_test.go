package replay_test

import (
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/proxy/must"
	"a2atap/replay/compare"
	"a2atap/replay/diff"
)

// What the official client said to the official agent twice is the same, though ids, times, polls and chunks are others.
func TestDiffOfSDKs(t *testing.T) {
	t.Parallel()
	for _, p := range sdkPairs {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			was := recordSDK(t, p)
			for _, profile := range []compare.Profile{compare.Protocol, compare.Shape} {
				r := must.Get(diff.Run(t.Context(), was, recordSDK(t, p), diff.Options{Profile: profile, Rules: rules.All}))(t)
				if !r.Same() || r.Sent < 15 {
					t.Errorf("%s: %s", profile, r.Verdict())
				}
				for i := range r.Differences {
					t.Errorf("  %s", r.Differences[i].String())
				}
			}
		})
	}
}
