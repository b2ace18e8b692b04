package replay_test

import (
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/proxy/must"
	"a2atap/replay/compare"
	"a2atap/replay/diff"
)

// Two recordings of one session of the official client and agent are equal, despite other ids, times, polls and
// chunks.
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
