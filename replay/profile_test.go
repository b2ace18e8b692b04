package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/compare"
	"a2atap/replay/noise"
	"a2atap/replay/report"
)

// The profiles that compare a change in the agent find it, at its exchange, and no other profile does. A rule hides
// exactly that change.
func TestProfiles(t *testing.T) {
	t.Parallel()
	for name, k := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := k.start(t)
			src := k.record(t, agent)
			for _, profile := range []compare.Profile{compare.Protocol, compare.Shape, compare.Exact} {
				r := within(t, src, agent, replay.Options{Profile: profile})
				wantSame(t, r)
				if texts := strings.Contains(r.Verdict(), "texts not compared: "); texts == (profile == compare.Exact) {
					t.Errorf("%s: the verdict is %q", profile, r.Verdict())
				}
			}
			for n, p := range planted {
				if p.session != name || !everyWay && n%3 != 0 {
					continue
				}
				number := uint64(0)
				if p.in != "" {
					number = k.number(t, p.in)
				}
				keep := func(x *capture.Exchange) bool { // exchanges after the change are sent only with the tag peers
					return everyWay || number == 0 || x.Seq <= number
				}
				found := false
				changed := edited(t, src, func(x *capture.Exchange) {
					if number == 0 || x.Seq == number {
						found = replaceIn(x, p.was, p.now) || found
					}
				})
				if !found {
					t.Errorf("%s: nothing to change", p.name)
					continue
				}
				for profile, want := range map[compare.Profile]compare.Kind{
					compare.Protocol: p.protocol, compare.Shape: p.shape, compare.Exact: p.exact,
				} {
					wanted := ""
					if want != "" {
						wanted = fmt.Sprintf("%d %s ", number, want)
					}
					r := within(t, changed, agent, replay.Options{Profile: profile, Keep: keep})
					if got := kinds(r); got != wanted {
						t.Errorf("%s by %s: found %q, want %q: %v", p.name, profile, got, wanted, r.Differences)
					}
					if wanted == "" {
						continue
					}
					if p.rule == "" {
						r = within(t, changed, agent, replay.Options{Profile: profile, Keep: keep, Noise: mayDiffer(t, "*:/*", "/result",
							"/error")})
						if got := kinds(r); got != wanted {
							t.Errorf("%s by %s, all values ignored: found %q, want %q: %v", p.name, profile, got, wanted,
								r.Differences)
						}
						continue
					}
					r = within(t, changed, agent, replay.Options{Profile: profile, Keep: keep, Noise: mayDiffer(t, p.rule)})
					if got := kinds(r); got != "" || len(r.Notes) > 0 {
						t.Errorf("%s by %s, %s ignored: found %q: %v %q", p.name, profile, p.rule, got, r.Differences, r.Notes)
					}
					expect.Contains(t, fmt.Sprintf("%s by %s, %s ignored: the verdict", p.name, profile, p.rule),
						" by 1 rule", r.Verdict())
				}
			}
		})
	}
}

// kinds returns the numbers and kinds of differences.
func kinds(r *report.Report) string {
	got := ""
	for _, d := range r.Differences {
		got += fmt.Sprintf("%d %s ", d.Exchange, d.Kind)
	}
	return got
}

// mayDiffer returns rules for values that may differ, as in a file.
func mayDiffer(t testing.TB, lines ...string) *noise.Rules {
	t.Helper()
	return noise.New(must.Get(noise.Read(strings.NewReader(strings.Join(lines, "\n")), "rules"))(t)...)
}
