package neighbor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/neighbor"
)

// brief is a call on one line.
func brief(r *neighbor.Reader) string {
	if r == nil {
		return "not recognized"
	}
	c := r.Finished()
	text := fmt.Sprintf("%s/%s %s", c.Kind, c.Protocol, c.Title())
	add := func(is bool, format string, args ...any) {
		if is {
			text += fmt.Sprintf(" "+format, args...)
		}
	}
	add(c.Messages > 0, "messages=%d", c.Messages)
	add(c.Tools > 0, "tools=%d", c.Tools)
	add(len(c.Answers) > 0, "answers=%s", strings.Join(c.Answers, ","))
	for _, t := range c.Asked {
		add(true, "asks=%s:%s(%s)", t.ID, t.Name, t.Arguments)
	}
	add(c.Finish != "", "finish=%s", c.Finish)
	add(c.Input+c.Output > 0, "tokens=%d+%d", c.Input, c.Output)
	add(c.First > 0, "first=%s", c.First)
	add(c.Server != "", "server=%s", c.Server)
	add(c.Version != "", "version=%s", c.Version)
	add(c.Session != "", "session=%s", c.Session)
	add(len(c.Requests) > 0, "requests=%s", strings.Join(c.Requests, ","))
	add(len(r.Text()) > 0, "text=%q", r.Text())
	add(c.Failed, "failed=%q", c.Failure)
	return text
}

func read(t *testing.T, asked, answered string) *neighbor.Reader {
	t.Helper()
	text := "-- 1.request --\n" + asked + "-- 1.response --\n" + answered
	source := must.Get(must.Get(transcript.Parse("calls", []byte(text)))(t).Source("calls"))(t)
	return neighbor.Read(must.Get(source.Exchange(t.Context(), 1))(t), 1<<20)
}

func post(path, body string, fields ...string) string {
	return "POST " + path + " HTTP/1.1\nHost: service.example\nContent-Type: application/json\n" +
		strings.Join(append(fields, ""), "\n") + "\n" + body + "\n"
}

func answer(status, kind, body string, fields ...string) string {
	return "HTTP/1.1 " + status + "\nContent-Type: " + kind + "\n" + strings.Join(append(fields, ""), "\n") + "\n" + body + "\n"
}

func stream(data ...string) string {
	return answer("200 OK", "text/event-stream", "data: "+strings.Join(data, "\n\ndata: ")+"\n")
}

func whole(body string) string { return answer("200 OK", "application/json", body) }

const chat = "/v1/chat/completions"

func TestCalls(t *testing.T) {
	session := "Mcp-Session-Id: s1"
	for _, tt := range []struct{ name, asked, answered, want string }{
		{
			"OpenAI chat, whole", post(chat, `{"model":"gpt-x","messages":[{"role":"user","content":"hi"},`+
				`{"role":"tool","tool_call_id":"c0","content":"7"}],"tools":[{},{}]}`),
			whole(`{"choices":[{"message":{"content":"It is 7."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4}}`),
			`model/openai chat gpt-x messages=2 tools=2 answers=c0 finish=stop tokens=9+4 text="It is 7."`,
		},
		{
			"MCP, a server that does not know the probe",
			post("/mcp", `{"jsonrpc":"2.0","id":"server-discover","method":"server/discover","params":{}}`),
			answer("400 Bad Request", "application/json", `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Server not initialized"},"id":null}`),
			`mcp/mcp server/discover`,
		},
		{
			"MCP, a server that refuses the probe by JSON-RPC",
			post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`),
			whole(`{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":1}`), `mcp/mcp server/discover`,
		},
		{
			"MCP, a server without a stream for its messages",
			"GET /mcp HTTP/1.1\nHost: service.example\nAccept: text/event-stream\nMcp-Session-Id: s1\n\n",
			answer("405 Method Not Allowed", "text/plain", ""), `mcp/mcp listen session=s1`,
		},
		{
			"MCP, a probe that a broken server answers",
			post("/mcp", `{"jsonrpc":"2.0","id":"server-discover","method":"server/discover","params":{}}`),
			answer("502 Bad Gateway", "text/plain", "no"),
			`mcp/mcp server/discover failed="no"`,
		},
		{
			"OpenAI chat, streamed with two tool calls in pieces", post(chat, `{"model":"gpt-x","messages":[],"stream":true}`),
			stream(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{\"x\""}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"b","arguments":"{}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}`,
				`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`),
			`model/openai chat gpt-x asks=c1:a({"x":1}) asks=c2:b({}) finish=tool_calls first=20ms`,
		},
		{
			"OpenAI chat, refused", post(chat, `{"model":"gpt-x","messages":[]}`),
			whole(`{"choices":[{"message":{"content":null,"refusal":"I will not."},"finish_reason":"stop"}]}`),
			`model/openai chat gpt-x finish=stop text="I will not." failed="refused: I will not."`,
		},
		{
			"a model that is called in the shape of OpenAI's, at any path", post("/v2/think", `{"model":"m","messages":[{"role":"user"}]}`),
			answer("400 Bad Request", "application/json", `{"error":{"message":"too long","code":"context_length_exceeded"}}`),
			`model/openai chat m messages=1 failed="context_length_exceeded: too long"`,
		},
		{
			"a deployment of Azure, refused for now", post("/openai/deployments/d7/chat/completions?api-version=1", `{"messages":[]}`),
			answer("429 Too Many Requests", "application/json", `{"error":{"message":"slow down"}}`, "Retry-After: 20"),
			`model/openai chat d7 failed="slow down, retry after 20 s"`,
		},
		{
			"OpenAI responses, streamed", post("/v1/responses", `{"model":"gpt-x","input":[{"type":"function_call_output","call_id":"c0"}],"stream":true}`),
			stream(`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c1","name":"a"}}`,
				`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}`,
				`{"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","call_id":"c1",`+
					`"name":"a","arguments":"{}"},{"type":"message","content":[{"type":"output_text","text":"ok"}]}],`+
					`"usage":{"input_tokens":5,"output_tokens":6}}}`),
			`model/openai chat gpt-x messages=1 answers=c0 asks=c1:a({}) finish=completed tokens=5+6 first=20ms text="ok"`,
		},
		{
			"OpenAI responses, failed in the stream", post("/v1/responses", `{"model":"gpt-x","input":"hi"}`),
			stream(`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"oops"}}}`),
			`model/openai chat gpt-x messages=1 finish=failed first=20ms failed="server_error: oops"`,
		},
		{
			"embeddings", post("/v1/embeddings", `{"model":"e","input":["a","b"]}`), whole(`{"usage":{"prompt_tokens":2}}`),
			`model/openai embeddings e messages=2 tokens=2+0`,
		},
		{
			"Anthropic, streamed", post("/v1/messages", `{"model":"cl","max_tokens":9,"messages":[{"role":"user","content":`+
				`[{"type":"tool_result","tool_use_id":"t0"}]}]}`),
			stream(`{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":10}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me see."}}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"a","input":{}}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
				`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}`),
			`model/anthropic chat cl messages=1 answers=t0 asks=t1:a({"x":1}) finish=tool_use tokens=15+7 first=20ms text="Let me see."`,
		},
		{
			"Anthropic, overloaded in the stream", post("/v1/messages", `{"model":"cl"}`, "anthropic-version: 2023-06-01"),
			stream(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
			`model/anthropic chat cl first=20ms failed="Overloaded"`,
		},
		{
			"Gemini, streamed", post("/v1beta/models/g-2:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"hi"}]}],`+
				`"tools":[{"functionDeclarations":[{},{}]}]}`),
			stream(`{"candidates":[{"content":{"parts":[{"text":"Yes"}]}}]}`,
				`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"x":1}}}]},"finishReason":"STOP"}],`+
					`"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2}}`),
			`model/gemini generate_content g-2 messages=1 tools=2 asks=:a({"x":1}) finish=STOP tokens=3+2 first=20ms text="Yes"`,
		},
		{
			"Gemini, in an array", post("/v1beta/models/g-2:streamGenerateContent", `{"contents":[]}`),
			whole(`[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"SAFETY"}]}]`),
			`model/gemini generate_content g-2 finish=SAFETY text="ab" failed="refused: SAFETY"`,
		},
		{
			"Ollama, streamed in lines", post("/api/chat", `{"model":"llama","messages":[{"role":"user"}]}`),
			answer("200 OK", "application/x-ndjson", `{"message":{"content":"He"},"done":false}`+"\n"+
				`{"message":{"content":"y","tool_calls":[{"function":{"name":"a","arguments":{"x":1}}}]},"done":false}`+"\n"+
				`{"done":true,"done_reason":"stop","prompt_eval_count":8,"eval_count":2}`),
			`model/ollama chat llama messages=1 asks=:a({"x":1}) finish=stop tokens=8+2 text="Hey"`,
		},
		{
			"Ollama without the model", post("/api/chat", `{"model":"llama","messages":[]}`),
			answer("404 Not Found", "application/json", `{"error":"model \"llama\" not found"}`),
			`model/ollama chat llama failed="model \"llama\" not found"`,
		},
		{
			"MCP, begun", post("/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`),
			answer("200 OK", "application/json", `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"w"}}}`, session),
			`mcp/mcp initialize server=w version=2025-06-18 session=s1`,
		},
		{
			"MCP, a tool that fails, and asks back", post("/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"weather"}}`, session),
			stream(`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`,
				`{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}`,
				`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"no such city"}],"isError":true}}`),
			`mcp/mcp tools/call weather first=20ms session=s1 requests=elicitation/create text="no such city" failed="no such city"`,
		},
		{
			"MCP, an error", post("/mcp", `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///a"}}`),
			whole(`{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"none"}}`),
			`mcp/mcp resources/read file:///a failed="-32002 none"`,
		},
		{
			"MCP, the server's stream", "GET /mcp HTTP/1.1\nHost: a\nAccept: text/event-stream\n" + session + "\n\n",
			stream(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`), `mcp/mcp listen first=20ms session=s1 requests=roots/list`,
		},
		{
			"MCP, tools", post("/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), whole(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{},{}]}}`),
			`mcp/mcp tools/list tools=2`,
		},
		{
			"another JSON-RPC service", post("/rpc", `{"jsonrpc":"2.0","id":2,"method":"eth_call"}`),
			whole(`{"jsonrpc":"2.0","id":2,"error":{"code":3,"message":"reverted"}}`),
			`other/json-rpc eth_call failed="3 reverted"`,
		},
		{"neither path nor shape", post("/v1/things", `{"model":"m","prompt":"x"}`), whole(`{"error":{"message":"x"}}`), "not recognized"},
		{"a GET where models are posted to", "GET /v1/chat/completions HTTP/1.1\nHost: a\n\n", whole(`[]`), "not recognized"},
	} {
		expect.Equal(t, tt.name, tt.want, brief(read(t, tt.asked, tt.answered)))
	}
}

// What a Reader puts together stays within its room, and what a request names within the length of a name.
func TestBounds(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	r := neighbor.Recognize(neighbor.Request{Method: "POST", Target: chat}, 1000)
	for i := range 200 {
		r.Event(&capture.Event{K: i, Raw: fmt.Appendf(nil, `data: {"choices":[{"delta":{"content":%q,"tool_calls":[{"index":%d,"id":%q,"function":{"name":%q,"arguments":%q}}]}}]}`+"\n\n",
			long, i, long, long, long)}, nil, time.Second)
	}
	c := r.Finished()
	size := len(r.Text())
	for _, call := range c.Asked {
		size += len(call.ID) + len(call.Name) + len(call.Arguments)
	}
	if len(c.Asked) != 64 || size > 64*400+1000 {
		t.Errorf("%d tool calls and %d bytes are held", len(c.Asked), size)
	}
}

// No bytes make a Reader fail, or hold more than its room.
func FuzzCalls(f *testing.F) {
	for _, path := range []string{chat, "/v1/responses", "/v1/messages", "/models/g:generateContent", "/api/chat", "/mcp"} {
		f.Add(path, "Mcp-Session-Id", []byte(`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"},"model":"m","messages":[{"role":"user"}],"max_tokens":1}`),
			[]byte(`{"choices":[{"delta":{"content":"a","tool_calls":[{"index":-1,"function":{"arguments":"{"}}]}}],"error":{"message":"x"}}`))
	}
	f.Fuzz(func(t *testing.T, path, field string, asked, answered []byte) {
		x := &capture.Exchange{Request: capture.Request{
			Head: []byte("POST " + path + " HTTP/1.1\r\n" + field + ": x\r\n\r\n"), Body: capture.Body{Data: asked, Complete: true},
		}}
		x.Response = &capture.Response{Head: []byte("HTTP/1.1 200 OK\r\n\r\n"), Body: capture.Body{Data: answered, Complete: true}}
		const room = 100
		r := neighbor.Read(x, room)
		if r == nil {
			return
		}
		r.Event(&capture.Event{K: 2, Raw: fmt.Appendf(nil, "event: %s\ndata: %s\n\n", field, answered)}, nil, 1)
		c := r.Finished()
		n := len(r.Text())
		for _, call := range c.Asked {
			n += len(call.Arguments)
		}
		if n > room {
			t.Errorf("%d bytes in a room of %d", n, room)
		}
		if c.Kind == neighbor.Other && c.Operation == "" || len(c.Subject) > 200 {
			t.Errorf("recognized as %+v", c)
		}
	})
}

// A URL in a path is a part of the path.
func TestPaths(t *testing.T) {
	for target, want := range map[string]string{
		"/fetch/https://b.example/v1/?x": "/fetch/https://b.example/v1", "http://h/v1/chat/": "/v1/chat", "http://h": "", "/": "",
	} {
		if got := neighbor.Path(target); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}
