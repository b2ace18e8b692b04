package otlp

import (
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"a2atap/proxy/neighbor"
)

// isNeighbor reports whether the exchange is a call of a model or an MCP server. Its span has the kind CLIENT, as the
// conventions require.
func (e *exchangeSpan) isNeighbor() bool {
	n := e.reading.Neighbor
	return n != nil && n.Kind != neighbor.Other
}

func (e *exchangeSpan) kind() tracepb.Span_SpanKind {
	if e.isNeighbor() {
		return tracepb.Span_SPAN_KIND_CLIENT
	}
	return tracepb.Span_SPAN_KIND_SERVER
}

// providers are the names of the protocols' vendors in the conventions.
var providers = map[string]string{"openai": "openai", "anthropic": "anthropic", "gemini": "gcp.gemini", "ollama": "ollama"}

// neighbor adds the attributes of the conventions for generative AI and MCP.
//
// Source: OpenTelemetry semantic conventions, "Generative AI" and "MCP".
func (e *exchangeSpan) neighbor(a *attributes) {
	if !e.isNeighbor() {
		return
	}
	n := e.reading.Neighbor
	switch n.Kind {
	case neighbor.Model:
		a.text("gen_ai.operation.name", n.Operation)
		a.text("gen_ai.provider.name", providers[n.Protocol])
		a.text("gen_ai.request.model", n.Subject)
		if n.Input > 0 {
			a.number("gen_ai.usage.input_tokens", n.Input)
		}
		if n.Output > 0 {
			a.number("gen_ai.usage.output_tokens", n.Output)
		}
		if n.Finish != "" {
			a.texts("gen_ai.response.finish_reasons", []string{n.Finish})
		}
	case neighbor.MCP:
		a.text("mcp.method.name", n.Operation)
		a.text("mcp.session.id", n.Session)
		a.text("mcp.protocol.version", n.Version)
		switch n.Operation {
		case "tools/call":
			a.text("gen_ai.operation.name", "execute_tool")
			a.text("gen_ai.tool.name", n.Subject)
		case "prompts/get":
			a.text("gen_ai.prompt.name", n.Subject)
		case "resources/read":
			a.text("mcp.resource.uri", n.Subject)
		}
	}
	a.text("a2atap.failure", n.Failure)
}
