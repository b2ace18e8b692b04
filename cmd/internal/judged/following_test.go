package judged_test

import (
	"context"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// follow follows a source until the test ends.
func follow(t *testing.T, name string, src capture.Source) *judged.Following {
	t.Helper()
	e := cli.Env{Out: io.Discard, Err: io.Discard, Now: time.Now, Getenv: func(string) string { return "" }}
	f := judged.Follow(e, "test", name, src)
	t.Cleanup(f.Close)
	return f
}

// until waits until what is known is wanted, and returns it.
func until(t *testing.T, f *judged.Following, wanted func(judged.Followed) bool) judged.Followed {
	t.Helper()
	for end := time.After(must.Patience); ; {
		now, changed := f.Now()
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

func whole(n judged.Followed) bool { return n.Whole && n.Err == nil }

// openFile opens a file until the test ends.
func openFile(t *testing.T, file string) capture.Source {
	t.Helper()
	src := must.Get(source.OpenFile(file))(t)
	t.Cleanup(func() { src.Close() })
	return src
}

// A finished capture is judged once; the next who follows it reads that. When it is recorded into again it is judged anew.
func TestFollowFinishedAndResumed(t *testing.T) {
	file := cmdtest.OneExchange(t, filepath.Join(t.TempDir(), "c.a2atap"), 1)
	first := follow(t, file, openFile(t, file))
	if n := until(t, first, whole); n.Capture.Head().Rows != 1 || n.Info.Live {
		t.Errorf("there are %d rows of %+v", n.Capture.Head().Rows, n.Info)
	}
	kept := openFile(t, file)
	if j := judged.KeeperOf(t.Context(), cli.Env{Err: io.Discard}, "test", file, kept).Read(t.Context()); j == nil {
		t.Error("what judging it came to was not kept")
	}
	second := follow(t, file, kept)
	until(t, second, whole)
	cmdtest.OneExchange(t, file, 2)
	for _, f := range []*judged.Following{first, second} {
		n := until(t, f, func(n judged.Followed) bool { return whole(n) && n.Info.Exchanges == 2 })
		expect.Equal(t, "rows after another recording", 2, n.Capture.Head().Rows)
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

// What goes wrong is said, and tried again.
func TestFollowAfterFailures(t *testing.T) {
	m := capture.NewMemory(capture.Info{Name: "test"})
	src := &failing{Source: m.Reader()}
	src.left.Store(2)
	f := follow(t, "-", src)
	for _, want := range []string{"a rule panicked: a mistake of ours", io.ErrUnexpectedEOF.Error()} {
		until(t, f, func(n judged.Followed) bool { return n.Err != nil && strings.Contains(n.Err.Error(), want) })
	}
	must.Do(t, m.Close())
	until(t, f, whole)
}
