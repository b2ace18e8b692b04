package diff_test

import (
	"bytes"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
	"a2atap/replay/compare"
	"a2atap/replay/diff"
	"a2atap/replay/report"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // what is alive is little: this saves a tenth of the time
	os.Exit(m.Run())
}

const testdata = "../../analyzer/rules/testdata"

// transcripts returns the paths of recordings and of transcripts that provoke each rule.
func transcripts(t testing.TB, under string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(filepath.Join(testdata, under), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".txtar") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	return paths
}

// read returns the exchanges of a transcript.
func read(t testing.TB, path string) []*capture.Exchange {
	t.Helper()
	return must.Get(transcript.ReadFile(path))(t).Exchanges
}

// source makes a capture of exchanges.
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

// Every capture is equal to itself, however closely it is looked at, and whatever rules are broken in it.
func TestEqualToItself(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, path := range transcripts(t, "") {
		exchanges := read(t, path)
		for _, profile := range profiles {
			if profile == compare.Shape || profile == compare.Protocol && !strings.Contains(path, "/wild/") {
				continue // it looks at nothing that exact does not
			}
			r := run(t, exchanges, exchanges, diff.Options{Profile: profile})
			if len(r.Differences) > 0 || r.Missing+r.New > 0 {
				t.Errorf("%s by %s: %s\n%s", path, profile, r.Verdict(), strings.Join(told(r), "\n"))
			}
			compared += r.Sent
		}
	}
	if compared < 1000 {
		t.Errorf("%d exchanges were compared", compared)
	}
}

// Ids that are others throughout are not a difference.
func TestOtherIDs(t *testing.T) {
	t.Parallel()
	for _, path := range transcripts(t, "wild") {
		was, now := read(t, path), renamed(t, read(t, path))
		for _, profile := range []compare.Profile{compare.Protocol, compare.Exact} { // shape looks at nothing that exact does not
			o := diff.Options{Profile: profile}
			if profile == compare.Protocol {
				o.Rules = rules.All
			}
			r := run(t, was, now, o)
			if len(r.Differences) > 0 {
				t.Errorf("%s by %s: %s\n%s", path, profile, r.Verdict(), strings.Join(told(r), "\n"))
			}
		}
	}
}

// renamed returns exchanges with other ids: each byte of an id is another one, of the same sort.
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

// replace replaces text in an exchange, and fails the test if it was not there.
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
