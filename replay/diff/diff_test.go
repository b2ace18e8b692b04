package diff_test

import (
	"bytes"
	"iter"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/replay/compare"
	"a2atap/replay/diff"
	"a2atap/replay/report"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // few objects live long: this saves a tenth of the time
	os.Exit(m.Run())
}

// source makes a capture from exchanges.
func source(t testing.TB, exchanges []*capture.Exchange) capture.Source {
	t.Helper()
	return must.Get(capture.ReadMemory(capture.Info{Name: "test"}, capture.Each(exchanges...)))(t)
}

var profiles = []compare.Profile{compare.Protocol, compare.Shape, compare.Exact}

// run compares two lists of exchanges.
func run(t testing.TB, was, now []*capture.Exchange, o diff.Options) *report.Report {
	t.Helper()
	return must.Get(diff.Run(t.Context(), source(t, was), source(t, now), o))(t)
}

// told returns the differences as lines.
func told(r *report.Report) (lines []string) {
	for i := range r.Differences {
		d := &r.Differences[i]
		lines = append(lines, strings.TrimSpace(d.Side+" "+d.String()))
	}
	return lines
}

// Every capture is equal to itself, under every profile, whatever rules are broken in it.
func TestEqualToItself(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, s := range rulestest.Scenarios(t) {
		exchanges := must.Get(s.Parse())(t).Exchanges
		for _, profile := range profiles {
			if profile == compare.Shape || profile == compare.Protocol && !strings.HasPrefix(s.Name, "wild/") {
				continue // it checks nothing that exact does not
			}
			r := run(t, exchanges, exchanges, diff.Options{Profile: profile})
			if len(r.Differences) > 0 || r.Missing+r.New > 0 {
				t.Errorf("%s by %s: %s\n%s", &s, profile, r.Verdict(), strings.Join(told(r), "\n"))
			}
			compared += r.Sent
		}
	}
	if compared < 1000 {
		t.Errorf("%d exchanges were compared", compared)
	}
}

// Ids that were renamed consistently are not a difference.
func TestOtherIDs(t *testing.T) {
	t.Parallel()
	for _, s := range rulestest.Scenarios(t, "wild") {
		was, now := must.Get(s.Parse())(t).Exchanges, renamed(t, must.Get(s.Parse())(t).Exchanges)
		for _, profile := range []compare.Profile{compare.Protocol, compare.Exact} { // exact covers shape
			o := diff.Options{Profile: profile}
			if profile == compare.Protocol {
				o.Rules = rules.All
			}
			r := run(t, was, now, o)
			if len(r.Differences) > 0 {
				t.Errorf("%s by %s: %s\n%s", &s, profile, r.Verdict(), strings.Join(told(r), "\n"))
			}
		}
	}
}

// renamed returns exchanges with other ids: it replaces each character of an id by another of the same kind.
func renamed(t testing.TB, exchanges []*capture.Exchange) []*capture.Exchange {
	t.Helper()
	ids := map[string]string{}
	for _, x := range exchanges {
		for _, id := range idsOf(x) {
			ids[id] = rotate(id)
		}
	}
	var pairs []string
	for _, id := range slices.SortedFunc(keysOf(ids), func(a, b string) int { return len(b) - len(a) }) {
		pairs = append(pairs, id, ids[id])
	}
	all := strings.NewReplacer(pairs...)
	for _, x := range exchanges {
		edit(x, func(b []byte) []byte { return []byte(all.Replace(string(b))) })
	}
	return exchanges
}

func keysOf(m map[string]string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func rotate(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return '0' + (r-'0'+3)%10
		case r >= 'a' && r <= 'f':
			return 'a' + (r-'a'+1)%6
		}
		return r
	}, id)
}

// edit changes all texts of an exchange.
func edit(x *capture.Exchange, change func([]byte) []byte) {
	x.Request.Head = change(x.Request.Head)
	body := &x.Request.Body
	body.Data = change(body.Data)
	if x.Response == nil {
		return
	}
	x.Response.Body.Data = change(x.Response.Body.Data)
	for i := range x.Response.Events {
		x.Response.Events[i].Raw = change(x.Response.Events[i].Raw)
	}
}

// replace replaces text in an exchange, and fails the test if the text is missing.
func replace(t testing.TB, x *capture.Exchange, was, now string) {
	t.Helper()
	found := false
	edit(x, func(b []byte) []byte {
		found = found || bytes.Contains(b, []byte(was))
		return bytes.ReplaceAll(b, []byte(was), []byte(now))
	})
	if !found {
		t.Fatalf("exchange %d has no %q", x.Seq, was)
	}
}
