package rules_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/har"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
)

// A framed is the messages of one side of a call, and the fields of its head.
type framed struct {
	frames [][]byte
	fields string
}

// framingFaults are what one side of a call can do wrong in how it frames its messages.
var framingFaults = []struct {
	name   string
	rule   string
	fault  func(f *framed)
	lawful bool // in a stream of answers
}{
	{name: "no fault"},
	{name: "two messages", rule: "grpc-message-count", fault: func(f *framed) {
		f.frames = append(f.frames, f.frames[0])
	}, lawful: true},
	{name: "no message", rule: "grpc-message-count", fault: func(f *framed) { f.frames = nil }, lawful: true},
	{name: "reserved flag", rule: "grpc-message", fault: func(f *framed) { f.frames[0][0] = 128 }},
	{name: "length beyond the end", rule: "grpc-message", fault: func(f *framed) { f.frames[0][3] = 1 }},
	{name: "not even a prefix", rule: "grpc-message", fault: func(f *framed) { f.frames[0] = f.frames[0][:3] }},
	{name: "bytes behind the message", rule: "grpc-message", fault: func(f *framed) {
		f.frames = append(f.frames, []byte{0, 0, 0})
	}},
	{name: "half a message behind the message", rule: "grpc-message", fault: func(f *framed) {
		f.frames = append(f.frames, f.frames[0][:7])
	}},
	{name: "compressed without a name", rule: "grpc-message", fault: func(f *framed) {
		f.frames[0][0], f.fields = 1, ""
	}},
	{name: "compressed as identity", rule: "grpc-message", fault: func(f *framed) {
		f.frames[0][0], f.fields = 1, "grpc-encoding: identity\r\n"
	}},
	{name: "not in its compression", rule: "grpc-message", fault: func(f *framed) {
		f.frames[0], f.fields = frameOf([]byte("\x0a\x02t1"), 1), "grpc-encoding: gzip\r\n"
	}},
	{name: "truncated varint", rule: "grpc-message", fault: func(f *framed) { f.frames[0] = frameOf([]byte{0x80}, 0) }},
	{name: "truncated field", rule: "grpc-message", fault: func(f *framed) { f.frames[0] = frameOf([]byte("\x0a\x09geh"), 0) }},
	{name: "text that is not UTF-8", rule: "grpc-message", fault: func(f *framed) {
		f.frames[0] = frameOf([]byte("\x0a\x08geheim\xff\xfe"), 0)
	}},
}

// frameOf returns a message with its prefix.
func frameOf(message []byte, flag byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(message))), message...)
}

// framedCall returns a call that is well-formed.
func framedCall(t *testing.T, method, encoding string) (request, answer framed) {
	t.Helper()
	m, _ := grpc.MethodOf("/lf.a2a.v1.A2AService/" + method)
	asked, answered := `{"id":"t1"}`, `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}`
	if m.Streams {
		asked = `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"Kyoto"}]}}`
		answered = `{"task":` + answered + `}`
	}
	of := func(kind *grpc.Type, text string) framed {
		doc := jsondoc.Parse([]byte(text))
		message := must.Get(kind.FromJSON(doc.Root))(t)
		if encoding == "" {
			return framed{[][]byte{frameOf(message, 0)}, ""}
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		must.Get(w.Write(message))(t)
		must.Do(t, w.Close())
		return framed{[][]byte{frameOf(b.Bytes(), 1)}, "grpc-encoding: gzip\r\n"}
	}
	return of(m.Request, asked), of(m.Answer, answered)
}

// exchangeOf returns the exchange of a call over gRPC that ended with a status.
func exchangeOf(method string, request, answer framed, status int) *capture.Exchange {
	body := bytes.Join(request.frames, nil)
	x := &capture.Exchange{
		Seq: 1, Started: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), Ended: 30 * time.Millisecond, State: capture.StateClosed,
		Client: capture.Peer{Name: "planner"}, Agent: capture.Peer{Name: "booker", URL: "http://booker:9001"},
		Request: capture.Request{
			Head: []byte("POST /lf.a2a.v1.A2AService/" + method + " HTTP/2\r\nHost: booker:9001\r\nte: trailers\r\n" +
				"content-type: application/grpc\r\na2a-version: 1.0\r\n" + request.fields + "\r\n"),
			Body: capture.Body{Data: body, Size: int64(len(body)), Complete: true, At: time.Millisecond},
		},
		Response: &capture.Response{
			At:     10 * time.Millisecond,
			Head:   []byte("HTTP/2 200 \r\ncontent-type: application/grpc\r\n" + answer.fields + "\r\n"),
			Stream: true, Body: capture.Body{Complete: true, At: 20 * time.Millisecond},
			Trailer: fmt.Appendf(nil, "grpc-status: %d\r\n", status),
		},
	}
	var split capture.MessageSplitter
	events := split.Write(bytes.Join(answer.frames, nil))
	events = append(slices.Clone(events), split.Flush()...)
	for i := range events {
		events[i].At = 20 * time.Millisecond
		x.Response.Body.Size += int64(len(events[i].Raw))
	}
	x.Response.Events = events
	return x
}

// recorded returns an exchange as a recorder keeps it, without its secrets.
func recorded(t *testing.T, x *capture.Exchange) *capture.Exchange {
	t.Helper()
	memory := capture.NewMemory(capture.Info{})
	sink := redact.New(memory, redact.Options{Key: []byte("key"), Describer: reading.NewDescriber()})
	must.Do(t, sink.Append(capture.Steps(x)...))
	must.Do(t, sink.Close())
	return must.Get(memory.Exchange(context.Background(), 1))(t)
}

// exported returns what comes back of an exchange that was written in each format of other programs.
func exported(t *testing.T, x *capture.Exchange) map[string]capture.Source {
	t.Helper()
	dir, all := t.TempDir(), make(map[string]capture.Source)
	for name, write := range map[string]func(b *bytes.Buffer){
		"c.har": func(b *bytes.Buffer) {
			w := must.Get(har.NewWriter(b, "1.2.3"))(t)
			must.Do(t, w.Write(x))
			must.Do(t, w.Close())
		},
		"c.jsonl": func(b *bytes.Buffer) {
			w := jsonl.NewWriter(b, nil)
			must.Do(t, w.Write(x))
			must.Do(t, w.Close())
		},
		"c.txtar": func(b *bytes.Buffer) {
			b.Write(transcript.Format(&transcript.Transcript{Exchanges: []*capture.Exchange{x}}))
		},
	} {
		var b bytes.Buffer
		write(&b)
		if bytes.Contains(b.Bytes(), []byte("geh")) {
			t.Errorf("%s holds what was withheld: %q", name, b.Bytes())
		}
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, b.Bytes(), 0o600))
		all[name] = must.Get(open.File(path))(t)
	}
	return all
}

// Whatever one side of a call does wrong in how it frames its messages is found, and held against that side: in a call
// that is answered with one message and in a stream, compressed or not, as it was on the wire, as a recorder keeps it,
// and in every format that a recording can be written in. It is one call, whose outcome is known.
func TestFraming(t *testing.T) {
	t.Parallel()
	for _, fault := range framingFaults {
		for _, method := range []string{"GetTask", "SendStreamingMessage"} {
			for _, encoding := range []string{"", "gzip"} {
				for _, side := range []a2a.Side{a2a.Client, a2a.Agent} {
					name := strings.Join([]string{fault.name, method, encoding, side.String()}, " ")
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						request, answer := framedCall(t, method, encoding)
						var want []string
						outcome := analysis.Outcome{Succeeded: true}
						status := 0
						lawful := fault.rule == "" || fault.lawful && side == a2a.Agent && method == "SendStreamingMessage"
						switch {
						case fault.rule == "":
						case side == a2a.Client:
							fault.fault(&request)
							answer.frames, status = nil, int(grpc.Internal)
							outcome = analysis.Outcome{Failure: grpc.Internal.String()}
						default:
							fault.fault(&answer)
							outcome = analysis.Outcome{Failure: "whatever"}
						}
						if !lawful {
							want = append(want, fmt.Sprint(fault.rule, " ", side))
						}
						x := exchangeOf(method, request, answer, status)
						kept := recorded(t, x)
						memory := rulestest.Source(t, []*capture.Exchange{x})
						sources := exported(t, kept)
						sources["on the wire"] = memory
						sources["as recorded"] = rulestest.Source(t, []*capture.Exchange{kept})
						for from, source := range sources {
							compareFraming(t, from, source, want, outcome, lawful)
						}
					})
				}
			}
		}
	}
}

func compareFraming(t *testing.T, from string, source capture.Source, want []string, outcome analysis.Outcome, lawful bool) {
	t.Helper()
	result := must.Get(engine.Run(context.Background(), rules.All, source, nil))(t)
	var got []string
	for i := range result.Findings {
		if f := &result.Findings[i]; strings.HasPrefix(f.Rule.ID, "grpc-") {
			got = append(got, fmt.Sprint(f.Rule.ID, " ", f.Side))
		}
	}
	if !slices.Equal(want, got) {
		t.Errorf("%s: found %v, want %v", from, got, want)
	}
	verdict := result.Verdict(analysis.Error)
	if verdict.Calls.Made != 1 || result.Counts.Lost != 0 || strings.Contains(verdict.String(), "never called") {
		t.Errorf("%s: %s", from, verdict)
	}
	if succeeded := verdict.Calls.Succeeded == 1; !lawful && succeeded != outcome.Succeeded || verdict.Calls.Unknown() > 0 {
		t.Errorf("%s: %s, want %+v", from, verdict, outcome)
	}
}

// An invalid or missing status is reported once, and the call has not succeeded, whatever its messages say, since
// clients take it for failed. Several equal statuses give the outcome.
func TestStatusOfAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		trailer string
		want    string // what it failed with; empty if it succeeded
		lawful  bool
	}{
		{trailer: "grpc-status: 0\r\n", lawful: true},
		{trailer: "grpc-status: 00\r\n", lawful: true},
		{trailer: "grpc-status: 14\r\n", lawful: true, want: "UNAVAILABLE"},
		{trailer: "", want: analysis.NoStatus},
		{trailer: "grpc-message: late\r\n", want: analysis.NoStatus},
		{trailer: "grpc-status: \r\n", want: analysis.NoStatus},
		{trailer: "grpc-status: OK\r\n", want: "UNKNOWN"},
		{trailer: "grpc-status: -1\r\n", want: "UNKNOWN"},
		{trailer: "grpc-status: 17\r\n", want: "grpc-status 17"},
		{trailer: "grpc-status: 0\r\ngrpc-status: 0\r\n"},
		{trailer: "grpc-status: 0\r\ngrpc-status: 5\r\n", want: "UNKNOWN"},
		{trailer: "grpc-status: 5\r\ngrpc-status: 0\r\n", want: "UNKNOWN"},
		{trailer: "grpc-status: 0, 13\r\n", want: "UNKNOWN"},
	} {
		for _, method := range []string{"GetTask", "SendStreamingMessage"} {
			request, answer := framedCall(t, method, "")
			x := exchangeOf(method, request, answer, 0)
			x.Response.Trailer = []byte(test.trailer)
			result := rulestest.Check(t, rules.All, []*capture.Exchange{x})
			found := 0
			for i := range result.Findings {
				if f := &result.Findings[i]; f.Rule.ID == "grpc-status" && f.Side == a2a.Agent {
					found++
				}
			}
			calls := result.Verdict(analysis.Error).Calls
			if found == 0 != test.lawful || found > 1 || calls.Succeeded == 1 != (test.want == "") || calls.Failures[test.want] == 0 && test.want != "" {
				t.Errorf("%s %q: %d findings, %s", method, test.trailer, found, calls.String())
			}
		}
	}
}
