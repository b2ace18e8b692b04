package otlp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/otlp"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// source opens a transcript.
func source(t *testing.T, text string) capture.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.txtar")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	src := must.Get(open.File(path))(t)
	t.Cleanup(func() { src.Close() })
	return src
}

// sent returns the span of the message to the agent.
func sent(t *testing.T, spans []*tracepb.Span) *tracepb.Span {
	t.Helper()
	i := slices.IndexFunc(spans, func(s *tracepb.Span) bool { return s.Name == "invoke_agent booker" })
	if i < 0 {
		t.Fatal("no message was sent")
	}
	return spans[i]
}

func everything(*capture.Exchange) bool { return true }

// export exports a capture, and decodes the result with the official types.
func export(t *testing.T, src capture.Source, o otlp.Options) (text string, spans []*tracepb.Span) {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, otlp.Export(t.Context(), &out, rules.All, src, otlp.New(o), everything, false))
	for line := range strings.Lines(out.String()) {
		for _, r := range parse(t, line).ResourceSpans {
			spans = append(spans, r.ScopeSpans[0].Spans...)
		}
	}
	return out.String(), spans
}

var ids = regexp.MustCompile(`"(traceId|spanId|parentSpanId)":"([0-9a-f]*)"`)

// parse reads a request in its JSON form. The JSON of protocol buffers has bytes in base64, where OTLP has hexadecimal.
func parse(t *testing.T, line string) *tracepb.TracesData {
	t.Helper()
	line = ids.ReplaceAllStringFunc(line, func(m string) string {
		parts := ids.FindStringSubmatch(m)
		id := must.Get(hex.DecodeString(parts[2]))(t)
		return fmt.Sprintf(`"%s":"%s"`, parts[1], base64.StdEncoding.EncodeToString(id))
	})
	data := &tracepb.TracesData{}
	must.Do(t, protojson.Unmarshal([]byte(line), data))
	return data
}

// show writes spans as a person would look at them.
func show(spans []*tracepb.Span) string {
	var b strings.Builder
	for _, s := range spans {
		kind := strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_")
		fmt.Fprintf(&b, "%s %s %s", s.Name, kind, time.Duration(s.EndTimeUnixNano-s.StartTimeUnixNano))
		if s.Status != nil {
			fmt.Fprintf(&b, " %s %q", strings.TrimPrefix(s.Status.Code.String(), "STATUS_CODE_"), s.Status.Message)
		}
		fmt.Fprintln(&b)
		for _, a := range s.Attributes {
			fmt.Fprintf(&b, "  %s=%s\n", a.Key, value(a.Value))
		}
		for _, e := range s.Events {
			fmt.Fprintf(&b, "  + %s %s", time.Duration(e.TimeUnixNano-s.StartTimeUnixNano), e.Name)
			for _, a := range e.Attributes {
				fmt.Fprintf(&b, " %s=%s", a.Key, value(a.Value))
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String()
}

func value(v *commonpb.AnyValue) string {
	switch v := v.Value.(type) {
	case *commonpb.AnyValue_StringValue:
		return fmt.Sprintf("%q", v.StringValue)
	case *commonpb.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *commonpb.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	case *commonpb.AnyValue_ArrayValue:
		var list []string
		for _, element := range v.ArrayValue.Values {
			list = append(list, value(element))
		}
		return "[" + strings.Join(list, " ") + "]"
	}
	return fmt.Sprintf("%T", v.Value)
}

const session = `A client asks an agent for something, by a stream, and another for its card.
-- 1.meta --
id: 11111111-1111-4111-8111-111111111111
client: planner addr 127.0.0.1:50000
agent: booker url http://127.0.0.1:9001
-- 1.request --
POST /a2a?key=hidden HTTP/1.1
Host: 127.0.0.1:7001
User-Agent: planner/1.0
Authorization: Bearer hidden
traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
A2A-Version: 1.0
Content-Type: application/json

{"jsonrpc":"2.0","id":7,"method":"SendStreamingMessage","params":{"message":
{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"what nobody else should read"}]}}}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

data: {"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}

data: {"jsonrpc":"2.0","id":7,"result":{"statusUpdate":
data: {"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_FAILED"}}}}

data: {"jsonrpc":"2.0","id":7,"result":{"statusUpdate":
data: {"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}

-- 2.request --
GET /.well-known/agent-card.json HTTP/1.1
Host: weather.example

-- 2.response --
HTTP/1.1 404 Not Found
Content-Length: 0

-- 3.request --
POST /a2a HTTP/1.1
Host: 127.0.0.1:7001
A2A-Version: 1.0
Content-Type: application/json

{"jsonrpc":"2.0","id":"x","method":"GetTask","params":{"id":"t9"}}
-- 3.response --
HTTP/1.1 200 OK
Content-Type: application/json

{"jsonrpc":"2.0","id":"x","error":{"code":-32001,"message":"no such task"}}
`

func TestSpans(t *testing.T) {
	text, spans := export(t, source(t, session), otlp.Options{Version: "test"})
	golden := filepath.Join("testdata", "spans.txt")
	got := show(spans)
	if os.Getenv("UPDATE_SPANS") != "" {
		must.Do(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(golden))(t)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("spans (-want +got; UPDATE_SPANS=1 rewrites):\n%s", diff)
	}
	if strings.Contains(text, "hidden") || strings.Contains(text, "nobody else") {
		t.Errorf("a header, a query or a body is in a span: %s", text)
	}
	expect.Equal(t, "the trace", "4bf92f3577b34da6a3ce929d0e0e4736", hex.EncodeToString(sent(t, spans).TraceId))
	if again, _ := export(t, source(t, session), otlp.Options{Version: "test"}); again != text {
		t.Error("exported again it is another text")
	}
	with, _ := export(t, source(t, session), otlp.Options{Bodies: true})
	if !strings.Contains(with, "what nobody else should read") || !strings.Contains(with, "TASK_STATE_FAILED") {
		t.Error("bodies and events are not there, although they were asked for")
	}
}

// OTLP JSON is protobuf JSON except for ids.
func TestJSON(t *testing.T) {
	text, _ := export(t, source(t, session), otlp.Options{})
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		t.Errorf("a request does not stand on one line: %q", text)
	}
	var data struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, ParentSpanID      string
					Kind                               int
					StartTimeUnixNano, EndTimeUnixNano string
					Attributes                         []struct {
						Key   string
						Value struct{ IntValue *string }
					}
					Status struct{ Code int }
				}
			}
		}
	}
	must.Do(t, json.Unmarshal([]byte(text), &data))
	is := func(pattern, text string) bool { return regexp.MustCompile("^" + pattern + "$").MatchString(text) }
	numbers, failed := 0, 0
	for _, r := range data.ResourceSpans {
		for _, s := range r.ScopeSpans[0].Spans {
			if !is("[0-9a-f]{32}", s.TraceID) || !is("[0-9a-f]{16}", s.SpanID) || !is("([0-9a-f]{16})?", s.ParentSpanID) {
				t.Errorf("ids are %q, %q, %q", s.TraceID, s.SpanID, s.ParentSpanID)
			}
			if !is("[0-9]+", s.StartTimeUnixNano) || !is("[0-9]+", s.EndTimeUnixNano) || s.Kind == 0 {
				t.Errorf("times are %q and %q, kind is %d", s.StartTimeUnixNano, s.EndTimeUnixNano, s.Kind)
			}
			for _, a := range s.Attributes {
				if a.Value.IntValue != nil {
					numbers++
				}
			}
			if s.Status.Code == 2 {
				failed++
			}
		}
	}
	if numbers == 0 || failed == 0 {
		t.Errorf("%d numbers are texts, %d spans failed", numbers, failed)
	}
}

// trace makes spans as a recording does.
func trace(t *testing.T, src capture.Source) (spans []*tracepb.Span) {
	t.Helper()
	s := otlp.New(otlp.Options{})
	tracer := otlp.NewTracer(s, src, time.Now, func(span otlp.Span) { spans = append(spans, span.Span) })
	e := engine.New(rules.All,
		engine.OnEnded(func(x summary.Summary) { tracer.Ended(&x) }),
		engine.OnEvent(func(v summary.Event) { tracer.Event(&v) }))
	found := func(findings []analysis.Finding) {
		for i := range findings {
			tracer.Found(&findings[i])
		}
	}
	for step, err := range src.Steps(t.Context(), 1) {
		must.Do(t, err)
		found(e.Step(step))
		must.Do(t, tracer.Step(t.Context()))
	}
	found(e.End(false))
	if lost, err := tracer.Close(t.Context()); lost > 0 || err != nil {
		t.Fatalf("%d spans are lost: %v", lost, err)
	}
	return spans
}

// What is sent while a capture is recorded is what is exported later: the same spans at the same places in the same
// traces. Findings that come late are spans there and events here.
func TestLiveIsAsExported(t *testing.T) {
	tasks := 0
	for i, s := range rulestest.Scenarios(t) {
		if i%5 != 0 { // a fifth of them says it all
			continue
		}
		file := s.Name
		src := must.Get(must.Get(s.Parse())(t).Source(file))(t)
		live, late := places(trace(t, src))
		_, spans := export(t, src, otlp.Options{})
		later, _ := places(spans)
		if diff := cmp.Diff(live, later); diff != "" {
			t.Errorf("%s (-live +exported):\n%s", file, diff)
		}
		if n := findings(spans); n < late {
			t.Errorf("%s: %d findings came late, and %d are exported", file, late, n)
		}
		for _, s := range spans {
			if _, err := proto.Marshal(s); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if s.Name == "a2a.task" {
				tasks++
			}
			if s.EndTimeUnixNano < s.StartTimeUnixNano {
				t.Errorf("%s: %s ends before it begins", file, s.Name)
			}
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
	if tasks == 0 {
		t.Error("there are no spans of tasks")
	}
}

// places returns where the spans of exchanges and tasks are, and how many are findings.
func places(spans []*tracepb.Span) (list []string, late int) {
	for _, s := range spans {
		if s.Name == "a2atap.finding" {
			late++
			continue
		}
		list = append(list, fmt.Sprintf("%x %x %x %s %d", s.TraceId, s.SpanId, s.ParentSpanId, s.Name, s.StartTimeUnixNano))
	}
	slices.Sort(list)
	return list, late
}

func findings(spans []*tracepb.Span) (n int) {
	for _, s := range spans {
		for _, e := range s.Events {
			if e.Name == "a2atap.finding" {
				n++
			}
		}
		n += int(s.DroppedEventsCount)
	}
	return n
}
