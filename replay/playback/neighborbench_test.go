package playback_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/replay/playback"
)

// A writtenSource is a capture of calls of a model that are written when they are read. They differ in some of the lines
// of their prompts.
type writtenSource struct {
	*capture.Memory
	calls  int
	common string // lines of all prompts, quoted
}

func newSource(calls int) *writtenSource {
	var b strings.Builder
	for i := range 1300 {
		fmt.Fprintf(&b, `Line %d has words that all documents have, some of them several times: %d.\n`, i, i*i)
	}
	return &writtenSource{capture.NewMemory(capture.Info{}), calls, b.String()}
}

func (s *writtenSource) prompt(n int, last string) string {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"user","content":"` + s.common)
	for i := range 50 {
		fmt.Fprintf(&b, `Line %d is of document %d alone.\n`, i, n)
	}
	b.WriteString(last + `"}]}`)
	return b.String()
}

func (s *writtenSource) Exchange(_ context.Context, n uint64) (*capture.Exchange, error) {
	call := recordedCall{ask: s.prompt(int(n), ""), answer: fmt.Sprint(n)} //nolint:gosec // small
	return call.exchange(int(n)), nil                                      //nolint:gosec // small
}

func (s *writtenSource) Exchanges(ctx context.Context, _ uint64) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		for n := range s.calls {
			if !yield(s.Exchange(ctx, uint64(n+1))) {
				return
			}
		}
	}
}

// played returns a player of the calls, and how many bytes it keeps for each.
func (s *writtenSource) played(t testing.TB) (p *playback.Player, kept int64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // pools keep what they have for one collection
	runtime.ReadMemStats(&before)
	p = must.Get(playback.New(t.Context(), s, playback.Options{UsedUp: playback.RepeatLast}))(t)
	t.Cleanup(p.Close)
	runtime.GC()
	runtime.ReadMemStats(&after)
	return p, (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / int64(s.calls) //nolint:gosec // small
}

func ask(p *playback.Player, prompt string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, chatPath, strings.NewReader(prompt))
	r.Header.Set("Content-Type", "application/json")
	p.ServeHTTP(w, r)
	return w
}

// What a player keeps is what docs/offline.md says: contents up to a limit, and little for each call, however long it is.
func TestMemoryForCalls(t *testing.T) {
	const calls, contents, most = 500, 9 << 20, 2 << 10 // allocations are larger than the 8 MiB in them
	if _, kept := newSource(calls).played(t); kept > most+contents/calls {
		t.Errorf("%d bytes are kept for a call, more than %d", kept, most+contents/calls)
	}
}

// With 10,000 recorded calls that have prompts of 100 KB, a match takes well under five milliseconds.
func BenchmarkNeighbors(b *testing.B) {
	s := newSource(10_000)
	p, kept := s.played(b)
	hit, miss := s.prompt(5000, ""), s.prompt(5000, "x")
	b.Run("match", func(b *testing.B) {
		b.SetBytes(int64(len(hit)))
		for b.Loop() {
			if w := ask(p, hit); w.Body.String() != "5000" {
				b.Fatal(w.Body.String())
			}
		}
		b.ReportMetric(float64(kept), "B/call")
	})
	b.Run("miss", func(b *testing.B) {
		for b.Loop() {
			if w := ask(p, miss); !strings.Contains(w.Body.String(), "the nearest is exchange 5000") {
				b.Fatal(w.Body.String())
			}
		}
	})
}
