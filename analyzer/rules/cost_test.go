package rules_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
)

const (
	rpcHead = "POST /rpc HTTP/1.1\r\nHost: booker:9001\r\nContent-Type: application/json\r\nAccept: application/json\r\nA2A-Version: 1.0\r\nAuthorization: Bearer 2YotnFZFEjr1zCsicMWpAA\r\nUser-Agent: planner/1.0\r\n\r\n"
	sseHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n\r\n"
	okHead  = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1200\r\n\r\n"
)

// The texts of a question and an answer, without anything that JSON escapes.
var (
	wish  = strings.Repeat("two tickets to Kyoto ", 50)
	offer = strings.Repeat("two seats in car four ", 45)
)

// asked returns the steps of a request number seq with a body of about 1.2 KB.
func asked(seq uint64, method string) []capture.Step {
	body := fmt.Appendf(nil,
		`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"message":{"messageId":"m%d","role":"ROLE_USER","parts":[{"text":"%s"}]}}}`,
		seq, method, seq, wish)
	return []capture.Step{
		{
			Seq: seq,
			What: capture.Opened{
				Client: capture.Peer{Name: "planner"},
				Agent:  capture.Peer{Name: "booker", URL: "http://booker:9001"}, Head: []byte(rpcHead),
			},
		},
		{Seq: seq, What: capture.RequestBody{Data: body}},
		{Seq: seq, What: capture.RequestEnd{Size: int64(len(body))}},
	}
}

// answered returns the steps of a whole call, with an answer of about 1.2 KB.
func answered(seq uint64) []capture.Step {
	body := fmt.Appendf(nil,
		`{"jsonrpc":"2.0","id":%d,"result":{"task":{"id":"task-%d","contextId":"ctx-%d","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-03-01T10:00:00Z"},"artifacts":[{"artifactId":"a1","parts":[{"text":"%s"}]}]}}}`,
		seq, seq, seq, offer)
	return append(asked(seq, "SendMessage"),
		capture.Step{Seq: seq, What: capture.ResponseHead{Head: []byte(okHead)}},
		capture.Step{Seq: seq, What: capture.ResponseBody{Data: body}},
		capture.Step{Seq: seq, What: capture.ResponseEnd{Size: int64(len(body))}},
		capture.Step{Seq: seq, What: capture.Closed{}})
}

// chunk returns event k of a stream: a piece of an artifact.
func chunk(k int) capture.Step {
	return capture.Step{
		Seq: 1, Arrival: uint64(k + 5),
		What: capture.ResponseEvent{Event: capture.Event{K: k, Raw: piece}},
	}
}

var piece = []byte(
	`data: {"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t1","contextId":"c1","append":true,"artifact":{"artifactId":"a1","parts":[{"text":"a word of a long answer"}]}}}}` + "\n\n",
)

// beat is a small event: the task works on.
var beat = []byte(
	`data: {"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}` + "\n\n",
)

// streaming returns an engine in the middle of a stream.
func streaming() *engine.Engine {
	e := engine.New(rules.All)
	steps := append(asked(1, "SendStreamingMessage"),
		capture.Step{Seq: 1, What: capture.ResponseHead{Head: []byte(sseHead), Stream: true}},
		capture.Step{Seq: 1, What: capture.ResponseEvent{Event: capture.Event{K: 1, Raw: []byte(
			`data: {"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}` + "\n\n")}}})
	for i, s := range steps {
		s.Arrival = uint64(i + 1)
		e.Step(s)
	}
	return e
}

// A stream may last for days. The memory for checking it must not grow with its events, with artifacts that arrive in
// pieces, or with the data that a second stream of the task is compared with.
func TestStreamsTakeFlatMemory(t *testing.T) {
	const early, slack = 4_000, 256 << 10
	const events = streamEvents
	for _, test := range []struct {
		name string
		data func(k int) []byte
		also func(e *engine.Engine)
	}{
		{"states", func(int) []byte { return beat }, func(*engine.Engine) {}},
		{"pieces of one artifact", pieces, func(*engine.Engine) {}},
		{"an artifact each", pieceOf, func(*engine.Engine) {}},
		{"beside another stream", func(int) []byte { return beat }, second},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := streaming()
			test.also(e)
			counted := e.Counts().Events
			var before uint64
			for k := 2; k <= events; k++ {
				s := chunk(k)
				s.What = capture.ResponseEvent{Event: capture.Event{K: k, Raw: test.data(k)}}
				for _, f := range e.Step(s) {
					t.Fatalf("event %d: %s", k, &f)
				}
				if k == early {
					before = heap()
				}
			}
			late := heap()
			if n := e.Counts().Events - counted; n != events-1 {
				t.Fatalf("%d events were seen, want %d", n, events-1)
			}
			if late > before+slack {
				t.Errorf("the heap grew from %d to %d KiB between event %d and event %d", before>>10, late>>10, early, events)
			}
			runtime.KeepAlive(e)
		})
	}
}

// pieces returns event k of a stream that brings one artifact in pieces.
func pieces(k int) []byte {
	if k == 2 {
		return bytes.Replace(piece, []byte(`"append":true,`), nil, 1)
	}
	return piece
}

// pieceOf returns the only piece of artifact k.
func pieceOf(k int) []byte {
	return fmt.Appendf(nil,
		`data: {"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"a%d","parts":[{"text":"a word"}]}}}}`+"\n\n", k)
}

// second opens another stream of the task, which stays silent.
func second(e *engine.Engine) {
	steps := asked(2, "SubscribeToTask")
	steps[1].What = capture.RequestBody{
		Data: []byte(`{"jsonrpc":"2.0","id":2,"method":"SubscribeToTask","params":{"id":"t1"}}`),
	}
	steps[2].What = capture.RequestEnd{Size: 73}
	steps = append(steps, capture.Step{Seq: 2, What: capture.ResponseHead{Head: []byte(sseHead), Stream: true}},
		capture.Step{Seq: 2, What: capture.ResponseEvent{Event: capture.Event{K: 1, Raw: []byte(
			`data: {"jsonrpc":"2.0","id":2,"result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}` + "\n\n")}}})
	for _, s := range steps {
		s.Arrival = 6
		e.Step(s)
	}
}

// judgeMany judges the exchanges after number from, up to number to, which make a task each.
func judgeMany(e *engine.Engine, from, to uint64) {
	for seq := from + 1; seq <= to; seq++ {
		for i, s := range answered(seq) {
			s.Arrival = 7*(seq-1) + uint64(i) + 1
			e.Step(s)
		}
	}
}

// BenchmarkCapture judges a hundred thousand exchanges, and says what one costs and how much memory is in use at the
// end.
func BenchmarkCapture(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		e := engine.New(rules.All)
		judgeMany(e, 0, n)
		b.ReportMetric(float64(heap()>>20), "MiB")
		runtime.KeepAlive(e)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/exchange")
}

// BenchmarkLongStream judges a stream of a million events.
func BenchmarkLongStream(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		e := streaming()
		for k := 2; k <= n; k++ {
			e.Step(chunk(k))
		}
		b.ReportMetric(float64(heap()>>20), "MiB")
		runtime.KeepAlive(e)
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkExchange(b *testing.B) {
	e := engine.New(rules.All)
	all := make([][]capture.Step, 1000)
	for i := range all {
		all[i] = answered(uint64(i + 1))
	}
	b.ReportAllocs()
	arrival := uint64(0)
	for i := 0; b.Loop(); i++ {
		for _, s := range all[i%len(all)] {
			arrival++
			s.Arrival = arrival
			e.Step(s)
		}
	}
}

// Other traffic is recorded too, and has to be cheap to pass over.
func BenchmarkOtherTraffic(b *testing.B) {
	e := engine.New(rules.All)
	body := []byte(strings.Repeat("x", 1200))
	steps := []capture.Step{
		{
			Seq: 1,
			What: capture.Opened{
				Agent: capture.Peer{Name: "booker", URL: "http://booker:9001"},
				Head:  []byte("GET /health HTTP/1.1\r\nHost: booker:9001\r\n\r\n"),
			},
		},
		{Seq: 1, What: capture.RequestEnd{}},
		{Seq: 1, What: capture.ResponseHead{Head: []byte(okHead)}},
		{Seq: 1, What: capture.ResponseBody{Data: body}},
		{Seq: 1, What: capture.ResponseEnd{Size: 1200}},
		{Seq: 1, What: capture.Closed{}},
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range steps {
			e.Step(s)
		}
	}
}

func BenchmarkEvent(b *testing.B) {
	e := streaming()
	b.ReportAllocs()
	for k := 2; b.Loop(); k++ {
		e.Step(chunk(k))
	}
}
