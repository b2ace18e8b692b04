package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/recording"
)

// BenchmarkPipeline measures what one exchange of 1.2 KB each way costs behind the relay, step by step and without
// sockets: cut into steps, described and redacted, stored with the index, judged. Its processor time, collecting of
// garbage included, says more on a busy machine than how long it took.
func BenchmarkPipeline(b *testing.B) {
	redact := (&redacted.Options{Key: make([]byte, 32)}).Sink
	run := func(name string, sink func(b *testing.B) capture.Sink) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s := sink(b)
			begin := cpuUsed()
			r := recording.New(recording.Options{Sink: s, IfFull: recording.Wait})
			for n := range b.N { // not b.Loop, whose time ends before what is queued is done
				passExchange(r, n)
			}
			if err := r.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64((cpuUsed()-begin).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
	store := func(b *testing.B) capture.Sink {
		s, err := bolt.Open(filepath.Join(b.TempDir(), "c.a2atap"), bolt.Options{})
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	run("steps", func(*testing.B) capture.Sink { return discard{} })
	run("steps+redact", func(*testing.B) capture.Sink { return redact(discard{}) })
	run("steps+store", store)
	run("steps+redact+store", func(b *testing.B) capture.Sink { return redact(store(b)) })
	run("steps+rules", func(*testing.B) capture.Sink { return &judge{engine: engine.New(rules.All)} })
}

// passExchange tells a recorder of one exchange, as a relay would.
func passExchange(r *recording.Recorder, n int) {
	c := r.Conn(capture.Peer{Name: "booker", URL: "http://127.0.0.1:9001/rpc"}, "127.0.0.1:40000")
	id, requests, answers := newID(), texts(1, 900), texts(2, 900)
	request := appendRequest(nil, "127.0.0.1:9001", methodUnary, id, requests[n%len(requests)])
	answer := appendAnswer(nil, id, answers[n%len(answers)])
	cut := func(message []byte) (head, body []byte) {
		end := bytes.Index(message, []byte("\r\n\r\n")) + 4
		return message[:end], message[end:]
	}
	head, body := cut(request)
	c.Request(0, head)
	c.RequestBody(0, body)
	c.RequestEnd(0, nil)
	head, body = cut(answer)
	c.Answer(0, head)
	c.AnswerBody(0, body)
	c.AnswerEnd(0, nil)
	c.Ended(0)
}

// discard is a Sink that forgets.
type discard struct{}

func (discard) Append(...capture.Step) error { return nil }
func (discard) Close() error                 { return nil }

// judge is a Sink that gives steps to the rules.
type judge struct {
	engine  *engine.Engine
	arrival uint64
}

func (j *judge) Append(steps ...capture.Step) error {
	for _, s := range steps {
		j.arrival++
		s.Arrival = j.arrival
		j.engine.Step(s)
	}
	return nil
}

func (j *judge) Close() error { return nil }
