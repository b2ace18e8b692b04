package tui

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/tui/internal/style"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
)

// endless is a recording of any number of calls, which are made when they are read.
type endless struct{ exchanges uint64 }

func (e *endless) steps(seq uint64) []capture.Step {
	return tuitest.Call(seq, fmt.Sprintf("t-%d", seq/4), "TASK_STATE_WORKING")
}

func (e *endless) Info(context.Context) (capture.Info, error) {
	return capture.Info{Name: "endless.a2atap", Live: true, Exchanges: e.exchanges, Arrivals: 7 * e.exchanges}, nil
}

func (e *endless) Exchange(_ context.Context, seq uint64) (*capture.Exchange, error) {
	var x *capture.Exchange
	for _, s := range e.steps(seq) {
		x = capture.Assemble(x, s)
	}
	return x, nil
}

func (e *endless) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		for seq := from; seq <= e.exchanges && ctx.Err() == nil; seq++ {
			if !yield(e.Exchange(ctx, seq)) {
				return
			}
		}
	}
}

func (e *endless) Ends(ctx context.Context, from uint64, _ int) iter.Seq2[*capture.Exchange, error] {
	return e.Exchanges(ctx, from)
}

func (e *endless) StepsOf(_ context.Context, seq, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		for i, s := range e.steps(seq) {
			if s.Arrival = 7*(seq-1) + uint64(i) + 1; s.Arrival >= from && !yield(s, nil) {
				return
			}
		}
	}
}

// Find knows the tasks: four calls are about each.
func (e *endless) Find(_ context.Context, key capture.Key, from uint64) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		var n uint64
		if _, err := fmt.Sscanf(key.Value, "t-%d", &n); key.Kind != "task" || err != nil {
			return
		}
		for seq := max(4*n, from, 1); seq < 4*n+4; seq++ {
			if !yield(seq, nil) {
				return
			}
		}
	}
}

func (e *endless) Steps(context.Context, uint64) iter.Seq2[capture.Step, error] {
	return func(func(capture.Step, error) bool) {}
}

func (e *endless) Wait(ctx context.Context, _ uint64) error { <-ctx.Done(); return ctx.Err() }

func (e *endless) Close() error { return nil }

// BenchmarkKeyToFrame measures the processor time from a key to the frame that it leads to, in a recording of a million
// exchanges, and the same for anything else, which a key may have to wait for: what was loaded, or what has arrived.
// While 5,000 exchanges a second arrive and some of them have findings, each key comes after a thirtieth of a second's
// traffic.
func BenchmarkKeyToFrame(b *testing.B) {
	for _, c := range []struct {
		name          string
		width, height int
		arriving      uint64 // exchanges from key to key
	}{
		{"list", 80, 24, 0},
		{"two panes", 120, 40, 0},
		{"three panes", 200, 60, 0},
		{"list, 5000 a second arriving", 80, 24, 5000 / 30},
		{"two panes, 5000 a second arriving", 120, 40, 5000 / 30},
		{"three panes, 5000 a second arriving", 200, 60, 5000 / 30},
	} {
		b.Run(c.name, func(b *testing.B) {
			src := &endless{exchanges: 1_000_000}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			h := startHand(b, src, c.width, c.height)
			defer h.cancel()
			for n := 0; b.Loop(); n++ {
				h.arrive(src, c.arriving)
				h.strike([]string{"j", "k", "k", "G", "g", " ", "tab", "tab", "b", "n", "w"}[n%11])
			}
			h.report(b)
		})
	}
}

// A hand strikes keys and measures what the inspector takes for each.
type hand struct {
	m      *inspector
	ctx    context.Context
	cancel context.CancelFunc
	msgs   chan tea.Msg
	keys   []time.Duration // from a key to its frame
	others []time.Duration // the same for what is not a key
}

func startHand(b *testing.B, src capture.Source, width, height int) *hand {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	h := &hand{ctx: ctx, cancel: cancel, msgs: make(chan tea.Msg)}
	h.m = newInspector(load.New(ctx, src, nil), Options{Theme: style.Dark, Location: time.UTC})
	h.m.Update(sizeOf(width, height))
	h.send(h.m.shared.Load.Open()(), &h.others)
	for deadline := time.After(must.Patience); !strings.Contains(h.m.View(), "GetTask"); {
		select {
		case msg := <-h.msgs:
			h.send(msg, &h.others)
		case <-deadline:
			b.Fatal(h.m.View())
		}
	}
	h.keys, h.others = nil, nil
	return h
}

// send handles a message, draws a frame, and notes how long that took.
func (h *hand) send(msg tea.Msg, took *[]time.Duration) {
	begin := processorTime()
	_, cmd := h.m.Update(msg)
	h.m.View()
	*took = append(*took, processorTime()-begin)
	runInto(h.ctx, h.msgs, cmd)
}

// processorTime returns how long the thread has run, which what else happens on the machine does not change.
//
// Source: clock_gettime(2), CLOCK_THREAD_CPUTIME_ID.
func processorTime() time.Duration {
	const ofThread = 3
	var at syscall.Timespec
	if _, _, failed := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, ofThread, uintptr(unsafe.Pointer(&at)), 0); failed != 0 {
		panic(failed)
	}
	return time.Duration(at.Nano())
}

// strike strikes a key, and then handles what was loaded meanwhile.
func (h *hand) strike(key string) {
	kind := tea.KeyRunes
	if t, is := named[key]; is {
		kind = t
	}
	h.send(tea.KeyMsg{Type: kind, Runes: []rune(key)}, &h.keys)
	for {
		select {
		case msg := <-h.msgs:
			h.send(msg, &h.others)
		default:
			return
		}
	}
}

// arrive tells of new exchanges, one of them with a finding.
func (h *hand) arrive(src *endless, n uint64) {
	if n == 0 {
		return
	}
	news := load.Grown{Next: 7*src.exchanges + 1}
	for range n {
		src.exchanges++
		news.Seqs = append(news.Seqs, src.exchanges)
	}
	news.Info, _ = src.Info(h.ctx)
	h.send(news, &h.others)
	h.send(load.Judged{Next: news.Next, Behind: true, Findings: []analysis.Finding{{
		Rule: rules.All[0], Severity: analysis.Warning, Seen: "what is wrong here",
		Place: analysis.Place{Exchange: src.exchanges},
	}}}, &h.others)
}

// report reports the median and the slowest of a hundred and of all.
func (h *hand) report(b *testing.B) {
	b.Helper()
	for name, took := range map[string][]time.Duration{"key": h.keys, "other": h.others} {
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		for _, at := range []struct {
			name string
			i    int
		}{{"p50", len(took) / 2}, {"p99", len(took) * 99 / 100}, {"max", len(took) - 1}} {
			b.ReportMetric(float64(took[at.i])/1e6, name+"-"+at.name+"-ms")
		}
	}
}
