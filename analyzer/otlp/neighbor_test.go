package otlp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"a2atap/analyzer/otlp"
	"a2atap/proxy/expect"
)

// Calls of models and tools have the attributes of the conventions, in spans of their client.
func TestNeighbors(t *testing.T) {
	const calls = `-- 1.request --
POST /v1/messages HTTP/1.1
Host: llm:9001
Content-Type: application/json
anthropic-version: 2023-06-01

{"model":"cl","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: application/json

{"content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4}}
-- 1.meta --
client: planner
-- 2.request --
POST /mcp HTTP/1.1
Host: weather:9002
Content-Type: application/json
MCP-Protocol-Version: 2025-06-18

{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather"}}
-- 2.response --
HTTP/1.1 200 OK
Content-Type: application/json

{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"no such city"}]}}
`
	_, spans := export(t, source(t, calls), otlp.Options{})
	slices.SortFunc(spans, func(a, b *tracepb.Span) int { return strings.Compare(a.Name, b.Name) })
	for i, want := range []struct {
		name, failure string
		attributes    []string
	}{
		{"chat cl", "", []string{
			"gen_ai.operation.name=chat", "gen_ai.provider.name=anthropic", "gen_ai.request.model=cl",
			"gen_ai.usage.input_tokens=3", "gen_ai.usage.output_tokens=4",
		}},
		{"tools/call weather", "tool_error", []string{
			"mcp.method.name=tools/call", "gen_ai.tool.name=weather", "mcp.protocol.version=2025-06-18",
			"error.type=tool_error", "a2atap.failure=no such city",
		}},
	} {
		span := spans[i]
		expect.Equal(t, "name", want.name, span.Name)
		expect.Equal(t, "kind of "+span.Name, tracepb.Span_SPAN_KIND_CLIENT, span.Kind)
		expect.Equal(t, "status of "+span.Name, want.failure, span.Status.GetMessage())
		var has []string
		for _, a := range span.Attributes {
			value := a.Value.GetStringValue()
			if n := a.Value.GetIntValue(); n != 0 {
				value = fmt.Sprint(n)
			}
			has = append(has, a.Key+"="+value)
		}
		for _, attribute := range want.attributes {
			if !slices.Contains(has, attribute) {
				t.Errorf("%s lacks %s: %q", span.Name, attribute, has)
			}
		}
	}
}
