package jsonl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

type annotator struct{}

func (annotator) Annotate(x *capture.Exchange) jsonl.Annotation {
	return jsonl.Annotation{
		Dialect: "1.0", Binding: "jsonrpc", Operation: "SendMessage", Task: []string{"t1"}, Context: []string{"c1"},
		State: "completed", Marks: []string{"red"}, Comment: "see here",
	}
}

// marshal returns an exchange as JSON, and that as plain values.
func marshal(t *testing.T, x *capture.Exchange, a jsonl.Annotator) (string, map[string]any) {
	t.Helper()
	var text bytes.Buffer
	w := jsonl.NewWriter(&text, a)
	must.Do(t, errors.Join(w.Write(x), w.Close()))
	line, found := strings.CutSuffix(text.String(), "\n")
	var values map[string]any
	if err := json.Unmarshal([]byte(line), &values); err != nil || !found || strings.Contains(line, "\n") {
		t.Fatalf("%v in %s", err, text.String())
	}
	return line, values
}

func TestWrite(t *testing.T) {
	_, v := marshal(t, capturetest.Exchanges()[0], annotator{})
	delete(v, "_a2atap")
	want := map[string]any{
		"n": 1.0, "id": v["id"], "conn": 1.0, "http": "1.1", "link": "planner->booker",
		"client":  map[string]any{"name": "planner", "addr": "127.0.0.1:53124", "how": "user-agent"},
		"agent":   map[string]any{"name": "booker", "addr": "127.0.0.1:9000", "url": "http://127.0.0.1:9000/rpc"},
		"started": "2026-03-01T10:00:00.123456789Z", "durationMs": 31.000017,
		"dialect": "1.0", "binding": "jsonrpc", "operation": "SendMessage",
		"task": []any{"t1"}, "context": []any{"c1"}, "state": "completed",
		"request": map[string]any{
			"line": "POST /rpc?tenant=a%20b HTTP/1.1",
			"headers": []any{
				[]any{"Host", "127.0.0.1:7001"},
				[]any{"User-Agent", "planner/1.2"},
				[]any{"content-type", "application/json"},
				[]any{"X-Twice", "1"},
				[]any{"x-twice", "2"},
				[]any{"Content-Length", "55"},
			},
			"body": "{\"jsonrpc\": \"2.0\", \"id\": 1,\r\n \"method\": \"message/send\"}", "size": 55.0, "dropped": 0.0,
		},
		"response": map[string]any{
			"line": "HTTP/1.1 200 OK", "status": 200.0,
			"headers": []any{[]any{"Content-Type", "application/json"}, []any{"Content-Length", "24"}},
			"body":    `{"name":"æther 日本"}`, "size": 24.0, "dropped": 0.0,
		},
		"fault": nil, "flags": []any{"rewritten", "replayed"},
		"rewrites": []any{
			map[string]any{
				"place": "response.body#/url", "was": "http://127.0.0.1:9000/",
				"now": "http://127.0.0.1:7001/",
			},
			map[string]any{"place": "request.header[Host]", "was": "127.0.0.1:7001", "now": "127.0.0.1:9000"},
		},
		"marks": []any{"red"}, "comment": "see here",
	}
	expect.Same(t, "", want, v)
}

// Not known is null, not kept is null, empty is empty.
func TestWriteAbsence(t *testing.T) {
	xs := capturetest.Exchanges()
	_, v := marshal(t, xs[8], nil)
	if v["durationMs"] != nil || v["dialect"] != "" || len(v["task"].([]any)) != 0 {
		t.Errorf("got %v", v)
	}
	response := v["response"].(map[string]any)
	expect.Same(t, "event", map[string]any{"k": 1.0, "offsetMs": nil, "data": "1"}, response["events"].([]any)[0])
	if body, has := response["body"]; has || response["size"] != nil {
		t.Errorf("a stream has body %v, size %v", body, response["size"])
	}
	_, v = marshal(t, xs[7], nil)
	if body, has := v["response"].(map[string]any)["body"]; !has || body != nil {
		t.Errorf("a body that was not kept is %v", body)
	}
	if body := v["request"].(map[string]any)["body"]; body != "" {
		t.Errorf("an empty body is %v", body)
	}
	_, v = marshal(t, xs[5], nil)
	if response := v["response"].(map[string]any); response["body"] != "AAEC/w==" ||
		response["bodyEncoding"] != "base64" {
		t.Errorf("a body that is no text is %v", response)
	}
	if _, v = marshal(t, xs[4], nil); v["response"] != nil {
		t.Errorf("no response is %v", v["response"])
	}
	for i, want := range map[int][]any{2: {"open"}, 3: {"interrupted"}, 6: {"cut"}} {
		if _, v = marshal(t, xs[i], nil); !slices.Equal(v["flags"].([]any), want) {
			t.Errorf("exchange %d has flags %v, want %v", i+1, v["flags"], want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`{"n":1}`, "exchange 1: request: it is missing"},
		{`{"started":"x","request":{}}`, `exchange 1: started: "x" is not a time`},
		{`{"request":{"body":7}}`, "exchange 1: request.body: it is neither a string nor null"},
		{`{"request":{"body":"?","bodyEncoding":"base64"}}`, "exchange 1: request.body: read base64"},
		{
			`{"request":{},"response":{"events":[{"raw":"?","rawEncoding":"base64"}]}}`,
			"exchange 1: response.events[0].raw: read",
		},
		{`{"id":"x","request":{}}`, "exchange 1: id: "},
		{`{"request":`, "exchange 1: "},
	} {
		s := must.Get(open.File(capturetest.WriteFile(t, "c.jsonl", []byte("\n"+tt.line+"\n"))))(t)
		var last error
		for _, err := range s.Exchanges(t.Context(), 0) {
			last = err
		}
		expect.ErrorHas(t, tt.line, tt.want, last)
		s.Close()
	}
}
