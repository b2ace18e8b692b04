package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// A neighborCall is an exchange of BenchmarkNeighbors. Its twin has the same length, and is of no known kind.
type neighborCall struct {
	name     string
	request  string
	answer   string
	stranger *strings.Replacer
}

// neighborCalls returns the calls that BenchmarkNeighbors compares.
func neighborCalls() []neighborCall {
	words := strings.Repeat("The weather in Oslo is fine today. ", 40)
	prompt := `[{"role":"system","content":"` + words + `"},{"role":"user","content":"Is it warm in Oslo? ` + words + `"}]`
	tools := `[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]`
	var chat, anthropic strings.Builder
	for i := range 200 {
		fmt.Fprintf(&chat, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1767225600,\"model\":\"gpt-x\","+
			"\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word%d\"},\"finish_reason\":null}]}\n\n", i)
		fmt.Fprintf(&anthropic, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"+
			"\"delta\":{\"type\":\"text_delta\",\"text\":\" word%d\"}}\n\n", i)
	}
	return []neighborCall{
		{
			name:    "chat",
			request: "POST /v1/chat/completions HTTP/1.1\n" + `{"model":"gpt-x","messages":` + prompt + `,"tools":` + tools + `}`,
			answer: "application/json\n" + `{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-x","choices":[{"index":0,"message":{"role":"assistant","content":"` +
				words + `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":900,"completion_tokens":400}}`,
			stranger: strings.NewReplacer("/chat/", "/chit/", `"messages"`, `"massages"`),
		},
		{
			name:     "chat stream",
			request:  "POST /v1/chat/completions HTTP/1.1\n" + `{"model":"gpt-x","stream":true,"messages":` + prompt + `}`,
			answer:   "text/event-stream\n" + chat.String() + "data: [DONE]\n\n",
			stranger: strings.NewReplacer("/chat/", "/chit/", `"messages"`, `"massages"`),
		},
		{
			name:     "messages stream",
			request:  "POST /v1/messages HTTP/1.1\n" + `{"model":"claude-x","stream":true,"max_tokens":1000,"messages":` + prompt + `}`,
			answer:   "text/event-stream\n" + anthropic.String(),
			stranger: strings.NewReplacer("/v1/messages", "/v1/massages", `"messages"`, `"massages"`),
		},
		{
			name:     "tools call",
			request:  "POST /mcp HTTP/1.1\n" + `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"weather","arguments":{"city":"Oslo"}}}`,
			answer:   "text/event-stream\nevent: message\ndata: " + `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + words + `"}],"isError":false}}` + "\n\n",
			stranger: strings.NewReplacer(`"jsonrpc"`, `"jsonrpk"`),
		},
	}
}

// pass reports the call to a recorder, as a relay would.
func (c *neighborCall) pass(r *recording.Recorder, bodies recording.Scope) {
	request, answer := c.request, c.answer
	conn := r.Conn(capture.Peer{Name: "other", URL: "http://127.0.0.1:9001"}, "127.0.0.1:40000")
	conn.Bodies = bodies
	line, body, _ := strings.Cut(request, "\n")
	conn.Request(0, fmt.Appendf(nil, "%s\r\nHost: 127.0.0.1:9001\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", line, len(body)))
	conn.RequestBody(0, []byte(body))
	conn.RequestEnd(0, nil)
	kind, body, _ := strings.Cut(answer, "\n")
	conn.Answer(0, fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\n\r\n", kind))
	for piece := []byte(body); len(piece) > 0; {
		n := min(len(piece), 1000)
		conn.AnswerBody(0, piece[:n])
		piece = piece[n:]
	}
	conn.AnswerEnd(0, nil)
	conn.Ended(0)
}

// BenchmarkNeighbors compares what calls of models and tools cost with what exchanges of the same bytes cost that are of no
// known kind: to record them behind a tap and behind the forward proxy, to record and check them, and to check the capture later. Each iteration is a
// round of both, and the ratio compares the processor time of all rounds.
//
//	go test ./cmd/a2atap -run '^$' -bench Neighbors -benchtime 20x
func BenchmarkNeighbors(b *testing.B) {
	const each = 200 // exchanges in a round
	for _, c := range neighborCalls() {
		twin := neighborCall{request: c.stranger.Replace(c.request), answer: c.stranger.Replace(c.answer)}
		record := func(b *testing.B, known bool, bodies recording.Scope, live bool) string {
			c := map[bool]*neighborCall{true: &c, false: &twin}[known]
			file := filepath.Join(b.TempDir(), "c.a2atap")
			var store capture.Sink = must.Get(bolt.Open(file, bolt.Options{}))(b)
			if live {
				w := snapshot.NewWriter(rules.All, new(capture.MemoryShelf).Put)
				store = &judgedSink{judge{engine: engine.New(rules.All, w.Options()...)}, store}
			}
			sink := (&redacted.Options{Key: make([]byte, 32)}).Sink(store)
			r := recording.New(recording.Options{Sink: sink, IfFull: recording.Wait})
			for range each {
				c.pass(r, bodies)
			}
			must.Do(b, r.Close(context.Background()))
			must.Do(b, sink.Close())
			return file
		}
		compare := func(name string, round func(b *testing.B, known bool) time.Duration) {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				var took [2]time.Duration
				for n := range b.N {
					for i := range took {
						known := (i+n)%2 == 0 // who is first changes
						took[map[bool]int{true: 1}[known]] += round(b, known)
					}
				}
				micro := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N*each) }
				b.ReportMetric(micro(took[0]), "unknown-µs")
				b.ReportMetric(micro(took[1]), "known-µs")
				b.ReportMetric(float64(took[1])/float64(took[0]), "ratio")
				b.ReportMetric(0, "ns/op")
			})
		}
		compare("record/tap", func(b *testing.B, known bool) time.Duration {
			begin := cpuUsed()
			record(b, known, recording.Everything, false)
			return cpuUsed() - begin
		})
		compare("record/forward", func(b *testing.B, known bool) time.Duration {
			begin, bodies := cpuUsed(), recording.Everything
			if known {
				bodies = recording.Recognized
			}
			record(b, known, bodies, false)
			return cpuUsed() - begin
		})
		compare("record/live", func(b *testing.B, known bool) time.Duration {
			begin := cpuUsed()
			record(b, known, recording.Everything, true)
			return cpuUsed() - begin
		})
		files := make(map[bool]string)
		compare("check", func(b *testing.B, known bool) time.Duration {
			if files[known] == "" || must.Get(filepath.Glob(files[known]))(b) == nil {
				files[known] = record(b, known, recording.Everything, false)
			}
			src := must.Get(bolt.Read(files[known]))(b)
			defer src.Close()
			begin := cpuUsed()
			shelf := new(capture.MemoryShelf)
			result, w, err := snapshot.Judge(context.Background(), rules.All, src, shelf.Put, nil)
			must.Do(b, err)
			must.Do(b, w.Err())
			took := cpuUsed() - begin
			if len(result.Findings) > 0 {
				b.Errorf("%d findings in traffic that is not A2A", len(result.Findings))
			}
			return took
		})
	}
}

// judgedSink is a Sink that gives steps to the rules and to another Sink.
type judgedSink struct {
	judge
	capture.Sink
}

func (j *judgedSink) Append(steps ...capture.Step) error {
	return errors.Join(j.judge.Append(steps...), j.Sink.Append(steps...))
}

func (j *judgedSink) Close() error { return j.Sink.Close() }
