package bolt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/paralleltest"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(helperJob); job != "" {
		os.Exit(runHelper(job))
	}
	paralleltest.AtOnce(8)
	debug.SetGCPercent(400) // what is alive is little: this saves a tenth of the time
	goleak.VerifyTestMain(m)
}

func patient(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	t.Cleanup(cancel)
	return ctx
}

// newPath names a capture that does not exist; at the end of the test the file's own invariants are checked.
func newPath(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.a2atap")
	t.Cleanup(func() {
		if _, err := os.Stat(path); err == nil {
			expect.OK(t, Check(context.Background(), path))
		}
	})
	return path
}

func mustOpen(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s := must.Get(Open(path, o))(t)
	t.Cleanup(func() {
		s.Close()
		s.Reader.Close()
	})
	return s
}

func mustRead(t testing.TB, path string) *Reader {
	t.Helper()
	r := must.Get(Read(path))(t)
	t.Cleanup(func() { r.Close() })
	return r
}

func mustClose(t testing.TB, s *Store) {
	t.Helper()
	must.Do(t, s.Close())
}

func mustAppend(t testing.TB, s *Store, steps ...capture.Step) {
	t.Helper()
	must.Do(t, s.Append(steps...))
}

// exchangeSteps returns the steps of a plain exchange with bodies of about size bytes in all.
func exchangeSteps(seq uint64, size int) []capture.Step {
	body := func(what string) []byte {
		b := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"what":%q,"text":"`, seq, what)
		for i := 0; len(b) < size/2; i++ {
			b = fmt.Appendf(b, "%x ", (seq+1)*2654435761*uint64(i+1)%1000003)
		}
		return append(b, `"}`...)
	}
	started := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(seq) * time.Millisecond)
	request, response := body("request"), body("response")
	return []capture.Step{
		{Seq: seq, What: capture.Opened{
			ID: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, seq)), Conn: seq, Started: started,
			Client: capture.Peer{Name: "planner", Addr: "127.0.0.1:50001", How: "user-agent"},
			Agent:  capture.Peer{Name: "booker", Addr: "127.0.0.1:9000", URL: "http://127.0.0.1:9000/rpc"},
			Head: fmt.Appendf(nil, "POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:7001\r\nContent-Length: %d\r\n\r\n",
				len(request)),
		}},
		{Seq: seq, Offset: 1000, What: capture.RequestBody{Data: request}},
		{
			Seq: seq, Offset: 1000, What: capture.RequestEnd{Size: int64(len(request))},
			Keys: []capture.Key{
				{Kind: "task", Value: fmt.Sprintf("task-%d", seq%97)},
				{Kind: "agent", Value: "booker"},
			},
		},
		{Seq: seq, Offset: 2000, What: capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\n\r\n")}},
		{Seq: seq, Offset: 3000, What: capture.ResponseBody{Data: response}},
		{Seq: seq, Offset: 3000, What: capture.ResponseEnd{Size: int64(len(response))}},
		{Seq: seq, Offset: 3000, What: capture.Closed{}},
	}
}

func event(seq uint64, k int) capture.Step {
	raw := fmt.Appendf(nil, "data: {\"event\":%d}\n\n", k)
	return capture.Step{Seq: seq, Offset: time.Duration(k), What: capture.ResponseEvent{
		Event: capture.Event{K: k, At: time.Duration(k), Raw: raw},
	}}
}

// collect reads a source's steps from an arrival number on.
func collect(t testing.TB, s capture.Source, from uint64) []capture.Step {
	t.Helper()
	var steps []capture.Step
	for step, err := range s.Steps(patient(t), from) {
		must.Do(t, err)
		steps = append(steps, step)
	}
	return steps
}
