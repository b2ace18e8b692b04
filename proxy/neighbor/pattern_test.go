package neighbor

import (
	"fmt"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/jsondoc"
)

var patternRequests = []Request{
	{Method: "POST", Target: "/v1/chat/completions"},
	{Method: "POST", Target: "/v1/responses"},
	{Method: "POST", Target: "/v1/messages", Fields: capture.Fields{{Name: "Anthropic-Version", Value: "2023-06-01"}}},
	{Method: "POST", Target: "/v1beta/models/g:streamGenerateContent"},
	{Method: "POST", Target: "/mcp", Fields: capture.Fields{{Name: "Mcp-Session-Id", Value: "s"}}},
}

// FuzzPattern reads two events, and compares the result with that of a reader that parses both.
func FuzzPattern(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"choices":[{"delta":{"content":" a"},"finish_reason":null}]}`, `{"choices":[{"delta":{"content":" b c"},"finish_reason":null}]}`},
		{`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"a","content":"b"}}]}`},
		{`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"a\"","x":"b"}}]}`},
		{
			`{"choices":[{"delta":{"content":"a","tool_calls":[{"index":0,"function":{"name":"t","arguments":"1"}}]}}]}`,
			`{"choices":[{"delta":{"content":"b","tool_calls":[{"index":0,"function":{"name":"t","arguments":"1"}}]}}]}`,
		},
		{
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ü\xff"}}`,
		},
		{`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.output_text.delta","delta":""}`},
		{`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`, `{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}`},
		{
			`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"a"}]}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"b"}]}}`,
		},
		{`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`},
	} {
		for i := range patternRequests {
			f.Add(i, []byte("data: "+seed[0]+"\n\n"), []byte("data: "+seed[1]+"\n\n"))
		}
	}
	f.Fuzz(func(t *testing.T, kind int, first, second []byte) {
		request := patternRequests[uint(kind)%uint(len(patternRequests))]
		var readers [2]*Reader
		for i := range readers {
			readers[i] = Recognize(request, 100)
			readers[i].Event(&capture.Event{K: 2, Raw: first}, nil, 1)
			if i == 1 {
				readers[i].pattern.known = false
			}
			readers[i].Event(&capture.Event{K: 3, Raw: second}, nil, 2)
		}
		expect.Same(t, "call", readers[1].Finished(), readers[0].Finished())
		expect.Equal(t, "text", string(readers[1].Text()), string(readers[0].Text()))
	})
}

// Of a stream, only the events that are not like the one before are parsed.
func TestPatternSpares(t *testing.T) {
	r := Recognize(patternRequests[0], 1000)
	before := jsondoc.Texts()
	for k := range 100 {
		r.Event(&capture.Event{K: k + 1, Raw: fmt.Appendf(nil, "data: {\"choices\":[{\"delta\":{\"content\":\" %d\"}}]}\n\n", k)}, nil, 1)
	}
	if parsed := jsondoc.Texts() - before; parsed != 2 {
		t.Errorf("%d events of 100 were parsed, want 2", parsed)
	}
	expect.Contains(t, "text", " 98 99", string(r.Text()))
}
