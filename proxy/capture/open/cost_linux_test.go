package open_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/grpc"
	"a2atap/proxy/must"
)

// A cost is something that is done with what a peer or a file contains n of.
type cost struct {
	name    string
	n       int                // of which ten times as many are tried, too
	prepare func(n int) func() // returns what is measured
}

var costs = []cost{
	{"the events of a stream in a HAR", 3000, func(n int) func() {
		return steps("c.har", harWithStream(strings.Repeat(`data: {}\n\n`, n)))
	}},
	{"the comments of a stream in a HAR", 3000, func(n int) func() {
		return steps("c.har", harWithStream(strings.Repeat(`: x\n\n`, n)))
	}},
	{"the lines of an event in a HAR", 10_000, func(n int) func() {
		return steps("c.har", harWithStream(strings.Repeat(`data: x\n`, n)))
	}},
	{"the messages that Chrome keeps of a stream", 3000, func(n int) func() {
		message := `{"type":"receive","time":1772359200.5,"data":"{}"}`
		return steps("c.har", `{"log":{"entries":[{"startedDateTime":"2026-03-01T10:00:00Z","request":{"method":"GET","url":"http://a/",
			"headers":[],"httpVersion":"HTTP/1.1"},"response":{"status":200,"headers":[{"name":"Content-Type","value":"text/event-stream"}],
			"content":{}},"_eventSourceMessages":[`+repeated(message, n)+`]}]}}`)
	}},
	{"the headers of an entry in a HAR", 3000, func(n int) func() {
		return steps("c.har", `{"log":{"entries":[{"startedDateTime":"2026-03-01T10:00:00Z","request":{"method":"GET","url":"http://a/",
			"httpVersion":"HTTP/1.1","headers":[`+repeated(`{"name":"x","value":"y"}`, n)+`]},"response":{"status":200,"headers":[]}}]}}`)
	}},
	{"the entries of a HAR that overlap", 1000, func(n int) func() {
		entry := `{"startedDateTime":"2026-03-01T10:00:00Z","time":1000,"request":{"method":"GET","url":"http://a/","headers":[],
			"httpVersion":"HTTP/1.1"},"response":{"status":200,"headers":[],"content":{"text":"x"}}}`
		return steps("c.har", `{"log":{"entries":[`+repeated(entry, n)+`]}}`)
	}},
	{"the events of a stream in JSON Lines", 3000, func(n int) func() {
		return steps("c.jsonl", `{"n":1,"request":{"line":"GET / HTTP/1.1","headers":[]},"response":{"line":"HTTP/1.1 200 OK",`+
			`"headers":[["Content-Type","text/event-stream"]],"events":[`+repeated(`{"data":"{}"}`, n)+`]}}`)
	}},
	{"the exchanges of JSON Lines, in reverse", 1000, func(n int) func() {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, `{"started":%q,"request":{"line":"GET / HTTP/1.1","headers":[]}}`+"\n",
				time.Date(2026, 3, 1, 10, 0, n-i, 0, time.UTC).Format(time.RFC3339))
		}
		return steps("c.jsonl", text.String())
	}},
	{"the events of a stream in a transcript", 3000, func(n int) func() {
		return steps("c.txtar", transcriptOf("text/event-stream", strings.Repeat("data: {}\n\n", n)))
	}},
	{"the exchanges of a transcript", 500, func(n int) func() {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "-- %d.request --\nGET / HTTP/1.1\n\n", i+1)
		}
		return steps("c.txtar", text.String())
	}},
	{"the events of a stream, as a transcript", 3000, func(n int) func() {
		x := stream(n)
		return func() { transcript.Format(&transcript.Transcript{Exchanges: []*capture.Exchange{x}}) }
	}},
	{"the events of a stream, redacted", 2000, func(n int) func() {
		x := stream(n)
		return func() {
			sink := redact.New(capture.NewMemory(capture.Info{}), redact.Options{})
			for _, s := range capture.Steps(x) {
				sink.Append(s) //nolint:errcheck // only what it costs
			}
			sink.Close() //nolint:errcheck // only what it costs
		}
	}},
	{"the pieces of a body, redacted", 3000, func(n int) func() {
		return redactedPieces("application/json", `{"a":"b"},`, n)
	}},
	{"the pieces of a body that is blank, redacted", 3000, func(n int) func() {
		return redactedPieces("application/json", " ", n)
	}},
	{"groups in groups of a body that is not JSON, redacted", 2000, func(n int) func() {
		return redactedPieces("text/plain", `{"token":`, n)
	}},
	{"the lines of a body that is not JSON, redacted", 2000, func(n int) func() {
		return redactedPieces("text/plain", "token=abc "+strings.Repeat("x", 30)+"\n", n)
	}},
	{"the pieces of a stream, cut into events", 30_000, func(n int) func() {
		return func() {
			var s capture.Splitter
			for range n {
				s.Write([]byte("data: x\r"))
			}
			s.Flush()
		}
	}},
	{"the pieces of a message of gRPC, cut", 30_000, func(n int) func() {
		return func() {
			var s capture.MessageSplitter
			s.Write([]byte{0, 0, 255, 255, 255})
			for range n {
				s.Write([]byte("x"))
			}
			s.Flush()
		}
	}},
	{"the fields of a message of gRPC that are given again", 10_000, func(n int) func() {
		return grpcAgain("\x0a\x02id\x2a\x00", n) // of a Task
	}},
	{"the instants of a status that are given again", 10_000, func(n int) func() {
		return grpcAgain("\x1a\x02\x1a\x00", n)
	}},
	{"the depth of a message of gRPC with fields that are not known", 900, func(n int) func() {
		m, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/SendMessage")
		message := []byte{}
		for range n { // metadata in metadata
			message = append(append([]byte{0xf8, 0x7f, 0x01}, 0x2a), withLength(message)...)
		}
		return func() { m.Request.ToJSON(message) } //nolint:errcheck // only what it costs
	}},
}

// No cost is quadratic in what a peer or a file contains: ten times as much costs about ten times as much.
func TestCostsAreLinear(t *testing.T) {
	for _, c := range costs {
		t.Run(c.name, func(t *testing.T) {
			few, many := c.prepare(c.n), c.prepare(10*c.n)
			const quadratic = 100
			var ratios []float64
			for range 3 { // a collection of garbage may fall into one
				ratio := processor(many).Seconds() / max(processor(few), time.Millisecond).Seconds()
				if ratios = append(ratios, ratio); ratio < quadratic/3 {
					return
				}
			}
			t.Errorf("ten times as much costs %.0f times as much", ratios)
		})
	}
}

// processor returns how long this thread has the processor for something.
func processor(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	used := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(1, &u) // RUSAGE_THREAD
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	do()
	return used() - before
}

// steps reads all of a file.
func steps(name, text string) func() {
	return func() {
		dir, err := os.MkdirTemp("", "cost")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			panic(err)
		}
		src, err := open.File(path)
		if err != nil {
			panic(err)
		}
		defer src.Close()
		for _, err := range src.Steps(context.Background(), 1) {
			if err != nil {
				panic(err)
			}
		}
	}
}

func harWithStream(text string) string {
	return `{"log":{"entries":[{"startedDateTime":"2026-03-01T10:00:00Z","request":{"method":"GET","url":"http://a/","headers":[],
		"httpVersion":"HTTP/1.1"},"response":{"status":200,"headers":[{"name":"Content-Type","value":"text/event-stream"}],
		"content":{"text":"` + text + `"}}}]}}`
}

func transcriptOf(media, body string) string {
	return "-- 1.request --\nGET / HTTP/1.1\n\n-- 1.response --\nHTTP/1.1 200 OK\nContent-Type: " + media + "\n\n" + body
}

func repeated(element string, n int) string {
	return strings.TrimSuffix(strings.Repeat(element+",", n), ",")
}

func withLength(b []byte) []byte {
	n := len(b)
	var out []byte
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(append(out, byte(n)), b...)
}

// stream returns an exchange with a stream of n events whose times are not known.
func stream(n int) *capture.Exchange {
	x := capturetest.Exchanges()[0].Copy()
	x.Response = &capture.Response{
		Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), Stream: true, At: capture.NotKnown,
		Body: capture.Body{Complete: true, At: capture.NotKnown, Size: capture.NotKnown},
	}
	for i := range n {
		x.Response.Events = append(x.Response.Events, capture.Event{
			K: i + 1, At: capture.NotKnown, Raw: []byte(`data: {"token":"secret"}` + "\n\n"),
		})
	}
	return x
}

// redactedPieces records a request whose body comes in n pieces.
func redactedPieces(media, piece string, n int) func() {
	return func() {
		sink := redact.New(capture.NewMemory(capture.Info{}), redact.Options{})
		head := []byte("POST / HTTP/1.1\r\nContent-Type: " + media + "\r\n\r\n")
		sink.Append(capture.Step{Seq: 1, What: capture.Opened{Head: head}}) //nolint:errcheck // only what it costs
		for range n {
			sink.Append(capture.Step{Seq: 1, What: capture.RequestBody{Data: []byte(piece)}}) //nolint:errcheck // as above
		}
		sink.Append(capture.Step{Seq: 1, What: capture.RequestEnd{}}) //nolint:errcheck // as above
		sink.Close()                                                  //nolint:errcheck // as above
	}
}

// grpcAgain reads a task whose fields are given n times.
func grpcAgain(fields string, n int) func() {
	m, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/GetTask")
	message := bytes.Repeat([]byte(fields), n)
	return func() { m.Answer.ToJSON(message) } //nolint:errcheck // only what it costs
}

// A file that shows no format in its first bytes is refused at once, whatever its name, and however long it is.
func TestEndlessFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"zero", "zero.har", "zero.jsonl", "zero.txtar"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			must.Do(t, os.Symlink("/dev/zero", path))
			_, err := open.File(path) // which is over before the test's time is
			if err == nil || !strings.Contains(err.Error(), "it looks like binary data") {
				t.Errorf("got %v", err)
			}
		})
	}
	for name, begin := range map[string]string{"sparse.jsonl": "", "blank.jsonl": strings.Repeat("\n", 70_000), "sparse.har": ""} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			f := must.Get(os.Create(path))(t)
			defer f.Close()
			f.WriteString(begin)
			must.Do(t, f.Truncate(20<<30))
			if src, err := open.File(path); err == nil {
				src.Close()
				t.Error("it is opened")
			}
		})
	}
}
