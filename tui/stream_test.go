package tui

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
)

// inParts fails when an exchange is read as a whole.
type inParts struct {
	*bolt.Reader
	t *testing.T
}

func (p inParts) Exchange(ctx context.Context, seq uint64) (*capture.Exchange, error) {
	p.t.Errorf("exchange %d is read as a whole", seq)
	return p.Reader.Exchange(ctx, seq)
}

func (p inParts) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	p.t.Errorf("exchanges from %d on are read as a whole", from)
	return p.Reader.Exchanges(ctx, from)
}

// A stream of very many events is in the list, the detail and the ladder without being in memory.
func TestLongStreamIsNotHeld(t *testing.T) {
	const events = 200_000
	path := filepath.Join(t.TempDir(), "long.a2atap")
	s := must.Get(bolt.Open(path, bolt.Options{}))(t)
	steps := tuitest.Subscribed(1, "t-1")
	steps[2].Keys = []capture.Key{{Kind: "task", Value: "t-1"}}
	for k := range events {
		steps = append(steps, tuitest.Status(1, k+1, "t-1", "TASK_STATE_WORKING"))
	}
	must.Do(t, s.Append(steps...))
	steps = nil
	end(t, s)
	r := must.Get(bolt.Read(path))(t)
	defer r.Close()
	before := heap()
	u := startUI(t, inParts{r, t}, 80, 24, Options{Rules: []*analysis.Rule{}})
	defer u.cancel()
	u.until("the list", func() bool { return strings.Contains(u.screen(), "SubscribeToTask") })
	u.strike("enter")
	d := u.m.top().(*detail.Panel)
	u.strike("G")
	u.until("the last events", func() bool { return !d.More && d.Ready && strings.Contains(u.screen(), "·200000 ") })
	u.strike("k")
	u.strike("k")
	u.strike("enter")
	u.until("the content of the last event", func() bool { return strings.Contains(u.screen(), `"statusUpdate"`) })
	u.strike("l")
	u.until("the ladder", func() bool { return strings.Contains(u.screen(), "·1 status working") })
	const drawn = 400 // events from each end
	gap := fmt.Sprintf("·%d–%d not drawn", drawn+1, events-drawn)
	for page := 0; page < 100 && !strings.Contains(u.screen(), gap); page++ {
		u.strike("ctrl+f")
	}
	u.sees(gap)
	u.until("the end of checking, which allocates", func() bool { return u.m.shared.Judged.Ended })
	if got := heap() - before; got > 24<<20 { // the events themselves are some 80 MiB
		t.Errorf("looking at it takes %d bytes", got)
	}
	runtime.KeepAlive(u)
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// steady takes a millisecond for each step of an exchange.
type steady struct {
	capture.Source
	steps atomic.Int64
}

func (s *steady) StepsOf(ctx context.Context, seq, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		for step, err := range s.Source.StepsOf(ctx, seq, from) {
			s.steps.Add(1)
			time.Sleep(time.Millisecond)
			if !yield(step, err) {
				return
			}
		}
	}
}

func TestKeysWhileAStreamLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Long(t, 3_000)
		end(t, m)
		src := &steady{Source: m.Reader()}
		u := newUI(t, src, 80, 24, Options{})
		u.press("enter")
		u.sees("loading ", "·1 ")
		u.press("j", "j")
		if d := u.m.top().(*detail.Panel); d.Window.Cursor != 2 || !d.More {
			t.Errorf("two keys while it loads: line %d, loading %v", d.Window.Cursor, d.More)
		}
		u.press("G")
		u.sees(">… loading")
		u.pass(10 * time.Second)
		u.sees("·3000 ", ">… still open", "3,000 events, as JSON")

		before := src.steps.Load()
		u.press("esc", "enter", "esc")
		u.pass(100 * time.Millisecond)
		left := src.steps.Load()
		u.pass(10 * time.Second)
		if got := src.steps.Load(); got != left || left-before > 1_000 || left == before {
			t.Errorf("%d steps were read after the view was left, %d before", got-left, left-before)
		}

		u.run(u.m.openDetail(load.EventAt(&capture.Exchange{Seq: 1}, 2_900)))
		u.pass(300 * time.Millisecond)
		if d := u.m.top().(*detail.Panel); d.Window.Cursor != 0 {
			t.Errorf("before the goal was read the cursor is at line %d", d.Window.Cursor)
		}
		u.pass(10 * time.Second)
		if got, want := u.m.top().Target(), load.EventAt(&capture.Exchange{Seq: 1}, 2_900); got != want {
			t.Errorf("the cursor is at %v, want %v", got, want)
		}
		u.isOn("·2900 ")
		u.isOn("status working")
	})
}
