package viewer

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// unterminated is a call whose only finding is made with its last step.
const unterminated = `-- 1.request --
POST /rpc HTTP/1.1
Host: booker.example:9001
Content-Type: application/json
A2A-Version: 1.0

{"jsonrpc":"2.0","id":"r1","method":"SendStreamingMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER",` +
	`"parts":[{"text":"Two tickets to Kyoto"}]}}}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

data: {"jsonrpc":"2.0","id":"r1","result":{"task":{"id":"t1","contextId":"c1",` +
	`"status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}}

data: {"jsonrpc":"2.0","id":"r1","result":{"statusUpdate":{"taskId":"t1","contextId":"c1",` +
	`"status":{"state":"TASK_STATE_COMPLETED"}}}}
`

// An exchange that ends while it is followed is chosen, and printed, with what its last step showed.
func TestFollowedExchangeHasAllFindings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.txtar")
	must.Do(t, os.WriteFile(path, []byte(unterminated), 0o600))
	file := must.Get(open.File(path))(t)
	defer file.Close()
	for _, c := range []struct{ format, filter, want string }{
		{"json", "rule:sse-unterminated-event", `{"n":1,`},
		{"json", "severity:error", `{"n":1,`},
		{"list", "", "\n! "},
		{"detail", "", "sse-unterminated-event"},
		{"ladder", "", "sse-unterminated-event"},
	} {
		m := capture.NewMemory(capture.Info{Name: "c"})
		src := pausing{m.Reader(), make(chan uint64, 1000)}
		var out, talk bytes.Buffer
		ended := make(chan error, 1)
		s := showingOf(t, Options{Format: c.format, Filter: c.filter, Follow: true}, src)
		s.e.Out, s.e.Err = &out, &talk
		go func() { ended <- s.run(context.Background()) }()
		src.until(0) // what was there is printed
		for step, err := range file.Steps(context.Background(), 1) {
			must.Do(t, err)
			must.Do(t, m.Append(step))
		}
		must.Do(t, m.Close())
		if err := <-ended; err != nil || !strings.Contains("\n"+out.String(), c.want) || talk.Len() > 0 {
			t.Errorf("%s %s: %v, %q, lacks %q in\n%s", c.format, c.filter, err, talk.String(), c.want, out.String())
		}
	}
}

func showingOf(t *testing.T, o Options, src capture.Source) *showing {
	t.Helper()
	keep := must.Get(verdict.ParseSelection(o.Filter, ""))(t)
	e := cli.Env{Now: time.Now, Getenv: func(string) string { return "" }}
	return &showing{e: e, o: o, name: "c", src: src, keep: keep}
}

// A losing source has lost one more exchange whenever it is asked.
type losing struct {
	capture.Source
	lost *int64
}

// Info implements capture.Source.
func (l losing) Info(ctx context.Context) (capture.Info, error) {
	info, err := l.Source.Info(ctx)
	*l.lost++
	info.LostExchanges = *l.lost
	return info, err
}

// A writerFunc is a function that takes what is written.
type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(data []byte) (int, error) { return f(data) }

// An interrupt is a normal end even while the existing contents are printed. The final messages are printed then.
func TestInterruptWhileBacklogIsPrinted(t *testing.T) {
	session := must.Get(open.File(filepath.Join("..", "..", "..", "tui", "testdata", "journey.txtar")))(t)
	defer session.Close()
	for _, format := range []string{"list", "json", "transcript"} {
		m := capture.NewMemory(capture.Info{Name: "c"})
		for step, err := range session.Steps(context.Background(), 1) {
			must.Do(t, err)
			must.Do(t, m.Append(step))
		}
		ctx, interrupt := context.WithCancel(context.Background())
		var out, talk bytes.Buffer
		s := showingOf(t, Options{Format: format, Follow: true}, losing{m.Reader(), new(int64)})
		s.e.Err, s.e.Out = &talk, writerFunc(func(data []byte) (int, error) {
			interrupt()
			return out.Write(data)
		})
		err := s.run(ctx)
		if err != nil || !strings.Contains(talk.String(), "more that were forwarded and could not be recorded") {
			t.Errorf("%s: %v, %q", format, err, talk.String())
		}
		if info, err := m.Info(ctx); err != nil || out.Len() == 0 || uint64(s.seen) >= info.Exchanges {
			t.Errorf("%s: %v, %d of %d exchanges were printed:\n%s", format, err, s.seen, info.Exchanges, out.String())
		}
	}
}

// A pausing source tells when its reader waits for more, and from which step on.
type pausing struct {
	capture.Source
	waits chan uint64
}

// Wait implements capture.Source.
func (w pausing) Wait(ctx context.Context, from uint64) error {
	w.waits <- from
	return w.Source.Wait(ctx, from)
}

// until returns when the reader has read all up to a step.
func (w pausing) until(arrival uint64) {
	for from := range w.waits {
		if from > arrival {
			return
		}
	}
}

// Rows that were written since the last refresh are printed after the next one, not lost.
func TestFollowedRowsAheadOfTheRefresh(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "c.txtar")
	must.Do(t, os.WriteFile(path, []byte(unterminated), 0o600))
	src := must.Get(open.File(path))(t)
	defer src.Close()
	shelf := &capture.MemoryShelf{}
	w := snapshot.NewWriter(rules.All, shelf.Put)
	w.Flush()
	results := must.Get(snapshot.Open(ctx, shelf, rules.All))(t)
	must.Get(results.Row(ctx, 1))(t)
	must.Do(t, w.Finish(must.Get(engine.Run(ctx, rules.All, src, w.Found, w.Options()...))(t), nil))

	f := &showFollower{showing: showingOf(t, Options{Format: "list"}, src), begun: true}
	f.j = verdict.With(results, src)
	if early := must.Get(f.ended(ctx, false, false))(t); len(early) > 0 {
		t.Errorf("before the refresh: %v, which Row does not have", early)
	}
	must.Get(results.Refresh(ctx))(t)
	expect.Same(t, "after the refresh", []uint64{1}, must.Get(f.ended(ctx, false, false))(t))
}
