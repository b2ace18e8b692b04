package tui

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/style"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// store writes a capture of so many calls into a file.
func store(tb testing.TB, calls int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "big.a2atap")
	s := must.Get(bolt.Open(path, bolt.Options{}))(tb)
	for seq := range uint64(calls) {
		task := fmt.Sprintf("t-%d", seq/4)
		steps := tuitest.Call(seq+1, task, "TASK_STATE_WORKING")
		steps[2].Keys = []capture.Key{{Kind: "task", Value: task}}
		must.Do(tb, s.Append(steps...))
	}
	must.Do(tb, s.Close())
	return path
}

// counting counts how much of a capture is read, except by the rules, which run in parallel with the screen.
type counting struct {
	capture.Source
	capture.Index
	exchanges atomic.Int64
	permits   chan struct{} // one for each exchange that may be read; closed when all may be
}

// count returns a source of which so many exchanges may be read before all are permitted.
func count(src *bolt.Reader, permitted int) *counting {
	c := &counting{Source: src, Index: src, permits: make(chan struct{}, permitted)}
	for range permitted {
		c.permits <- struct{}{}
	}
	return c
}

func (c *counting) read(ctx context.Context) error {
	c.exchanges.Add(1)
	select {
	case <-c.permits:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *counting) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	return c.counted(ctx, c.Source.Exchanges(ctx, from))
}

func (c *counting) Ends(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error] {
	return c.counted(ctx, c.Source.Ends(ctx, from, n))
}

func (c *counting) counted(
	ctx context.Context, exchanges iter.Seq2[*capture.Exchange, error],
) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		for x, err := range exchanges {
			if wait := c.read(ctx); wait != nil {
				yield(nil, wait)
				return
			}
			if !yield(x, err) {
				return
			}
		}
	}
}

// The first frame of a large capture costs what its rows cost, and so does every frame after it.
func TestFirstFrameReadsItsRows(t *testing.T) {
	const calls = 10_000
	r := must.Get(bolt.Read(store(t, calls)))(t)
	defer r.Close()
	src := count(r, 21) // as many as the frame shows; what is around them is read later
	u := startUI(t, src, 80, 24, Options{})
	defer u.cancel()
	newest := fmt.Sprintf(">%s ", text.PadLeft(fmt.Sprint(calls), 6))
	u.until("the newest exchange", func() bool {
		return strings.HasPrefix(u.cursorLine(), newest[:1]) && strings.Contains(u.cursorLine(), "GetTask")
	})
	close(src.permits)
	u.until("what is around it", func() bool { return u.m.list.Idle() })
	src.exchanges.Store(0)
	u.strike("g")
	u.until("the first exchange", func() bool { return strings.Contains(u.cursorLine(), " 1 09:30:01") })
	if got := src.exchanges.Load(); got > 3*21+21 {
		t.Errorf("going to the top took %d exchanges", got)
	}
	src.exchanges.Store(0)
	u.strike("/")
	for _, c := range "task:t-7" {
		u.strike(string(c))
	}
	u.until("the filter's result", func() bool {
		matches, filtered := u.m.list.Matches()
		return filtered && u.m.list.Idle() && len(matches) == 4
	})
	if got := src.exchanges.Load(); got > 3*21 {
		t.Errorf("the index knows the task, and finding it took %d exchanges", got)
	}
}

// Every frame is drawn from the rows that it shows.
func TestScrollingReadsWhatIsSeen(t *testing.T) {
	r := must.Get(bolt.Read(store(t, 2_000)))(t)
	defer r.Close()
	src := count(r, 0)
	close(src.permits)
	u := startUI(t, src, 80, 24, Options{})
	defer u.cancel()
	drawn := func() bool { return u.cursorLine() != "" && !strings.Contains(u.screen(), "…\n") }
	u.until("the list", drawn)
	for range 20 {
		u.strike("ctrl+b")
		u.until("a page", drawn)
	}
	if got := src.exchanges.Load(); got > 22*21+3*21 {
		t.Errorf("21 pages of 21 rows took %d exchanges", got)
	}
}

// A stepCounter counts the steps of exchanges that are read.
type stepCounter struct {
	capture.Source
	steps atomic.Int64
}

func (c *stepCounter) StepsOf(ctx context.Context, seq, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		for step, err := range c.Source.StepsOf(ctx, seq, from) {
			if c.steps.Add(1); !yield(step, err) {
				return
			}
		}
	}
}

func TestLongStreamReadsWhatIsSeen(t *testing.T) {
	const events = 30_000
	m := tuitest.Long(t, events)
	end(t, m)
	src := &stepCounter{Source: m.Reader()}
	u := startUI(t, src, 80, 24, Options{})
	defer u.cancel()
	u.until("the list", func() bool { return u.m.list.Selected() == 1 })
	u.strike("enter")
	d := u.m.top().(*detail.Panel)
	shown := func() bool { return d.AtRest() && !strings.Contains(u.screen(), "…\n") }
	// Before that the end is where reading has come to, and each such end is a screen of its own.
	u.until("the whole stream", func() bool { return shown() && !d.More })
	src.steps.Store(0)
	u.strike("G")
	u.until("the last events", func() bool { return shown() && strings.Contains(u.screen(), "·"+fmt.Sprint(events)) })
	u.strike("ctrl+b")
	u.until("a page before", shown)
	if got := src.steps.Load(); got > 4*512 { // from the mark before each screen on
		t.Errorf("two screens of events took %d steps to be read", got)
	}
	if got := d.Length(); got < events {
		t.Errorf("the detail has %d lines for %d events", got, events)
	}
	u.strike("l")
	u.until("the ladder", func() bool { return strings.Contains(u.screen(), "SubscribeToTask") })
}

// BenchmarkFirstFrame opens a capture of 100,000 exchanges to its first frame.
func BenchmarkFirstFrame(b *testing.B) {
	path := store(b, 100_000)
	for b.Loop() {
		r := must.Get(bolt.Read(path))(b)
		ctx, cancel := context.WithCancel(b.Context())
		m := newInspector(load.New(ctx, r, nil), Options{Theme: style.Dark})
		m.Update(sizeOf(80, 24))
		msgs := make(chan tea.Msg)
		var run func(cmd tea.Cmd)
		run = func(cmd tea.Cmd) {
			go func() {
				msg := cmd()
				if batch, is := msg.(tea.BatchMsg); is {
					for _, c := range batch {
						run(c)
					}
					return
				}
				select {
				case msgs <- msg:
				case <-ctx.Done():
				}
			}()
		}
		for run(m.shared.Load.Open()); !strings.Contains(m.View(), "GetTask"); {
			if _, cmd := m.Update(<-msgs); cmd != nil {
				run(cmd)
			}
		}
		cancel()
		must.Do(b, r.Close())
	}
}
