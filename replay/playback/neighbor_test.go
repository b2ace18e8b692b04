package playback_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/playback"
)

const (
	modelURL = "https://api.openai.com/v1"
	toolURL  = "http://127.0.0.1:9003/mcp"
	chatPath = "/v1/chat/completions"
)

// A recordedCall is one exchange of a test's recording.
type recordedCall struct {
	to     string // URL of the agent; modelURL if empty
	path   string // chatPath if empty
	method string // POST if empty
	fields string // of the request, each with its line end
	ask    string
	status int    // 200 if 0
	head   string // further fields of the answer
	answer string // events if the media type is text/event-stream
}

// asked returns a recording of calls. They are hidden with a key, unless it is nil.
func recordCalls(t testing.TB, key []byte, calls ...recordedCall) *capture.Memory {
	t.Helper()
	memory := capture.NewMemory(capture.Info{})
	var sink capture.Sink = memory
	if key != nil {
		sink = redact.New(memory, redact.Options{Key: key})
	}
	for i, c := range calls {
		must.Do(t, sink.Append(capture.Steps(c.exchange(i+1))...))
	}
	return memory
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (c *recordedCall) exchange(seq int) *capture.Exchange {
	status := c.status
	if status == 0 {
		status = http.StatusOK
	}
	fields := c.fields
	if c.ask != "" && !strings.Contains(fields, "Content-Type") {
		fields += "Content-Type: application/json\r\n"
	}
	head := c.head
	if !strings.Contains(head, "Content-Type") {
		head += "Content-Type: application/json\r\n"
	}
	to := or(c.to, modelURL)
	body := func(text string) capture.Body {
		return capture.Body{Data: []byte(text), Size: int64(len(text)), Complete: true, At: time.Millisecond}
	}
	x := &capture.Exchange{
		Seq: uint64(seq), Started: time.Date(2026, 1, 1, 0, 0, seq, 0, time.UTC), State: capture.StateClosed, Ended: time.Second,
		Agent: capture.Peer{Name: to, URL: to},
		Request: capture.Request{
			Head: []byte(or(c.method, "POST") + " " + or(c.path, chatPath) + " HTTP/1.1\r\nHost: api.example\r\n" + fields + "\r\n"),
			Body: body(c.ask),
		},
		Response: &capture.Response{
			At: 2 * time.Millisecond, Head: fmt.Appendf(nil, "HTTP/1.1 %d X\r\n%s\r\n", status, head), Body: body(c.answer),
		},
	}
	if strings.Contains(head, "text/event-stream") {
		x.Response.Stream, x.Response.Body.Data = true, nil
		var s capture.Splitter
		x.Response.Events = s.Write([]byte(c.answer))
	}
	return x
}

// playedAnswer is what a client gets.
type playedAnswer struct {
	status int
	header http.Header
	body   string
}

// A caller calls what is played, at any upstream.
type caller struct {
	t      testing.TB
	player *playback.Player
	url    string
}

func playCalls(t testing.TB, src capture.Source, o playback.Options) *caller {
	t.Helper()
	o.Upstream = func(r *http.Request) string { return or(r.Header.Get("Test-Upstream"), modelURL) }
	p, url := perform(t, src, o)
	return &caller{t, p, url}
}

func (c *caller) do(r recordedCall) playedAnswer {
	c.t.Helper()
	req := must.Get(http.NewRequestWithContext(c.t.Context(), or(r.method, "POST"), c.url+or(r.path, chatPath), strings.NewReader(r.ask)))(c.t)
	req.Header.Set("Accept-Encoding", "identity")
	if r.ask != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.to != "" {
		req.Header.Set("Test-Upstream", r.to)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(r.fields), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			req.Header.Set(name, value)
		}
	}
	res := must.Get(http.DefaultClient.Do(req))(c.t)
	defer res.Body.Close()
	return playedAnswer{res.StatusCode, res.Header, string(must.Get(io.ReadAll(res.Body))(c.t))}
}

// ask sends a chat and returns the answer's body, or its status if that is not 200.
func (c *caller) ask(text string) string {
	c.t.Helper()
	return c.call(recordedCall{ask: chatOf(text)})
}

func (c *caller) call(r recordedCall) string {
	c.t.Helper()
	a := c.do(r)
	if a.status != http.StatusOK {
		return fmt.Sprint(a.status)
	}
	return a.body
}

func chatOf(text string) string {
	return fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":%q}]}`, text)
}

func says(ask, answer string) recordedCall { return recordedCall{ask: chatOf(ask), answer: answer} }

func rpc(method string, id any, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, must0(json.Marshal(id)), method, params)
}

func must0(b []byte, _ error) []byte { return b }

var key = bytes.Repeat([]byte("k"), 32)

// hide returns a function that hides the secrets of an exchange with the key.
func hide(ctx context.Context) func(x *capture.Exchange) (*capture.Exchange, error) {
	return func(x *capture.Exchange) (*capture.Exchange, error) {
		memory, one := capture.NewMemory(capture.Info{}), x.Copy()
		one.Seq = 1
		if err := redact.New(memory, redact.Options{Key: key}).Append(capture.Steps(one)...); err != nil {
			return nil, err
		}
		return memory.Exchange(ctx, 1)
	}
}

// Each row of what went wrong elsewhere, with the answer that is right. A row fails if the mistake is made.
func TestTheRightAnswerOrNone(t *testing.T) {
	t.Parallel()
	hide := hide(t.Context())
	result := func(id, text string) string {
		return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text)
	}
	turn := func(results ...string) string {
		return `{"model":"m","messages":[` + strings.Join(append([]string{`{"role":"user","content":"x"}`}, results...), ",") + `]}`
	}
	generated := func(id, clock, port, folder string) string {
		return fmt.Sprintf(`{"model":"m","messages":[{"role":"system","content":"be brief, session %[1]s of %[2]s"},{"role":"user","content":"see /tmp/%[4]s/out at http://127.0.0.1:%[3]s/x"}],`+
			`"tools":[{"type":"function","function":{"name":"w","description":"of session %[1]s, on localhost:%[3]s"}}]}`, id, clock, port, folder)
	}
	auth := func(token string) string { return "Authorization: Bearer " + token + "\r\n" }
	with := func(member string) recordedCall {
		return recordedCall{ask: strings.Replace(chatOf("a"), `"model":"m"`, `"model":"m",`+member, 1), answer: "1"}
	}
	upload := func(boundary, content string) recordedCall {
		return recordedCall{
			path: "/v1/files", fields: "Content-Type: multipart/form-data; boundary=" + boundary + "\r\n", answer: "1",
			ask: "--" + boundary + "\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n" + content + "\r\n--" + boundary + "--\r\n",
		}
	}
	dated := func(model string) recordedCall {
		return recordedCall{ask: strings.Replace(chatOf("a"), `"model":"m"`, `"model":"`+model+`"`, 1), answer: model}
	}
	// Ids of tool calls look like secrets.
	const asksTool = `{"role":"assistant","tool_calls":[{"id":"call_Ab3dEf6hIj9kLm2nOp5qRs8t","type":"function","function":{"name":"w","arguments":"{}"}}]}`
	const toolID = "call_Ab3dEf6hIj9kLm2nOp5qRs8t"
	tests := []struct {
		name     string
		recorded []recordedCall
		asked    []recordedCall
		want     []string
		options  playback.Options
	}{
		{
			"the same last message in another conversation",
			[]recordedCall{says("a", "1"), {ask: turn(result("c", "r")), answer: "2"}},
			[]recordedCall{{ask: turn(result("c", "r"))}, says("a", "")},
			[]string{"2", "1"},
			playback.Options{},
		},
		{
			"another system text",
			[]recordedCall{says("a", "1")},
			[]recordedCall{{ask: strings.Replace(chatOf("a"), "brief", "long", 1)}},
			[]string{"422"},
			playback.Options{},
		},
		{"another temperature", []recordedCall{with(`"temperature":0`)}, []recordedCall{with(`"temperature":1`), with(`"temperature":0.0`)}, []string{"422", "1"}, playback.Options{}},
		{"other tools", []recordedCall{with(`"tools":[{"type":"function","function":{"name":"a"}}]`)}, []recordedCall{with(`"tools":[]`), says("a", "")}, []string{"422", "422"}, playback.Options{}},
		{"another response format", []recordedCall{with(`"response_format":{"type":"json_object"}`)}, []recordedCall{says("a", "")}, []string{"422"}, playback.Options{}},
		{"a stream instead of one answer", []recordedCall{says("a", "1")}, []recordedCall{with(`"stream":true`)}, []string{"422"}, playback.Options{}},
		{"another model", []recordedCall{dated("m-2024-05-13"), dated("m-2024-08-06")}, []recordedCall{dated("m-2024-11-20"), dated("m-2024-08-06"), dated("m-2024-08-06"), dated("n")}, []string{"422", "m-2024-08-06", "422", "422"}, playback.Options{}},
		{"calls of tools", []recordedCall{{ask: turn(asksTool), answer: "1"}}, []recordedCall{{ask: turn(strings.Replace(asksTool, `"{}"`, `"{\"a\":1}"`, 1))}}, []string{"422"}, playback.Options{}},
		{"another body at the same URL", []recordedCall{says("a", "1")}, []recordedCall{says("b", "")}, []string{"422"}, playback.Options{}},
		{
			"independent calls in another order",
			[]recordedCall{says("a", "1"), says("b", "2")},
			[]recordedCall{says("b", ""), says("a", "")},
			[]string{"2", "1"},
			playback.Options{},
		},
		{
			"equal requests",
			[]recordedCall{says("a", "1"), says("a", "2"), says("a", "3")},
			[]recordedCall{says("a", ""), says("a", ""), says("a", ""), says("a", "")},
			[]string{"1", "2", "3", "422"},
			playback.Options{},
		},
		{
			"the next one in the queue",
			[]recordedCall{says("a", "1"), says("b", "2")},
			[]recordedCall{says("a", ""), says("c", "")},
			[]string{"1", "422"},
			playback.Options{},
		},
		{
			"results of tools in another order",
			[]recordedCall{{ask: turn(result("a", "1"), result("b", "2")), answer: "ok"}},
			[]recordedCall{{ask: turn(result("b", "2"), result("a", "1"))}},
			[]string{"ok"},
			playback.Options{},
		},
		{
			"results of tools that are exchanged",
			[]recordedCall{{ask: turn(result("a", "1"), result("b", "2")), answer: "ok"}},
			[]recordedCall{{ask: turn(result("a", "2"), result("b", "1"))}},
			[]string{"422"},
			playback.Options{},
		},
		{
			"a session and a date in the prompt",
			[]recordedCall{says("session 0b5cdd0a-9f0c-4b7e-9b43-1d0b6d1c9a55 on 2026-11-30", "1")},
			[]recordedCall{says("session 5f1d2a44-1111-4222-8333-444455556666 on 2025-01-02", "")},
			[]string{"1"},
			playback.Options{},
		},
		{
			"an equal date goes before another",
			[]recordedCall{says("on 2026-11-29", "1"), says("on 2026-11-30", "2")},
			[]recordedCall{says("on 2026-11-30", ""), says("on 2026-11-29", "")},
			[]string{"2", "1"},
			playback.Options{},
		},
		{
			"an equal date does not get the answer of another",
			[]recordedCall{says("on 2026-11-29", "1"), says("on 2026-11-30", "2")},
			[]recordedCall{says("on 2026-11-30", ""), says("on 2026-11-30", ""), says("on 2026-12-01", ""), says("on 2026-12-01", "")},
			[]string{"2", "422", "1", "422"},
			playback.Options{},
		},
		{
			"the last answer again",
			[]recordedCall{says("on 2026-11-29", "1"), says("on 2026-11-30", "2"), says("on 2026-11-30", "3"), says("on 2026-12-01", "4")},
			[]recordedCall{says("on 2026-12-01", ""), says("on 2026-11-30", ""), says("on 2026-11-30", ""), says("on 2026-11-30", "")},
			[]string{"4", "2", "3", "3"},
			playback.Options{UsedUp: playback.RepeatLast},
		},
		{
			"what a played answer brought", // and what a program mints itself, with --ignore
			[]recordedCall{{path: "/tool", ask: `{}`, answer: `k7x9q`}, says("ticket k7x9q for run-4711", "1")},
			[]recordedCall{{path: "/tool", ask: `{}`}, says("ticket k7x9q for run-4712", ""), says("ticket a1b2c for run-4711", "")},
			[]string{"k7x9q", "1", "422"},
			playback.Options{Ignore: []*regexp.Regexp{regexp.MustCompile(`run-\d+`)}},
		},
		{
			"what only the recording hides",
			[]recordedCall{says("ticket redacted.0123456789abcdef.01234567 it is", "1")},
			[]recordedCall{says("ticket X-100 it is", ""), says("ticket T-100 it is", "")},
			[]string{"422", "1"},
			playback.Options{Ignore: []*regexp.Regexp{regexp.MustCompile(`redacted\.[0-9a-f.]+|T-\d+`)}},
		},
		{
			"ids in the system text and in a tool's description",
			[]recordedCall{{ask: generated("0b5cdd0a-9f0c-4b7e-9b43-1d0b6d1c9a55", "15:36:24", "40123", "tmpab12cd_x"), answer: "1"}},
			[]recordedCall{
				{ask: strings.Replace(generated("5f1d2a44-1111-4222-8333-444455556666", "03:04:05", "50999", "tmpzz99yy_q"), "brief", "long", 1)},
				{ask: generated("5f1d2a44-1111-4222-8333-444455556666", "03:04:05", "50999", "tmpzz99yy_q")},
			},
			[]string{"422", "1"},
			playback.Options{},
		},
		{"boundaries of multipart", []recordedCall{upload("a1", "x")}, []recordedCall{upload("b2", "y"), upload("b2", "x")}, []string{"422", "1"}, playback.Options{}},
		{
			"ids of tool calls",
			[]recordedCall{{ask: turn(), answer: asksTool}, {ask: turn(asksTool, result(toolID, "1")), answer: "1"}},
			[]recordedCall{{ask: turn()}, {ask: turn(asksTool, result(toolID+"x", "1"))}, {ask: turn(asksTool, result(toolID, "1"))}},
			[]string{asksTool, "422", "1"},
			playback.Options{},
		},
		{"a URL in a path", []recordedCall{{path: "/get/http://a.example/x", ask: `{}`, answer: "a"}}, []recordedCall{{path: "/get/http://b.example/x", ask: `{}`}}, []string{"422"}, playback.Options{}},
		{
			"the same upstream",
			[]recordedCall{{to: "http://a.example", path: "/x", ask: `{}`, answer: "a"}, {to: "http://b.example", path: "/x", ask: `{}`, answer: "b"}},
			[]recordedCall{{to: "http://b.example", path: "/x", ask: `{}`}, {to: "http://a.example", path: "/x", ask: `{}`}, {to: "http://a.example", path: "/x", ask: `{}`}},
			[]string{"b", "a", "422"},
			playback.Options{},
		},
		{"an unknown upstream with one candidate", []recordedCall{says("a", "1")}, []recordedCall{{to: "http://127.0.0.1:1/v1", ask: chatOf("a")}}, []string{"1"}, playback.Options{}},
		{
			"an unknown upstream with two",
			[]recordedCall{{to: "http://a.example", path: "/x", ask: `{}`, answer: "a"}, {to: "http://b.example", path: "/x", ask: `{}`, answer: "b"}},
			[]recordedCall{{to: "http://c.example", path: "/x", ask: `{}`}},
			[]string{"422"},
			playback.Options{},
		},
		{
			"embeddings and other JSON",
			[]recordedCall{{path: "/v1/rerank", ask: `{"query":"q","n":1}`, answer: "r"}, {path: "/v1/embeddings", ask: `{"model":"e","input":"x"}`, answer: "e"}},
			[]recordedCall{{path: "/v1/embeddings", ask: `{"input":"x","model":"e"}`}, {path: "/v1/rerank", ask: `{"n":1.0,"query":"q"}`}},
			[]string{"e", "r"},
			playback.Options{},
		},
		{
			"a secret in the request",
			[]recordedCall{{path: "/x", ask: `{"api_key":"sk-0123456789abcdefghijklmnop","q":1}`, answer: "1"}},
			[]recordedCall{{path: "/x", ask: `{"api_key":"sk-0123456789abcdefghijklmnop","q":1}`}},
			[]string{"1"},
			playback.Options{},
		},
		{
			"no credentials in CI",
			[]recordedCall{{fields: auth("good-0123456789abcdef"), ask: chatOf("a"), answer: "1"}},
			[]recordedCall{says("a", "")},
			[]string{"1"},
			playback.Options{},
		},
		{"a refusal and its credentials", []recordedCall{
			{fields: auth("bad-0123456789abcdef"), ask: chatOf("a"), status: 401, answer: "no"},
			{fields: auth("good-0123456789abcdef"), ask: chatOf("a"), answer: "1"},
		}, []recordedCall{
			{fields: auth("bad-0123456789abcdef"), ask: chatOf("a")},
			{fields: auth("bad-0123456789abcdef"), ask: chatOf("a")},
			{fields: auth("other-0123456789abcdef"), ask: chatOf("a")},
		}, []string{"401", "422", "1"}, playback.Options{}},
		{
			"a refusal for other credentials",
			[]recordedCall{{fields: auth("bad-0123456789abcdef"), ask: chatOf("a"), status: 403, answer: "no"}},
			[]recordedCall{says("a", "")},
			[]string{"422"},
			playback.Options{},
		},
		{
			"a credential that is refused later",
			[]recordedCall{
				{fields: auth("good-0123456789abcdef"), ask: chatOf("a"), answer: "1"},
				{fields: auth("good-0123456789abcdef"), ask: chatOf("a"), status: 401, answer: "no"},
				{fields: auth("next-0123456789abcdef"), ask: chatOf("a"), answer: "2"},
			},
			[]recordedCall{
				{fields: auth("good-0123456789abcdef"), ask: chatOf("a")},
				{fields: auth("good-0123456789abcdef"), ask: chatOf("a")},
				{fields: auth("next-0123456789abcdef"), ask: chatOf("a")},
			},
			[]string{"1", "401", "2"},
			playback.Options{},
		},
		{
			"no credential, which was refused",
			[]recordedCall{
				{ask: chatOf("a"), status: 401, answer: "no"},
				{fields: auth("good-0123456789abcdef"), ask: chatOf("a"), answer: "1"},
			},
			[]recordedCall{{fields: auth("other-0123456789abcdef"), ask: chatOf("a")}, says("a", ""), says("a", "")},
			[]string{"1", "401", "422"},
			playback.Options{},
		},
		{
			"another method",
			[]recordedCall{{method: "GET", path: "/v1/models", answer: "list"}},
			[]recordedCall{{method: "DELETE", path: "/v1/models"}, {method: "GET", path: "/v1/models"}},
			[]string{"422", "list"},
			playback.Options{},
		},
		{
			"a rate limit",
			[]recordedCall{{ask: chatOf("a"), status: 429, head: "Retry-After: 7\r\n", answer: "slow"}, says("a", "1")},
			[]recordedCall{says("a", ""), says("a", "")},
			[]string{"429", "1"},
			playback.Options{},
		},
	}
	for _, test := range tests {
		for _, hidden := range []string{"no", "yes", "live requests"} {
			o := test.options
			var by []byte
			switch hidden {
			case "yes":
				o.Hide, by = hide, key
			case "live requests": // another program has made the recording
				o.Hide, o.Exposed = hide, true
			}
			c := playCalls(t, recordCalls(t, by, test.recorded...), o)
			var got []string
			for _, r := range test.asked {
				got = append(got, c.call(r))
			}
			want := strings.Join(test.want, " ")
			if hidden == "yes" && strings.HasPrefix(test.recorded[0].fields, "Content-Type: multipart") {
				want = "422 422" // the recording lacks the body
			}
			expect.Equal(t, fmt.Sprintf("%s, hidden: %s", test.name, hidden), want, strings.Join(got, " "))
		}
	}
}

// Each of many requests at once gets its own answer.
func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	var recorded []recordedCall
	for i := range 50 {
		recorded = append(recorded, says(fmt.Sprint("question ", i), fmt.Sprint("answer ", i)))
	}
	c := playCalls(t, recordCalls(t, nil, recorded...), playback.Options{})
	var all sync.WaitGroup
	got := make([]string, len(recorded))
	for i := range recorded {
		all.Go(func() { got[i] = c.ask(fmt.Sprint("question ", i)) })
	}
	all.Wait()
	for i := range got {
		expect.Equal(t, "answer", fmt.Sprint("answer ", i), got[i])
	}
	r := c.player.Report()
	expect.Equal(t, "report", "50 answered (50 exactly, 0 by meaning, 0 repeated), 0 missed, 0 never asked for, 0 live", r.Whole(0))
}

// A miss is answered so that an SDK does not repeat the request, with its place; the verdict counts it.
func TestMissesSayWhatDiffers(t *testing.T) {
	t.Parallel()
	c := playCalls(t, recordCalls(t, nil, says("first\nrain", "1"), says("something else entirely", "2")), playback.Options{})
	a := c.do(says("first\nsnow", ""))
	expect.Equal(t, "status", 422, a.status)
	expect.Equal(t, "x-should-retry", "false", a.header.Get("X-Should-Retry"))
	const why = `chat m: no recorded request matches; the nearest is exchange 1; messages[1].content, line 2: recorded "rain", now "snow"`
	var body struct{ Error struct{ Message string } }
	must.Do(t, json.Unmarshal([]byte(a.body), &body))
	expect.Equal(t, "message", "a2atap playback: "+why, body.Error.Message)
	r := c.player.Report()
	expect.Equal(t, "miss", why, r.Misses[0].String())
	expect.Equal(t, "report", "0 answered (0 exactly, 0 by meaning, 0 repeated), 1 missed, 2 never asked for, 0 live", r.Whole(0))
	expect.Equal(t, "unused", "[not requested: exchange 1 chat m not requested: exchange 2 chat m]", fmt.Sprint(r.NotRequested()))
	a = c.do(recordedCall{path: "/elsewhere", ask: `{}`})
	if !strings.Contains(a.body, "the recording has no POST /elsewhere; it has POST /v1/chat/completions") {
		t.Error(a.body)
	}
}

// Streams come event by event, without a length, and other answers with the recorded bytes and fields.
func TestAnswersAreAsRecorded(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`))
	z.Close()
	const events = "event: a\ndata: {\"n\":1}\n\n: comment\n\ndata: [DONE]\n\n"
	c := playCalls(t, recordCalls(t, nil,
		recordedCall{ask: chatOf("stream"), head: "Content-Type: text/event-stream\r\nX-Request-Id: r1\r\nContent-Length: 99\r\n", answer: events},
		recordedCall{ask: chatOf("limits"), head: "Content-Type: application/json\r\nX-RateLimit-Remaining: 7\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: 2\r\n", answer: "{}"},
		recordedCall{to: toolURL, path: "/mcp", ask: rpc("tools/call", 1, `{"name":"w"}`), head: "Content-Encoding: gzip\r\n", answer: packed.String()},
		recordedCall{to: toolURL, path: "/image", ask: `{"a":1}`, head: "Content-Type: image/png\r\n", answer: "\x89PNG\xff\x00"},
	), playback.Options{})
	a := c.do(says("stream", ""))
	expect.Equal(t, "events", events, a.body)
	expect.Equal(t, "length", "", a.header.Get("Content-Length"))
	expect.Equal(t, "id", "r1", a.header.Get("X-Request-Id"))
	a = c.do(says("limits", ""))
	expect.Equal(t, "limit", "7", a.header.Get("X-RateLimit-Remaining"))
	expect.Equal(t, "date", "Thu, 01 Jan 2026 00:00:00 GMT", a.header.Get("Date"))
	expect.Equal(t, "length", "2", a.header.Get("Content-Length"))
	a = c.do(recordedCall{to: toolURL, path: "/mcp", fields: "Accept-Encoding: gzip\r\n", ask: rpc("tools/call", "mine", `{"name":"w"}`)})
	expect.Equal(t, "coding", "gzip", a.header.Get("Content-Encoding"))
	text := must.Get(io.ReadAll(must.Get(gzip.NewReader(strings.NewReader(a.body)))(t)))(t)
	expect.Equal(t, "body", `{"jsonrpc":"2.0","id":"mine","result":{"ok":true}}`, string(text))
	expect.Equal(t, "bytes", "\x89PNG\xff\x00", c.call(recordedCall{to: toolURL, path: "/image", ask: `{"a":1}`}))
}

// Ids of requests, progress tokens and sessions are the live client's.
func TestSessionsOfMCP(t *testing.T) {
	t.Parallel()
	const session = "Mcp-Session-Id: redacted.0123456789abcdef.01234567\r\n"
	stream := "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":2,\"progress\":1}}\n\n" +
		"event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n"
	c := playCalls(t, recordCalls(t, nil,
		recordedCall{to: toolURL, path: "/mcp", ask: rpc("initialize", 1, `{"protocolVersion":"1"}`), head: session, answer: `{"jsonrpc":"2.0","id":1,"result":{}}`},
		recordedCall{to: toolURL, path: "/mcp", fields: session, ask: rpc("tools/call", 2, `{"name":"w","_meta":{"progressToken":2}}`), head: "Content-Type: text/event-stream\r\n", answer: stream},
	), playback.Options{})
	a := c.do(recordedCall{to: toolURL, path: "/mcp", ask: rpc("initialize", "i", `{"protocolVersion":"1"}`)})
	id := a.header.Get("Mcp-Session-Id")
	if len(id) != 36 {
		t.Errorf("session %q", id)
	}
	expect.Equal(t, "answer", `{"jsonrpc":"2.0","id":"i","result":{}}`, a.body)
	a = c.do(recordedCall{to: toolURL, path: "/mcp", fields: "Mcp-Session-Id: " + id + "\r\n", ask: rpc("tools/call", "c", `{"name":"w","_meta":{"progressToken":"p"}}`)})
	expect.Equal(t, "events", strings.NewReplacer(`"progressToken":2`, `"progressToken":"p"`, `"id":2`, `"id":"c"`).Replace(stream), a.body)

	// What asks nothing and is not recorded is no miss.
	a = c.do(recordedCall{to: toolURL, path: "/mcp", method: "GET", fields: "Mcp-Session-Id: " + id + "\r\nAccept: text/event-stream\r\n"})
	expect.Equal(t, "listen", 405, a.status)
	r := c.player.Report()
	expect.Equal(t, "report", "2 answered (2 exactly, 0 by meaning, 0 repeated), 0 missed, 0 never asked for, 0 live", r.Whole(0))
	a = c.do(recordedCall{to: toolURL, path: "/mcp", ask: rpc("tools/call", 9, `{"name":"other"}`)})
	if !strings.Contains(a.body, `"id":9`) || !strings.Contains(a.body, `params.name: recorded \"w\", now \"other\"`) {
		t.Error(a.body)
	}
}

// What the recording lacks is named.
func TestCallsWithoutBodies(t *testing.T) {
	t.Parallel()
	src := capture.NewMemory(capture.Info{})
	x := (&recordedCall{path: "/v1/x", ask: "{}"}).exchange(1)
	x.Request.Body.Data, x.Request.Body.Dropped = nil, 2
	must.Do(t, src.Append(capture.Steps(x)...))
	c := playCalls(t, src, playback.Options{})
	if a := c.do(recordedCall{path: "/v1/x", ask: "{}"}); !strings.Contains(a.body, "exchange 1 cannot be played, since the recording lacks its body") {
		t.Error(a.body)
	}
	expect.Equal(t, "lacking", 1, c.player.Report().Lacking)
}

// A model and a tool are played at an address, too, next to agents: what they do not know is refused as before.
func TestModelsAtAnAddress(t *testing.T) {
	t.Parallel()
	src := recordCalls(t, nil, says("a", "1"), recordedCall{to: toolURL, path: "/mcp", ask: rpc("tools/list", 1, `{}`), answer: `{"jsonrpc":"2.0","id":1,"result":{}}`})
	agents, others, err := playback.Agents(t.Context(), src)
	must.Do(t, err)
	expect.Equal(t, "agents", "[] [https://api.openai.com/v1 http://127.0.0.1:9003/mcp]", fmt.Sprint(agents, others))
	_, url := perform(t, src, playback.Options{Agent: modelURL, UsedUp: playback.RepeatLast})
	ask := func(path, body string) string {
		res := must.Get(http.Post(url+path, "application/json", strings.NewReader(body)))(t)
		defer res.Body.Close()
		return fmt.Sprint(res.StatusCode, " ", string(must.Get(io.ReadAll(res.Body))(t)))
	}
	expect.Equal(t, "a recorded prompt", "200 1", ask(chatPath, chatOf("a")))
	expect.Equal(t, "the same again", "200 1", ask(chatPath, chatOf("a")))
	if got := ask(chatPath, chatOf("b")); !strings.HasPrefix(got, `422 {"error":{"code":"no_recorded_answer"`) {
		t.Error(got)
	}
	if got := ask("/mcp", rpc("tools/list", 1, `{}`)); !strings.HasPrefix(got, `422 {"error":{"code":-32001`) { // it is played elsewhere
		t.Error(got)
	}
	if got := ask("/other", "{}"); !strings.HasPrefix(got, "422 ") {
		t.Error(got)
	}
}

// A stream that was quiet when its client left has not ended: it stays open until the live client leaves.
func TestQuietStreamsStayOpen(t *testing.T) {
	t.Parallel()
	listen := recordedCall{to: toolURL, path: "/mcp", method: "GET", fields: "Accept: text/event-stream\r\n", head: "Content-Type: text/event-stream\r\n", answer: "data: {}\n\n"}
	x := listen.exchange(1)
	x.Response.Body.Complete = false
	x.Fault = &capture.TransportFault{Kind: "client-left", Side: "client"}
	src := capture.NewMemory(capture.Info{})
	must.Do(t, src.Append(capture.Steps(x)...))
	c := playCalls(t, src, playback.Options{})
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+"/mcp", nil))(t)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Test-Upstream", toolURL)
	res := must.Get(http.DefaultClient.Do(req))(t)
	buf := make([]byte, 100)
	n := must.Get(io.ReadAtLeast(res.Body, buf, len("data: {}\n\n")))(t)
	expect.Equal(t, "event", "data: {}\n\n", string(buf[:n]))
	ended := make(chan error, 1)
	go func() {
		_, err := res.Body.Read(buf)
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Errorf("the stream has ended: %v", err)
	case <-time.After(50 * time.Millisecond): // a stream that ends would do so at once
	}
	res.Body.Close()
	<-ended
}
