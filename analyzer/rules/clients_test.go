package rules_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Where two clients break a rule in the same way, both are named, also by the rules that report once for an endpoint.
func TestEveryClientIsNamed(t *testing.T) {
	t.Parallel()
	for _, r := range rules.All {
		if r.Once != analysis.PerEndpoint || r.Side != a2a.Client {
			continue
		}
		provoked := false
		for _, path := range rulestest.Names(t) {
			if !strings.HasPrefix(filepath.Base(path), r.ID) || strings.HasSuffix(path, "-near") {
				continue
			}
			provoked = true
			blamed := func(exchanges []*capture.Exchange) []string {
				var names []string
				for _, f := range rulestest.Findings(t, exchanges) {
					if f.Rule == r && f.Side == a2a.Client {
						names = append(names, f.Link.Client)
					}
				}
				return names
			}
			once := rulestest.Exchanges(t, path)
			alone := blamed(once)
			if len(alone) == 0 {
				continue // it is about an agent, or another rule of that name
			}
			both := blamed(append(once, again(t, path, len(once), "another")...))
			slices.Sort(both)
			both = slices.Compact(both)
			if want := len(slices.Compact(slices.Sorted(slices.Values(alone)))) + 1; len(both) != want {
				t.Errorf("%s: with another client that does the same, %s blames %q, want %d clients", path, r.ID, both, want)
			}
		}
		if !provoked {
			t.Errorf("no transcript provokes %s", r.ID)
		}
	}
}

// again returns the exchanges of a transcript, from another client and after the n that were there.
func again(t *testing.T, path string, n int, client string) []*capture.Exchange {
	t.Helper()
	exchanges := rulestest.Exchanges(t, path)
	for _, x := range exchanges {
		x.Seq += uint64(n)
		x.Client.Name = client
		if !x.Started.IsZero() {
			x.Started = x.Started.Add(time.Hour)
		}
	}
	return exchanges
}
