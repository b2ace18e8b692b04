package canonical_test

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/replay/canonical"
)

// post returns a request with a JSON body.
func post(path, body string, fields ...string) *canonical.Request {
	q := &canonical.Request{Method: "POST", Target: path, Body: []byte(body)}
	for i := 0; i+1 < len(fields); i += 2 {
		q.Fields = append(q.Fields, capture.Field{Name: fields[i], Value: fields[i+1]})
	}
	if q.Fields.Get("Content-Type") == "" {
		q.Fields = append(q.Fields, capture.Field{Name: "Content-Type", Value: "application/json"})
	}
	return q
}

const chat = "/v1/chat/completions"

func multipart(boundary, content string) *canonical.Request {
	return post("/v1/files", fmt.Sprintf("--%[1]s\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n"+
		"--%[1]s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\nContent-Type: text/plain\r\n\r\n%[2]s\r\n"+
		"--%[1]s--\r\n", boundary, content), "Content-Type", "multipart/form-data; boundary="+boundary)
}

// Each pair of requests is equal, has the same meaning, or is different.
func TestForms(t *testing.T) {
	t.Parallel()
	const exact, meaning, different = "exact", "meaning", "different"
	text := func(s string) *canonical.Request {
		return post(chat, fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, s))
	}
	results := func(first, second string) *canonical.Request {
		return post(chat, `{"model":"m","messages":[{"role":"user","content":"x"},`+first+`,`+second+`]}`)
	}
	const a, b = `{"role":"tool","tool_call_id":"call_a","content":"1"}`, `{"role":"tool","tool_call_id":"call_b","content":"2"}`
	field := func(name, content string) *canonical.Request {
		return post("/v1/audio", "--b\r\nContent-Disposition: form-data; name=\""+name+"\"\r\n\r\n"+content+"\r\n--b--\r\n",
			"Content-Type", "multipart/form-data; boundary=b")
	}
	rpc := func(body string) *canonical.Request { return post("/mcp", body) }
	tests := []struct {
		name string
		want string
		a, b *canonical.Request
	}{
		{
			"members in another order", exact, post(chat, `{"model":"m","messages":[{"role":"user","content":"x"}]}`),
			post(chat, `{"messages": [{"content": "x", "role": "user"}], "model": "m"}`),
		},
		{"numbers by value", exact, post("/v1/x", `{"t":1.0,"n":100}`), post("/v1/x", `{"t":1,"n":1e2}`)},
		{"numbers", different, post("/v1/x", `{"t":1.0}`), post("/v1/x", `{"t":1.5}`)},
		{"large numbers", different, post("/v1/x", `{"t":12345678901234567890}`), post("/v1/x", `{"t":12345678901234567891}`)},
		{"a number is no text", different, post("/v1/x", `{"t":1}`), post("/v1/x", `{"t":"1"}`)},
		{"an absent member is not null", different, post("/v1/x", `{"t":1}`), post("/v1/x", `{"t":1,"u":null}`)},
		{
			"the system text", different, post(chat, `{"model":"m","messages":[{"role":"system","content":"a"},{"role":"user","content":"x"}]}`),
			post(chat, `{"model":"m","messages":[{"role":"system","content":"b"},{"role":"user","content":"x"}]}`),
		},
		{"the model", different, post(chat, `{"model":"m","messages":[]}`), post(chat, `{"model":"n","messages":[]}`)},
		{"stream", different, post(chat, `{"model":"m","messages":[],"stream":true}`), post(chat, `{"model":"m","messages":[]}`)},
		{"tools", different, post(chat, `{"model":"m","messages":[],"tools":[{"name":"a"}]}`), post(chat, `{"model":"m","messages":[],"tools":[{"name":"b"}]}`)},
		{"the order of messages", different, text("a"), text("b")},
		{"the path", different, post("/v1/a", `{}`), post("/v1/b", `{}`)},
		{"the query", different, post("/v1/a?page=1", `{}`), post("/v1/a?page=2", `{}`)},
		{"credentials", exact, post("/v1/a?key=k1&alt=sse", `{}`, "Authorization", "Bearer a"), post("/v1/a?alt=sse&key=k2", `{}`)},
		{"header fields", exact, post("/v1/a", `{}`, "X-Stainless-Retry-Count", "0"), post("/v1/a", `{}`)},
		{"results of tools", meaning, results(a, b), results(b, a)},
		{"results of other tools", different, results(a, b), results(b, strings.Replace(a, `"1"`, `"3"`, 1))},
		{"results that are exchanged", different, results(a, b), results(strings.Replace(a, `"1"`, `"2"`, 1), strings.Replace(b, `"2"`, `"1"`, 1))},
		{
			"other messages have an order", different, results(`{"role":"user","content":"1"}`, `{"role":"user","content":"2"}`),
			results(`{"role":"user","content":"2"}`, `{"role":"user","content":"1"}`),
		},
		{
			"results of Anthropic", meaning,
			post("/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"b","content":"2"}]}]}`, "anthropic-version", "1"),
			post("/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"2"},{"type":"tool_result","tool_use_id":"a","content":"1"}]}]}`, "anthropic-version", "1"),
		},
		{
			"results of Gemini", meaning,
			post("/v1beta/models/g:generateContent", `{"contents":[{"parts":[{"functionResponse":{"name":"f","response":{"a":1}}},{"functionResponse":{"name":"f","response":{"a":2}}}]}]}`),
			post("/v1beta/models/g:generateContent", `{"contents":[{"parts":[{"functionResponse":{"name":"f","response":{"a":2}}},{"functionResponse":{"name":"f","response":{"a":1}}}]}]}`),
		},
		{
			"results of responses", meaning,
			post("/v1/responses", `{"model":"m","input":[{"type":"function_call_output","call_id":"a","output":"1"},{"type":"function_call_output","call_id":"b","output":"2"}]}`),
			post("/v1/responses", `{"model":"m","input":[{"type":"function_call_output","call_id":"b","output":"2"},{"type":"function_call_output","call_id":"a","output":"1"}]}`),
		},
		{
			"ids of JSON-RPC", exact, rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"w","_meta":{"progressToken":1}}}`),
			rpc(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"w","_meta":{"progressToken":"y"}}}`),
		},
		{
			"the id of a request that is canceled", exact, rpc(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"r"}}`),
			rpc(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"r"}}`),
		},
		{"the server's id in a response", different, rpc(`{"jsonrpc":"2.0","id":1,"result":{}}`), rpc(`{"jsonrpc":"2.0","id":2,"result":{}}`)},
		{
			"arguments of a tool", different, rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"w","arguments":{"a":1}}}`),
			rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"w","arguments":{"a":2}}}`),
		},
		{"the boundary of multipart", exact, multipart("aaa", "x"), multipart("bbb", "x")},
		{"a part of multipart", different, multipart("aaa", "x"), multipart("aaa", "y")},
		{"any text", different, post("/x", "a", "Content-Type", "text/plain"), post("/x", "b", "Content-Type", "text/plain")},
		{"bytes", different, post("/x", "\xff\x00", "Content-Type", "image/png"), post("/x", "\xff\x01", "Content-Type", "image/png")},
		{
			"a form", exact, post("/x", "a=1&b=2", "Content-Type", "application/x-www-form-urlencoded"),
			post("/x", "b=2&a=1", "Content-Type", "application/x-www-form-urlencoded"),
		},

		{"a UUID", meaning, text("session 0b5cdd0a-9f0c-4b7e-9b43-1d0b6d1c9a55."), text("session 5f1d2a44-1111-4222-8333-444455556666.")},
		{"a UUID without hyphens", meaning, text("run 0b5cdd0a9f0c4b7e9b431d0b6d1c9a55"), text("run 5f1d2a44111142228333444455556666")},
		{"the date of a model", different, post(chat, `{"model":"gpt-4o-2024-05-13"}`), post(chat, `{"model":"gpt-4o-2024-08-06"}`)},
		{"the date of a model of several", different, post(chat, `{"models":["a","gpt-4o-2024-05-13"]}`), post(chat, `{"models":["a","gpt-4o-2024-08-06"]}`)},
		{"the date of a model in a form", different, field("model", "gpt-4o-2024-05-13"), field("model", "gpt-4o-2024-08-06")},
		{"a date in a form", meaning, field("prompt", "of 2024-05-13"), field("prompt", "of 2024-08-06")},
		{"the version of MCP", different, rpc(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`), rpc(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`)},
		{"the version of Azure", different, post("/x?api-version=2024-10-21", `{}`), post("/x?api-version=2025-01-01", `{}`)},
		{"the version of Bedrock", different, post("/x", `{"anthropic_version":"bedrock-2023-05-31"}`), post("/x", `{"anthropic_version":"bedrock-2024-05-31"}`)},
		{"a date that is no version", meaning, post("/x", `{"conversion":"of 2024-10-21","on":"2024-10-21"}`), post("/x", `{"conversion":"of 2025-10-21","on":"2025-10-21"}`)},
		{"what a version has inside", meaning, post("/x", `{"version":{"made":"2024-10-21"}}`), post("/x", `{"version":{"made":"2025-10-21"}}`)},
		{"a model in a path", different, post("/v1/models/gpt-4o-2024-05-13", `{}`), post("/v1/models/gpt-4o-2024-08-06", `{}`)},
		{"a deployment in a path", different, post("/openai/deployments/gpt-4o-2024-05-13/chat/completions", `{}`), post("/openai/deployments/gpt-4o-2024-08-06/chat/completions", `{}`)},
		{"a version in a path", different, post("/2015-03-31/functions/f", `{}`), post("/2016-03-31/functions/f", `{}`)},
		{"a date in a path", meaning, post("/weather/2015-03-31", `{}`), post("/weather/2016-03-31", `{}`)},
		{"a URL in a path", different, post("/fetch/https://a.example/x", `{}`), post("/fetch/https://b.example/x", `{}`)},
		{"the path of an absolute target", exact, post("http://h/x?a=1", `{}`), post("/x?a=1", `{}`)},
		{"an absolute target without a path", exact, post("http://h", `{}`), post("/", `{}`)},
		{"another digest", different, text("sha 0b5cdd0a9f0c1b7e9b431d0b6d1c9a55"), text("sha 5f1d2a44111112228333444455556666")},
		{"a date", meaning, text("Today is 2026-11-30."), text("Today is 2025-01-02.")},
		{"a timestamp", meaning, text("at 2026-11-30T15:36:24.123456+00:00 it"), text("at 2025-01-02T03:04:05Z it")},
		{"a time", meaning, text("[15:36:24,123] started"), text("[03:04:05,001] started")},
		{"a date in words", meaning, text("Today is Monday, November 30, 2026, 15:36."), text("Today is Friday, January 2, 2025, 03:04.")},
		{"a date in short words", meaning, text("Mon, 30 Nov 2026 15:36:24 GMT"), text("Fri, 02 Jan 2025 03:04:05 GMT")},
		{"a date of C", meaning, text("Mon Nov 30 15:36:24 2026"), text("Fri Jan 2 03:04:05 2025")},
		{"words that are no dates", different, text("May I? 1 2 3"), text("March on 1 2 3")},
		{"a version", different, text("version 1.2.30"), text("version 1.2.31")},
		{"an order number", different, text("order 1764516670"), text("order 1764516671")},
		{"a time of day", different, text("the meeting is at 15:30"), text("the meeting is at 16:30")},
		{"a temporary folder of Python", meaning, text("wrote /tmp/tmpab12cd_x/out.txt"), text("wrote /var/folders/xy/z0/T/tmpzz99yy_q/out.txt")},
		{"a temporary folder of Go", meaning, text("in /tmp/a2atap-run-1234567890/x"), text("in /tmp/a2atap-run-9876543210/x")},
		{"a temporary folder of Node.js", meaning, text("in /tmp/mcp-a1B2c3"), text("in /tmp/mcp-Zz9yXw")},
		{"files in the folder", different, text("read /tmp/report.txt"), text("read /tmp/other.txt")},
		{"a temporary folder of a Go build", meaning, text("in /tmp/go-build3912847561/b001"), text("in /tmp/go-build1029384756/b001")},
		{"a temporary folder of Windows", meaning, text(`in C:\Users\Ann Lee\AppData\Local\Temp\tmpab12cd_x\a`), text(`in D:\Users\bo\AppData\Local\Temp\tmpzz99yy_q\a`)},
		{"a folder below a temporary one of Windows", different, text(`in C:\Users\a\AppData\Local\Temp\one`), text(`in C:\Users\a\AppData\Local\Temp\two`)},
		{"a text before a temporary folder of Windows", different, text(`T: buy it, see a\AppData\Local\Temp\x`), text(`T: sell it, see a\AppData\Local\Temp\x`)},
		{"a folder of another user", different, text(`in C:\Users\a\Desktop, or b\AppData\Local\Temp\x`), text(`in C:\Users\c\Desktop, or b\AppData\Local\Temp\x`)},
		{"a folder of macOS that is not temporary", different, text("in /var/folders/a b/T/x"), text("in /var/folders/c d/T/x")},
		{"words in mixed case", different, text("in /tmp/getWeather"), text("in /tmp/getForecast")},
		{"words with an acronym", different, text("in /tmp/my-getURL"), text("in /tmp/my-putURL")},
		{"a word with a digit", different, text("in /tmp/s3bucket"), text("in /tmp/s3folder")},
		{"a numbered word", different, text("in /tmp/report2"), text("in /tmp/report3")},
		{"a date after a line break of JSON in the text", meaning, text(`{"a":"x\n2026-11-30"}`), text(`{"a":"x\n2025-01-02"}`)},
		{"a date in a word", different, text(`n2026-11-30`), text(`n2025-01-02`)},
		{"a port of this machine", meaning, text("see http://127.0.0.1:40123/x"), text("see http://127.0.0.1:50999/x")},
		{"a port elsewhere", different, text("see http://10.0.0.1:40123/x"), text("see http://10.0.0.1:50999/x")},
		{"a secret", meaning, text("key redacted.0123456789abcdef.01234567 ok"), text("key redacted.fedcba9876543210.89abcdef ok")},
		{"what is ignored", meaning, text("took 12 ms"), text("took 345 ms")},
	}
	rules := &canonical.Rules{Ignore: []*regexp.Regexp{regexp.MustCompile(`took \d+ ms`)}}
	for _, test := range tests {
		x, y := rules.Form(test.a), rules.Form(test.b)
		got := different
		switch {
		case x.Exact == y.Exact:
			got = exact
		case x.Meaning == y.Meaning:
			got = meaning
		}
		expect.Equal(t, test.name, test.want, got)
		if x.Exact == y.Exact && x.Meaning != y.Meaning {
			t.Errorf("%s: equal, and of another meaning", test.name)
		}
		if diffs := rules.Differences(test.a, test.b, 3); (len(diffs) == 0) != (got != different) {
			t.Errorf("%s: %s, with the differences %v", test.name, got, diffs)
		}
	}
}

func TestDifferencesHavePlaces(t *testing.T) {
	t.Parallel()
	lines := func(n int, at string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("line %d", i+1)
		}
		list[39] = at
		return strings.Join(list, "\n")
	}
	message := func(texts ...string) *canonical.Request {
		var list []string
		for _, text := range texts {
			list = append(list, fmt.Sprintf(`{"role":"user","content":%q}`, text))
		}
		return post(chat, `{"model":"m","messages":[`+strings.Join(list, ",")+`]}`)
	}
	var rules *canonical.Rules
	for _, test := range []struct {
		name     string
		was, now *canonical.Request
		want     string
	}{
		{
			"a line", message("a", "b", "c", lines(100, "rain")), message("a", "b", "c", lines(100, "snow")),
			`[messages[3].content, line 40: recorded "rain", now "snow"]`,
		},
		{"a short text", message("rain"), message("snow"), `[messages[0].content: recorded "rain", now "snow"]`},
		{
			"a message more", message("a", "c"), message("a", "b", "c"),
			`[messages[1]: not recorded, now {"role":"user","content":"b"}]`,
		},
		{
			"a message less", message("a", "b", "c"), message("a", "c"),
			`[messages[1]: recorded {"role":"user","content":"b"}, now absent]`,
		},
		{"a line more", message("a\nb"), message("a\nb\nc"), `[messages[0].content, line 3: not recorded, now "c"]`},
		{
			"next to a value of one run", message("run 0b5cdd0a-9f0c-4b7e-9b43-1d0b6d1c9a55: rain"), message("run 5f1d2a44-1111-4222-8333-444455556666: snow"),
			`[messages[0].content: recorded "run <uuid>: rain", now "run <uuid>: snow"]`,
		},
		{"a member", post("/x", `{"a":1}`), post("/x", `{"a":1,"b":true}`), `[b: not recorded, now true]`},
		{"an empty line more", message("a\nb"), message("a\nb\n"), `[messages[0].content, line 3: not recorded, now an empty line]`},
		{"an empty line less", message("a\nb\n\nc"), message("a\nb\nc"), `[messages[0].content, line 3: recorded "", now "c"]`},
		{"a text that is empty", message("a"), message(""), `[messages[0].content: recorded "a", now ""]`},
		{"a value on two lines", message("a\n<1\n2>"), message("a\n1\n2>"), `[messages[0].content, line 2: recorded "<1", now "1"]`},
		{"the date of a model", post("/x", `{"model":"m-2024-05-13"}`), post("/x", `{"model":"m-2024-08-06"}`), `[model: recorded "m-2024-05-13", now "m-2024-08-06"]`},
		{"a type", post("/x", `{"a":1}`), post("/x", `{"a":"1"}`), `[a: recorded 1, now "1"]`},
		{"a parameter", post("/x?p=1", ""), post("/x?p=2", ""), `[query.p[0]: recorded "1", now "2"]`},
		{
			"a long text", message(strings.Repeat("x", 200) + "rain" + strings.Repeat("y", 200)),
			message(strings.Repeat("x", 200) + "snow" + strings.Repeat("y", 200)),
			`[messages[0].content: recorded "…xxxxxxxxxxxxxxxxxxxxrainyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…", ` +
				`now "…xxxxxxxxxxxxxxxxxxxxsnowyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…"]`,
		},
	} {
		expect.Equal(t, test.name, test.want, fmt.Sprint(rules.Differences(test.was, test.now, 3)))
	}
}

// A body with secrets counts, except for the boundaries of its parts, and is not shown.
func TestSecretBodies(t *testing.T) {
	t.Parallel()
	secret := func(q *canonical.Request) *canonical.Request {
		q.Secret = true
		return q
	}
	var rules *canonical.Rules
	a, b, c := secret(multipart("aaa", "x")), secret(multipart("bbb", "x")), secret(multipart("aaa", "y"))
	if rules.Form(a).Exact != rules.Form(b).Exact {
		t.Error("the boundary counts")
	}
	if rules.Form(a).Meaning == rules.Form(c).Meaning {
		t.Error("the contents do not count")
	}
	if got := fmt.Sprint(rules.Differences(a, c, 3)); !strings.HasPrefix(got, "[sha256: recorded ") {
		t.Error(got)
	}
}

// A value that goes beyond its line differs only as a part of the whole text.
func TestDifferencesOfValuesOnSeveralLines(t *testing.T) {
	t.Parallel()
	rules := &canonical.Rules{Ignore: []*regexp.Regexp{regexp.MustCompile(`<\d\n\d>`)}}
	was, now := post("/x", `{"a":"<1\n2>"}`), post("/x", `{"a":"<1\n2>\n"}`)
	expect.Equal(t, "a line more", `[a, line 3: not recorded, now an empty line]`, fmt.Sprint(rules.Differences(was, now, 3)))
	rules = &canonical.Rules{Ignore: []*regexp.Regexp{regexp.MustCompile(`^\d+$`)}}
	was, now = post("/x", `{"a":"1\n2"}`), post("/x", `{"a":"1\n3"}`)
	expect.Equal(t, "as a whole", `[a: recorded "1\n2", now "1\n3"]`, fmt.Sprint(rules.Differences(was, now, 3)))
}

// Results of tools that contain results take no longer than others: two in each, sixty deep, would take forever.
func TestNestedResultsTakeNoTime(t *testing.T) {
	t.Parallel()
	nested := func(end string) *canonical.Request {
		text := end
		for range 60 {
			text = `{"type":"tool_result","tool_use_id":"b","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},` + text + `]}`
		}
		return post("/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[`+text+`]}]}`, "anthropic-version", "1")
	}
	rules := &canonical.Rules{}
	a, b := nested(`{"type":"tool_result","tool_use_id":"b","content":"2"}`), nested(`{"type":"tool_result","tool_use_id":"b","content":"3"}`)
	if rules.Form(a).Meaning == rules.Form(b).Meaning {
		t.Error("they have the same meaning")
	}
	expect.Equal(t, "differences", 1, len(rules.Differences(a, b, 3)))
	expect.Equal(t, "distance", 2, rules.Distance(a, b))
}

// The contents of a deep request take space for its values, not for their paths.
func TestDeepRequestsTakeLittleSpace(t *testing.T) {
	deep := func(end string) *canonical.Request {
		const levels = 5000
		return post("/x", strings.Repeat(`{"a name of some length":[`, levels)+end+strings.Repeat(`]}`, levels))
	}
	q := deep("1")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	canonical.NewSample(q)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("a request of %d bytes took %d bytes", len(q.Body), n)
	}
	var rules *canonical.Rules
	expect.Equal(t, "differences", 1, len(rules.Differences(q, deep("2"), 3)))
}

// Sixteen changed characters in 200 KB are near, and a short text that has nothing in common is not.
func TestDistanceIsOfWhatDiffers(t *testing.T) {
	t.Parallel()
	long := func(middle string) *canonical.Request {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, "line %d of a long document with some words in each of its lines, %d\n", i, i*i)
			if i == 1000 {
				b.WriteString(middle + "\n")
			}
		}
		return post(chat, fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, b.String()))
	}
	var rules *canonical.Rules
	live := long("sixteen letters!")
	near, far := long("other characters"), post(chat, `{"model":"m","messages":[{"role":"user","content":"hello"}]}`)
	if n := rules.Distance(near, live); n != 2 {
		t.Errorf("one line differs, and the distance is %d", n)
	}
	sample, nearSample, farSample := canonical.NewSample(live), canonical.NewSample(near), canonical.NewSample(far)
	if a, b := sample.Near(&nearSample), sample.Near(&farSample); a >= b {
		t.Errorf("the near one is %d away, the far one %d", a, b)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	var rules *canonical.Rules
	for _, test := range []struct {
		q    *canonical.Request
		want string
	}{
		{
			post(chat, `{"model":"m","messages":[{"role":"user","content":"x"}]}`),
			`{"error":{"code":"no_recorded_answer","message":"M","param":null,"type":"invalid_request_error"}}`,
		},
		{
			post("/v1/messages", `{"model":"m","max_tokens":1,"messages":[]}`, "anthropic-version", "1"),
			`{"error":{"message":"M","type":"invalid_request_error"},"type":"error"}`,
		},
		{
			post("/v1beta/models/g:generateContent", `{"contents":[]}`),
			`{"error":{"code":422,"message":"M","status":"INVALID_ARGUMENT"}}`,
		},
		{post("/api/chat", `{"model":"m","messages":[]}`), `{"error":"M"}`},
		{
			post("/mcp", `{"jsonrpc":"2.0","id":"7","method":"tools/list"}`),
			`{"error":{"code":-32001,"message":"M"},"id":"7","jsonrpc":"2.0"}`,
		},
		{post("/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`), ``},
		{post("/rest", `{"a":1}`), `{"error":{"code":"no_recorded_answer","message":"M","param":null,"type":"invalid_request_error"}}`},
	} {
		got := canonical.Refusal(rules.Form(test.q).Call, test.q.Body, "M")
		expect.Equal(t, string(test.q.Body), test.want, string(got))
	}
}

func TestIDsAreRewritten(t *testing.T) {
	t.Parallel()
	ids := canonical.NewIDs(
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":1}}}`),
		[]byte(`{"jsonrpc":"2.0","id":"seven","method":"tools/call","params":{"_meta":{"progressToken":"p"}}}`))
	for was, want := range map[string]string{
		`{"jsonrpc":"2.0","id": 1 ,"result":{"id":1}}`:                                                  `{"jsonrpc":"2.0","id": "seven" ,"result":{"id":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`: `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`:                                                `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`,
		`{"jsonrpc":"2.0","id":2,"result":{}}`:                                                          `{"jsonrpc":"2.0","id":2,"result":{}}`,
		`no JSON`:                                                                                       `no JSON`,
	} {
		expect.Equal(t, was, want, string(ids.Rewrite([]byte(was))))
	}
}

// No bytes make the forms fail, and a request always equals itself.
func FuzzForm(f *testing.F) {
	f.Add("/mcp?key=1&a=%zz", "application/json", []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`))
	f.Add(chat, "application/json", []byte(`{"model":"m","messages":[{"role":"tool"},{"role":"tool","tool_call_id":"x"}],"n":1e999999999999}`))
	f.Add("/f", "multipart/form-data; boundary=a", []byte("--a\r\n\r\nx\r\n--a--"))
	f.Add("/f", "text/plain", []byte("Monday, November 30, 2026 at 15:36:24.5 PM +0100 /tmp/tmp12345678/ 127.0.0.1:80 redacted.0123456789abcdef [::1]:1234"))
	f.Add("/x", "application/x-www-form-urlencoded", []byte("a=%zz&b"))
	f.Fuzz(func(t *testing.T, target, media string, body []byte) {
		q := post(target, string(body), "Content-Type", media)
		rules := &canonical.Rules{}
		a, b := rules.Form(q), rules.Form(q)
		x, y := canonical.NewSample(q), canonical.NewSample(q)
		if a.Exact != b.Exact || a.Meaning != b.Meaning || x.Near(&y) != 0 || rules.Distance(q, q) != 0 {
			t.Error("it does not equal itself")
		}
		if d := rules.Differences(q, q, 3); len(d) > 0 {
			t.Errorf("it differs from itself: %v", d)
		}
		canonical.Refusal(a.Call, body, "no")
		canonical.NewIDs(body, body).Rewrite(body)
	})
}

// A form takes well under five milliseconds for a prompt of 100 KB.
func BenchmarkForm(b *testing.B) {
	text := strings.Repeat("The meeting of Monday, 2026-11-30 is at http://127.0.0.1:4000/ in the usual room.\n", 1250)
	q := post(chat, fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, text))
	rules := &canonical.Rules{}
	b.SetBytes(int64(len(q.Body)))
	for b.Loop() {
		rules.Form(q)
	}
}
