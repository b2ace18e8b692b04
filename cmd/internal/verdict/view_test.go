package verdict_test

import (
	"context"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/analyzer/rules"
	"a2atap/analyzer/view"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// follow opens the View of a source until the test ends.
func follow(t *testing.T, name string, src capture.Source) *view.View {
	t.Helper()
	v := verdict.View(name, src, rules.All)
	t.Cleanup(func() { must.Do(t, v.Close()) })
	return v
}

// until waits until what is known is wanted, and returns it.
func until(t *testing.T, v *view.View, wanted func(view.State) bool) view.State {
	t.Helper()
	for end := time.After(must.Patience); ; {
		now, changed := v.Now()
		if wanted(now) {
			return now
		}
		select {
		case <-changed:
		case <-end:
			t.Fatalf("it does not come to that; last was %+v", now)
		}
	}
}

func whole(n view.State) bool { return n.Whole && n.Err == nil }

// openFile opens a file until the test ends.
func openFile(t *testing.T, file string) capture.Source {
	t.Helper()
	src := must.Get(source.OpenFile(file))(t)
	t.Cleanup(func() { src.Close() })
	return src
}

// A finished capture is checked once; the next follower loads the results. After the capture is recorded into again, it
// is checked again.
func TestFollowFinishedAndResumed(t *testing.T) {
	file := cmdtest.OneExchange(t, filepath.Join(t.TempDir(), "c.a2atap"), 1)
	first := follow(t, file, openFile(t, file))
	if n := until(t, first, whole); n.Results.Head().Rows != 1 || n.Info.Live {
		t.Errorf("there are %d rows of %+v", n.Results.Head().Rows, n.Info)
	}
	kept := openFile(t, file)
	if j := verdict.Stored(t.Context(), file, kept); j == nil {
		t.Error("what judging it came to was not kept")
	}
	second := follow(t, file, kept)
	until(t, second, whole)
	cmdtest.OneExchange(t, file, 2)
	for _, f := range []*view.View{first, second} {
		n := until(t, f, func(n view.State) bool { return whole(n) && n.Info.Exchanges == 2 })
		expect.Equal(t, "rows after another recording", 2, n.Results.Head().Rows)
	}
}

// A failing source fails a number of times when it is judged, the first time by a panic.
type failing struct {
	capture.Source
	left atomic.Int64
}

func (f *failing) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	switch f.left.Add(-1) {
	case 1:
		panic("a mistake of ours")
	case 0:
		return func(yield func(capture.Step, error) bool) { yield(capture.Step{}, io.ErrUnexpectedEOF) }
	}
	return f.Source.Steps(ctx, from)
}

// Failures are reported, and the operation is retried.
func TestFollowAfterFailures(t *testing.T) {
	m := capture.NewMemory(capture.Info{Name: "test"})
	src := &failing{Source: m.Reader()}
	src.left.Store(2)
	f := follow(t, "-", src)
	for _, want := range []string{"a rule panicked: a mistake of ours", io.ErrUnexpectedEOF.Error()} {
		until(t, f, func(n view.State) bool { return n.Err != nil && strings.Contains(n.Err.Error(), want) })
	}
	must.Do(t, m.Close())
	until(t, f, whole)
}

// Results that turn out to be damaged are made, and stored, again.
func TestDamagedResultsAreStoredAgain(t *testing.T) {
	file := cmdtest.OneExchange(t, filepath.Join(t.TempDir(), "c.a2atap"), 1)
	src := openFile(t, file)
	var said strings.Builder
	e := cli.Env{Out: io.Discard, Err: &said}
	must.Get(verdict.Open(t.Context(), e, "test", file, src, verdict.How{Quiet: true}))(t).Close()
	tries := 0
	must.Do(t, verdict.Use(t.Context(), e, "test", file, src, verdict.How{}, func(j *verdict.Capture) error {
		if tries++; j.Stored {
			return capture.ErrDamagedEntry
		}
		return nil
	}))
	expect.Equal(t, "tries", 2, tries)
	for _, line := range []string{"the capture is checked again\n", "test: checked " + file + " and stored the result in it\n"} {
		expect.Contains(t, "said", line, said.String())
	}
}
