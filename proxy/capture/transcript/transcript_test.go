package transcript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// handWritten is what people write: no meta, no lengths, LF.
const handWritten = `The agent streams and stops.
-- 1.request --
POST /rpc HTTP/1.1
Host: booker.example:8080
Content-Length: 7

{"id": 1}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

: hello

data: {"a": 1}

data: {"a": 2}

-- 2.request --
GET / HTTP/1.1
Host: booker.example:8080
-- 2.response --
HTTP/1.1 204 No Content
-- 3.request --
GET / HTTP/1.1

-- want --
1.response: a finding [slug]
`

func parse(t *testing.T, text string) *transcript.Transcript {
	t.Helper()
	return must.Get(transcript.Parse("t.txtar", []byte(text)))(t)
}

func TestParseDefaults(t *testing.T) {
	tr := parse(t, handWritten)
	if tr.Comment != "The agent streams and stops.\n" || !tr.HasWant || tr.Want != "1.response: a finding [slug]\n" {
		t.Errorf("comment %q, want %v %q", tr.Comment, tr.HasWant, tr.Want)
	}
	if len(tr.Exchanges) != 3 {
		t.Fatalf("%d exchanges, want 3", len(tr.Exchanges))
	}
	const ms = time.Millisecond
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	event := func(k int, at time.Duration, raw string) capture.Event {
		return capture.Event{K: k, At: at, Raw: []byte(raw)}
	}
	want := &capture.Exchange{
		Seq: 1, ID: tr.Exchanges[0].ID, Started: start, Ended: 100 * ms, State: capture.StateClosed,
		Client: capture.Peer{Name: "client"},
		Agent:  capture.Peer{Name: "agent", URL: "http://booker.example:8080"},
		Request: capture.Request{
			Head: []byte("POST /rpc HTTP/1.1\r\nHost: booker.example:8080\r\nContent-Length: 7\r\n\r\n"),
			Body: capture.Body{Data: []byte("{\"id\": 1}\n"), Size: 10, Complete: true, At: ms},
		},
		Response: &capture.Response{
			At:     10 * ms,
			Head:   []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
			Stream: true,
			Events: []capture.Event{
				event(0, 20*ms, ": hello\n\n"), event(1, 30*ms, "data: {\"a\": 1}\n\n"),
				event(2, 40*ms, "data: {\"a\": 2}\n\n"),
			},
			Body: capture.Body{Size: 41, Complete: true, At: 50 * ms},
		},
	}
	if diff := capturetest.Compare(want, tr.Exchanges[0]); diff != "" {
		t.Errorf("exchange 1: got +, want -:\n%s", diff)
	}
	second := tr.Exchanges[1]
	if string(second.Request.Head) != "GET / HTTP/1.1\r\nHost: booker.example:8080\r\n\r\n" ||
		second.Response.Body.Size != 0 ||
		!second.Started.Equal(start.Add(time.Second)) || second.ID == want.ID {
		t.Errorf("exchange 2: got %+v", second)
	}
	if third := tr.Exchanges[2]; third.State != capture.StateOpen || third.Ended != capture.NotKnown ||
		third.Response != nil {
		t.Errorf("exchange 3, without an answer: got %+v, want it open", third)
	}
}

// saidByHand is what people add where the defaults do not do.
const saidByHand = `-- 1.request --
POST / HTTP/1.1

{}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

data: 1

data: 2

-- 1.meta --
# Said by hand.
agent: booker url https://booker.example/a2a
client: "the planner" addr 127.0.0.1:1 how told
conn: 3

request.body: no-newline crlf
request.end: 5ms
event[2]: 2s
fault: client-left client "went away"
rewrite: response.body#/url a "b c"
note: "said so"
replayed: yes
-- 2.response --
HTTP/1.1 200 OK

-- 2.meta --
started: +50ms
response.body: missing
response.size: 100
ended: unknown
state: interrupted
`

func TestParseMeta(t *testing.T) {
	tr := parse(t, saidByHand)
	x, y := tr.Exchanges[0], tr.Exchanges[1]
	expect.Equal(t, "agent", (capture.Peer{Name: "booker", URL: "https://booker.example/a2a"}), x.Agent)
	expect.Equal(t, "client", (capture.Peer{Name: "the planner", Addr: "127.0.0.1:1", How: "told"}), x.Client)
	if string(x.Request.Body.Data) != "{}" || x.Conn != 3 || !x.Replayed || x.State != capture.StateClosed {
		t.Errorf("got %+v", x)
	}
	if e := x.Response.Events; e[0].At != 24*time.Millisecond || e[1].At != 2*time.Second ||
		x.Ended != 2020*time.Millisecond {
		t.Errorf("events at %v and %v, ended at %v", e[0].At, e[1].At, x.Ended)
	}
	expect.Same(t, "", &capture.TransportFault{Kind: "client-left", Side: "client", Detail: "went away"}, x.Fault)
	expect.Same(t, "", []capture.Rewrite{{Place: "response.body#/url", Was: "a", Now: "b c"}},
		x.Rewrites)
	if y.Started.Sub(x.Started) != 50*time.Millisecond || y.Request.Head != nil || y.Request.Body.Complete {
		t.Errorf("exchange 2: got %+v", y)
	}
	if b := y.Response.Body; b.Data != nil || b.Size != 100 || y.State != capture.StateInterrupted {
		t.Errorf("exchange 2: got body %+v, %v", b, y.State)
	}
}

func TestParseErrors(t *testing.T) {
	const head = "-- 1.request --\nGET / HTTP/1.1\n-- 1.meta --\n"
	tests := []struct{ text, want string }{
		{"-- 1.reqest --\n", `t.txtar:1: section "1.reqest": unknown section; use N.request`},
		{"-- 0.request --\n", `t.txtar:1: section "0.request": unknown section`},
		{"x\n\n-- want --\n-- want --\n", `t.txtar:4: section "want": there is already such a section`},
		{"-- 1.request --\n-- 1.request --\n", `t.txtar:2: section "1.request": the section already exists, in line 1`},
		{"-- 1.meta --\n", `t.txtar:1: section "1.meta": there is no 1.request or 1.response`},
		{head + "\nended 5ms\n", `t.txtar:5: section "1.meta": "ended 5ms" has no colon`},
		{head + "# x\nend: 5ms\n", `t.txtar:5: section "1.meta": unknown key "end"; use request.head, `},
		{head + "event[1]: 5ms\n", `t.txtar:4: section "1.meta": unknown key "event[1]"`},
		{head + "ended: 5\n", `t.txtar:4: section "1.meta": ended: "5" is neither an offset`},
		{head + "ended: 5ms\nended: 6ms\n", `t.txtar:5: section "1.meta": ended: it occurs 2 times`},
		{head + "ended: 5ms 6ms\n", `section "1.meta": ended: 2 words`},
		{head + "client: a name\n", `section "1.meta": client: want a name, then`},
		{head + "client: a port 1\n", `client: unknown word "port"; use addr, url or how`},
		{head + "note: \"a\n", `note: an unclosed quote`},
		{head + "note: a b\n", `note: 2 words, want 1`},
		{head + "fault: reset\n", `fault: want a kind, a side and a detail`},
		{head + "state: shut\n", `state: unknown state "shut"; use open, closed or interrupted`},
		{head + "started: today\n", `started: "today" is neither`},
		{head + "request.body: gzip\n", `request.body: unknown flag "gzip"; use base64, crlf`},
		{head + "request.head: base64\n", `t.txtar:1: section "1.request": read base64`},
		{head + "request.body: no-newline\n", `t.txtar:1: section "1.request": there is no newline`},
		{head + "request.size: -1\n", `request.size: "-1" is neither a number`},
		{
			"-- 1.response --\n\ndata: 1\n-- 1.meta --\nresponse.stream: yes\nresponse.blocks: 1:7\n",
			"1 bytes of the stream",
		},
		{
			"-- 1.response --\n\ndata: 1\n-- 1.meta --\nresponse.stream: yes\nresponse.blocks: 1:9\n",
			"longer than the rest of the stream",
		},
		{"-- 1.response --\n\ndata: 1\n-- 1.meta --\nresponse.stream: yes\nresponse.blocks: 8\n", `"8" is not K:LENGTH`},
		{"-- gaps --\nlost: 1\n-- gaps --\n", `t.txtar:3: section "gaps": there is already such a section`},
		{"-- gaps --\n\nlost: unknown\n", `t.txtar:3: section "gaps": lost: "unknown" is not a number`},
		{"-- gaps --\ncrashes: -1\n", `section "gaps": crashes: "-1" is not a number`},
		{"-- gaps --\ncrash: 5ms\n", `section "gaps": crash: want a time or unknown, and how long`},
		{"-- gaps --\ncrash: now 5ms\n", `crash: "now" is neither a time`},
		{"-- gaps --\ncrash: unknown long\n", `crash: "long" is not a duration`},
		{"-- gaps --\ncrash: 9999-12-31T23:00:00-02:00 5ms\n", `is after the year 9999`},
		{"-- 1.request json --\n", `unknown head "json"; use card, card-0.2, card-1.0, rpc, rpc-1.0`},
		{"-- 1.meta json --\n", `t.txtar:1: section "1.meta json": unknown section`},
		{"-- gaps --\nmissing: 1\n", `section "gaps": unknown key "missing"; use lost, crashes, crash, insecure`},
	}
	for _, tt := range tests {
		_, err := transcript.Parse("t.txtar", []byte(tt.text))
		expect.ErrorHas(t, tt.text, tt.want, err)
	}
}

// roundTrip formats a transcript and reads it again.
func roundTrip(t *testing.T, tr *transcript.Transcript) string {
	t.Helper()
	text := transcript.Format(tr)
	again, err := transcript.Parse("again.txtar", text)
	if err != nil {
		t.Fatalf("%v, in:\n%s", err, text)
	}
	if diff := cmp.Diff(tr, again); diff != "" {
		t.Fatalf("read again: got +, want -:\n%s\nfrom:\n%s", diff, text)
	}
	return string(text)
}

func TestFormat(t *testing.T) {
	roundTrip(t, &transcript.Transcript{Comment: "x\n", Exchanges: capturetest.Exchanges(), Want: "a\n", HasWant: true})
	roundTrip(t, &transcript.Transcript{})
	roundTrip(t, &transcript.Transcript{HasWant: true})
	for i := range capturetest.Exchanges() {
		roundTrip(t, &transcript.Transcript{Exchanges: capturetest.Exchanges()[i : i+1]})
	}
	// What was seen from the middle, and what was not seen at all.
	roundTrip(t, &transcript.Transcript{Exchanges: []*capture.Exchange{
		capture.Assemble(nil, capture.Step{Seq: 7, What: capture.ResponseBody{Data: []byte("x")}}),
		capture.Assemble(nil, capture.Step{Seq: 8, What: capture.Fact{Note: "nothing was seen"}}),
	}})
}

// Format returns a handwritten transcript as it was written, except for spelling: it omits defaults.
func TestFormatSaysLittle(t *testing.T) {
	text := roundTrip(t, parse(t, handWritten))
	if strings.Contains(text, ".meta --") {
		t.Errorf("defaults are said:\n%s", text)
	}
	recorded := roundTrip(t, &transcript.Transcript{Exchanges: capturetest.Exchanges()[:1]})
	for _, want := range []string{"\n{\"jsonrpc\": \"2.0\", \"id\": 1,\n \"method\"", "æther 日本", "crlf no-newline"} {
		if !strings.Contains(recorded, want) {
			t.Errorf("no %q in:\n%s", want, recorded)
		}
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.txtar")
	expect.Error(t, "a file that is not there was read", expect.Err(transcript.ReadFile(path)))
	must.Do(t, os.WriteFile(path, []byte(strings.ReplaceAll(handWritten, "\n", "\r\n")), 0o600))
	tr := must.Get(transcript.ReadFile(path))(t)
	expect.Same(t, "a file with CRLF", parse(t, handWritten).Exchanges[0].Request.Head, tr.Exchanges[0].Request.Head)
	expect.Equal(t, "a file with CRLF", 3, len(tr.Exchanges[0].Response.Events))
}

// A named head reads the same as the head itself.
func TestNamedHeads(t *testing.T) {
	short := parse(t, "-- 1.request rpc-1.0 --\n{\"id\": 1}\n-- 1.response sse --\ndata: 1\n\n"+
		"-- 2.request card --\n-- 2.response empty --\n")
	long := parse(t, `-- 1.request --
POST /rpc HTTP/1.1
Host: booker.example:9001
Content-Type: application/json
A2A-Version: 1.0

{"id": 1}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

data: 1

-- 2.request --
GET /.well-known/agent-card.json HTTP/1.1
Host: booker.example:9001

-- 2.response --
HTTP/1.1 204 No Content

`)
	if diff := cmp.Diff(long, short); diff != "" {
		t.Errorf("-written +named:\n%s", diff)
	}
	roundTrip(t, short)
}

// Scenarios of one file are read one by one; each line of the file belongs to one of them, and errors name that line.
func TestScenarios(t *testing.T) {
	dir := t.TempDir()
	const text = "Broken.\n-- 1.request --\nGET / HTTP/1.1\n\n-- want --\n1.request: bad [slug]\n" +
		"-- scenario near --\nFine.\n-- 1.request card --\n-- want --\n-- scenario wrong --\n-- 1.request post --\n"
	must.Do(t, os.MkdirAll(filepath.Join(dir, "task"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, "task", "slug.txtar"), []byte(text), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "task", "z.txtar"), []byte("-- scenario a --\nA.\n-- want --\n"), 0o600))
	var whole, found strings.Builder
	for _, s := range must.Get(transcript.ReadDir(dir))(t) {
		whole.Write(s.Text)
		tr, err := s.Parse()
		fmt.Fprintln(&found, s.Name, s.Line, err == nil)
		if err != nil {
			expect.ErrorHas(t, s.Name, `slug.txtar:12: section "1.request post": unknown head "post"; use card, card-0.2`, err)
		} else {
			fmt.Fprintf(&found, "%s%s", tr.Comment, tr.Want)
		}
	}
	expect.Equal(t, "all lines", text+"-- scenario a --\nA.\n-- want --\n", whole.String())
	expect.Equal(t, "scenarios", "task/slug 1 true\nBroken.\n1.request: bad [slug]\ntask/slug-near 7 true\nFine.\n"+
		"task/slug-wrong 11 false\ntask/z-a 1 true\nA.\n", found.String())

	_, err := transcript.Parse("slug.txtar", []byte(text))
	expect.ErrorHas(t, "a capture of several", `slug.txtar:7: section "scenario near": another scenario begins here`, err)
	must.Do(t, os.WriteFile(filepath.Join(dir, "task", "slug-near.txtar"), nil, 0o600))
	_, err = transcript.ReadDir(dir)
	expect.ErrorHas(t, "one name twice", "slug.txtar:7: scenario task/slug-near is already in ", err)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(handWritten))
	f.Add([]byte(saidByHand))
	f.Add([]byte("-- scenario near --\nFine.\n-- 1.request card --\n-- 1.response json-404 --\n{}\n"))
	f.Add(transcript.Format(&transcript.Transcript{Exchanges: capturetest.Exchanges(), HasWant: true}))
	for _, x := range capturetest.Exchanges() {
		f.Add(transcript.Format(&transcript.Transcript{Exchanges: []*capture.Exchange{x}}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sections := len(txtar.Parse(data).Files)
		tr, err := transcript.Parse("t.txtar", data)
		if err != nil {
			if sections == 0 || !strings.HasPrefix(err.Error(), "t.txtar:") {
				t.Fatalf("%d sections, error %v", sections, err)
			}
			return
		}
		if len(tr.Exchanges) > sections {
			t.Fatalf("%d exchanges of %d sections", len(tr.Exchanges), sections)
		}
		text := roundTrip(t, tr)
		if again := roundTrip(t, parse(t, text)); again != text {
			t.Fatalf("formatted again:\n%s\nwant:\n%s", again, text)
		}
	})
}

// A URL in a target is not the agent's, unless the target is one.
func TestAgentsOfTargets(t *testing.T) {
	for target, want := range map[string]string{
		"/login?next=https://c.example": "http://a.example", "/get/http://b.example": "http://a.example",
		"http://b.example?next=1": "http://b.example",
	} {
		tr := parse(t, "-- 1.request --\nGET "+target+" HTTP/1.1\nHost: a.example\n\n")
		if got := tr.Exchanges[0].Agent.URL; got != want {
			t.Errorf("%s: agent %s, want %s", target, got, want)
		}
	}
}
