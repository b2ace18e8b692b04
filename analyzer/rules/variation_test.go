package rules_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/har"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/capture/transcript"
)

// A variation is another way to say the same, or to see less of it: a conversation in which nothing is wrong stays one.
type variation struct {
	name string
	vary func(*varied)
}

// What the protocol leaves to everybody, and what recordings lack, is no finding. Every transcript in which nothing is wrong,
// and those of the lenient readings, is varied in every way.
func TestVariationsAreSilent(t *testing.T) {
	for _, path := range transcripts(t) {
		if dir := filepath.Dir(path); dir != "clean" && dir != "silent" || len(loud(judgeFile(t, path))) > 0 {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		for _, v := range variations {
			if slices.Contains(telling[v.name], name) {
				continue
			}
			c := &varied{t: t, random: randomFor(v.name + path), exchanges: parse(t, filepath.Join("testdata", path)).Exchanges}
			v.vary(c)
			if got := loud(judge(t, c.exchanges)); len(got) > 0 {
				t.Errorf("%s, with %s:\n%s", path, v.name, strings.Join(got, "\n"))
			}
		}
	}
}

// telling names the transcripts whose silence hangs on what a variation takes away.
var telling = map[string][]string{
	"on another host too": {"card-rewritten"},                    // the signature covers the host
	"numbers as ids":      {"event-fields", "multi-line-events"}, // events of several fields and lines are left as they are
	"event names":         {"keep-alive-events"},                 // its events are none of A2A by their names
	"event names behind":  {"keep-alive-events"},
	"no times":            {"pieces-in-two-streams", "race-with-the-end"}, // exchanges that do not overlap prove an order
	"bodies not kept":     {"same-webhook"},                               // nobody knows then that two agents share the webhook
	// One client made a HAR, which says neither whose calls they were nor what it lacks.
	"as HAR of others": {"cut-and-open", "refused-before-the-state", "streams-in-part", "task-removed", "v03-refused-after-the-end"},
}

func judgeFile(t *testing.T, path string) []analyzer.Finding {
	return judge(t, parse(t, filepath.Join("testdata", path)).Exchanges)
}

// loud returns the findings that are more than notes.
func loud(findings []analyzer.Finding) []string {
	return lines(slices.DeleteFunc(findings, func(f analyzer.Finding) bool { return f.Severity < analyzer.Warning }))
}

// varied is a conversation on its way to become another.
type varied struct {
	t         *testing.T
	random    *rand.Rand
	exchanges []*capture.Exchange
}

var variations = []variation{
	{"members in another order", json(func(v *value) { v.shuffle() })},
	{"members backwards", json(func(v *value) { slices.Reverse(v.members) })},
	{"white space", rewriteText(func(_ *capture.Exchange, text string) string {
		if v, ok := parseValue(text); ok {
			return v.text(" \t")
		}
		return text
	})},
	{"escapes", json(func(v *value) { v.escape() })},
	{"unknown members", json(func(v *value) { v.extend() })},
	{"null members", json(func(v *value) { v.addNulls() })},
	{"empty metadata", json(func(v *value) { v.addMetadata() })},
	{"optional members left out", json(func(v *value) { v.leaveOut() })},
	{"more details of errors", json(func(v *value) { v.detail() })},
	{"numbers as ids", json(func(v *value) { v.renumber(false) })},
	{"strings as ids", json(func(v *value) { v.renumber(true) })},
	{"seconds", fractions("")},
	{"microseconds", fractions(".000000")},
	{"nanoseconds", fractions(".000000000")},

	{"lower case headers", heads(func(head string) string { return eachField(head, strings.ToLower) })},
	{"upper case headers", heads(func(head string) string { return eachField(head, strings.ToUpper) })},
	{"charset", heads(func(head string) string {
		return contentType.ReplaceAllString(head, "$1; charset=utf-8\r\n")
	})},
	{"more headers", heads(func(head string) string {
		return strings.TrimSuffix(head, "\r\n") + "X-Request-Id: 5\r\nDate: Thu, 05 Mar 2026 10:00:00 GMT\r\nVia: 1.1 gateway\r\n" +
			"Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nX-Empty:\r\n\r\n"
	})},
	{"http/2", heads(func(head string) string {
		return strings.Replace(eachField(head, strings.ToLower), "HTTP/1.1", "HTTP/2.0", 1)
	})},
	{"host in upper case", requestHeads(func(head string) string {
		return hostField.ReplaceAllStringFunc(head, func(s string) string { return "Host: " + strings.ToUpper(s[len("Host: "):]) })
	})},
	{"escaped paths", requestHeads(func(head string) string {
		return taskPath.ReplaceAllStringFunc(head, func(s string) string { return fmt.Sprintf("%s%%%02X", s[:len(s)-1], s[len(s)-1]) })
	})},
	{"application/json", responseHeads(func(head string) string {
		return strings.Replace(head, "application/a2a+json", "application/json", 1)
	})},
	{"gzip", (*varied).compress},

	{"comments between events", streams(func(s string) string { return ": hello\n\n" + strings.ReplaceAll(s, "\n\n", "\n\n:\n\n: ping\n\n") })},
	{"comments in events", streams(func(s string) string { return strings.ReplaceAll(s, "data:", ": still here\ndata:") })},
	{"carriage returns", streams(func(s string) string { return strings.ReplaceAll(s, "\n", "\r") })},
	{"carriage returns and line feeds", streams(func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") })},
	{"event names", streams(func(s string) string {
		return strings.ReplaceAll(s, "data:", "event: message\nid: 7\nretry: 3000\ndata:")
	})},
	{"event names behind", streams(func(s string) string { return strings.ReplaceAll(s, "\n\n", "\nid: 7\nevent: message\nx: y\n\n") })},
	{"only an id", streams(func(s string) string { return "id: 1\n\n" + s + "retry: 10\n\n" })},
	{"no space after data", streams(func(s string) string { return strings.ReplaceAll(s, "data: ", "data:") })},
	{"events in lines", streams(func(s string) string { return strings.ReplaceAll(s, `,"`, ",\ndata: \"") })},
	{"byte order mark", streams(func(s string) string { return "\ufeff" + s })},

	{"others in between", (*varied).mix},
	{"gateway errors before", (*varied).failFirst},
	{"redirected first", (*varied).redirectFirst},
	{"reads repeated", (*varied).repeatReads},
	{"on another host too", (*varied).twice},
	{"begins in the middle", func(c *varied) { c.exchanges = c.exchanges[c.random.IntN(len(c.exchanges)):] }},
	{"first dropped", func(c *varied) { c.exchanges = c.exchanges[1:] }},
	{"ends early", func(c *varied) { c.exchanges = c.exchanges[:c.random.IntN(len(c.exchanges))] }},
	{"without cards", func(c *varied) {
		c.exchanges = slices.DeleteFunc(c.exchanges, func(x *capture.Exchange) bool {
			return bytes.Contains(x.Request.Head, []byte("/.well-known/"))
		})
	}},
	{"some dropped", func(c *varied) {
		c.exchanges = slices.DeleteFunc(c.exchanges, func(*capture.Exchange) bool { return c.random.IntN(3) == 0 })
	}},
	{"some unanswered", (*varied).unanswer},
	{"client leaves streams", (*varied).leave},
	{"recorder ends in streams", (*varied).stop},
	{"bodies not kept", (*varied).unkept},
	{"bodies cut", (*varied).cut},
	{"no times", (*varied).timeless},

	{"as HAR", func(c *varied) { c.through("x.har", c.har()) }},
	{"as HAR of others", func(c *varied) { c.through("x.har", ours.ReplaceAllString(c.har(), `"_other":`)) }},
	{"as JSON Lines", func(c *varied) { c.through("x.jsonl", c.jsonl()) }},
	{"as a transcript", func(c *varied) {
		c.through("x.txtar", string(transcript.Format(&transcript.Transcript{Exchanges: c.exchanges})))
	}},
	{"redacted", (*varied).redact},
}

var (
	contentType = regexp.MustCompile(`(?i)(Content-Type: [^;\r\n]*)\r\n`)
	hostField   = regexp.MustCompile(`Host: [^\r]*`)
	taskPath    = regexp.MustCompile(`^\S+ \S*/tasks/[a-z]`)
	timestamp   = regexp.MustCompile(`("\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z"`)
	fieldName   = regexp.MustCompile(`(?m)^[A-Za-z0-9-]+:`)
	ours        = regexp.MustCompile(`"_(?:a2atap|eventStream)":`)
)

// json returns a variation of all JSON there is, in bodies and events.
func json(change func(*value)) func(*varied) {
	return rewriteText(func(x *capture.Exchange, text string) string {
		v, ok := parseValue(text)
		if !ok {
			return text
		}
		// What is equal stays equal: two fetches of one card are varied alike.
		h := fnv.New64a()
		h.Write([]byte(v.text(""))) //nolint:errcheck // a hash takes everything
		v.random = rand.New(rand.NewPCG(h.Sum64(), 1))
		v.card = bytes.Contains(x.Request.Head, []byte("ard"))
		v.open(v)
		change(v)
		return v.text("")
	})
}

func fractions(digits string) func(*varied) {
	return rewriteText(func(_ *capture.Exchange, text string) string {
		return timestamp.ReplaceAllString(text, "${1}"+digits+`Z"`)
	})
}

// rewriteText returns a variation of bodies and of the data of events.
func rewriteText(change func(x *capture.Exchange, text string) string) func(*varied) {
	return func(c *varied) {
		for _, x := range c.exchanges {
			setBody(&x.Request.Body, &x.Request.Head, func(s string) string { return change(x, s) })
			if x.Response == nil {
				continue
			}
			setBody(&x.Response.Body, &x.Response.Head, func(s string) string { return change(x, s) })
			for i := range x.Response.Events {
				e := &x.Response.Events[i]
				fields := e.Fields()
				if e.K == 0 || e.Dropped > 0 || e.Unterminated || len(fields.Data) == 0 || len(fields.Type) > 0 {
					continue
				}
				if data := change(x, string(fields.Data)); data != string(fields.Data) && !strings.Contains(data, "\n") {
					e.Raw = []byte("data: " + data + "\n\n")
				}
			}
		}
	}
}

// streams returns a variation of event streams that arrived whole.
func streams(change func(string) string) func(*varied) {
	return func(c *varied) {
		for _, x := range c.exchanges {
			if x.Response == nil || !x.Response.Stream || len(x.Response.Events) == 0 {
				continue
			}
			var raw []byte
			whole, events := true, 0
			for _, e := range x.Response.Events {
				raw = append(raw, e.Raw...)
				whole = whole && e.Dropped == 0 && !e.Unterminated && (e.K == 0 || e.K == events+1)
				events = max(events, e.K)
			}
			if !whole || bytes.HasPrefix(raw, []byte("\ufeff")) || bytes.ContainsAny(raw, "\r") {
				continue
			}
			at := x.Response.Events[len(x.Response.Events)-1].At
			var s capture.Splitter
			blocks := s.Write([]byte(change(string(raw))))
			blocks = append(blocks, s.Flush()...)
			for i := range blocks {
				blocks[i].At = at
			}
			x.Response.Events = blocks
		}
	}
}

func setBody(b *capture.Body, head *[]byte, change func(string) string) {
	if !b.Kept() || !b.Complete || len(b.Data) == 0 || bytes.Contains(bytes.ToLower(*head), []byte("content-encoding")) {
		return
	}
	old := len(b.Data)
	b.Data = []byte(change(string(b.Data)))
	if b.Size != capture.NotKnown {
		b.Size = int64(len(b.Data))
	}
	*head = bytes.ReplaceAll(*head, fmt.Appendf(nil, "Content-Length: %d\r", old), fmt.Appendf(nil, "Content-Length: %d\r", len(b.Data)))
}

func heads(change func(string) string) func(*varied) {
	return func(c *varied) { requestHeads(change)(c); responseHeads(change)(c) }
}

func requestHeads(change func(string) string) func(*varied) {
	return func(c *varied) {
		for _, x := range c.exchanges {
			if len(x.Request.Head) > 0 {
				x.Request.Head = []byte(change(string(x.Request.Head)))
			}
		}
	}
}

func responseHeads(change func(string) string) func(*varied) {
	return func(c *varied) {
		for _, x := range c.exchanges {
			if x.Response != nil && len(x.Response.Head) > 0 {
				x.Response.Head = []byte(change(string(x.Response.Head)))
			}
		}
	}
}

// eachField changes the names of a head's fields.
func eachField(head string, change func(string) string) string {
	line, rest, _ := strings.Cut(head, "\r\n")
	return line + "\r\n" + fieldName.ReplaceAllStringFunc(rest, change)
}

func (c *varied) compress() {
	for _, x := range c.exchanges {
		r := x.Response
		if r == nil || r.Stream || !r.Body.Complete || !r.Body.Kept() || len(r.Body.Data) == 0 || capture.ParseResponseHead(r.Head).Fields.Has("Content-Encoding") {
			continue
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(r.Body.Data) //nolint:errcheck // a buffer takes everything
		w.Close()            //nolint:errcheck // a buffer takes everything
		r.Head = []byte(strings.TrimSuffix(string(r.Head), "\r\n") + "Content-Encoding: gzip\r\n\r\n")
		setSize := r.Body.Size != capture.NotKnown
		r.Body.Data = b.Bytes()
		if setSize {
			r.Body.Size = int64(b.Len())
		}
	}
}

// others is what also passes on the host of an agent.
const others = `Others.
-- 1.request --
GET /health HTTP/1.1
Host: HOST

-- 1.response --
HTTP/1.1 200 OK
Content-Type: application/json

{"status":"ok","tasks":[{"id":"t1"}]}
-- 2.request --
OPTIONS /rpc HTTP/1.1
Host: HOST
Origin: https://app.example
Access-Control-Request-Method: POST

-- 2.response --
HTTP/1.1 204 No Content
Access-Control-Allow-Origin: *

-- 3.request --
HEAD /.well-known/agent-card.json HTTP/1.1
Host: HOST

-- 3.response --
HTTP/1.1 200 OK
Content-Type: application/json

-- 4.request --
GET /docs HTTP/1.1
Host: HOST

-- 4.response --
HTTP/1.1 301 Moved Permanently
Location: /docs/

-- 5.request --
GET /favicon.ico HTTP/1.1
Host: HOST

-- 5.response --
HTTP/1.1 404 Not Found
Content-Type: text/html

<html>no</html>
-- 6.request --
POST /mcp HTTP/1.1
Host: HOST
Content-Type: application/json
Accept: application/json, text/event-stream

{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}
-- 6.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

event: message
data: {"jsonrpc":"2.0","id":1,"result":{"content":[]}}

-- 7.request --
GET /metrics HTTP/1.1
Host: HOST

-- 7.response --
HTTP/1.1 401 Unauthorized
WWW-Authenticate: Basic realm="metrics"

-- 8.request --
POST /oauth/token HTTP/1.1
Host: HOST
Content-Type: application/x-www-form-urlencoded

grant_type=client_credentials
-- 8.response --
HTTP/1.1 200 OK
Content-Type: application/json
Cache-Control: no-store

{"access_token":"x","token_type":"Bearer"}
-- want --
`

// mix puts exchanges of others between those of the conversation.
func (c *varied) mix() {
	host := "booker.example:9001"
	if len(c.exchanges) > 0 {
		if h := capture.ParseRequestHead(c.exchanges[0].Request.Head); h.Fields.Has("Host") {
			host = h.Fields.Get("Host")
		}
	}
	tr, err := transcript.Parse("others", []byte(strings.ReplaceAll(others, "HOST", host)))
	if err != nil {
		c.t.Fatal(err)
	}
	c.insert(func(i int, _ *capture.Exchange) []*capture.Exchange {
		x := *tr.Exchanges[i%len(tr.Exchanges)]
		return []*capture.Exchange{&x}
	})
}

// insert puts exchanges before each of the conversation.
func (c *varied) insert(before func(i int, x *capture.Exchange) []*capture.Exchange) {
	var all []*capture.Exchange
	for i, x := range c.exchanges {
		for _, n := range before(i, x) {
			n.Started = x.Started.Add(-time.Microsecond)
			n.Ended, n.State = 500*time.Nanosecond, capture.StateClosed
			n.Request.Body.At = 100
			if n.Response != nil {
				n.Response.At, n.Response.Body.At = 200, 300
				n.Response.Events = slices.Clone(n.Response.Events)
				for k := range n.Response.Events {
					n.Response.Events[k].At = 250
				}
			}
			all = append(all, n)
		}
		all = append(all, x)
	}
	for i, x := range all {
		x.Seq = uint64(i + 1)
		x.ID[15], x.ID[14] = byte(i+1), 0xAA
	}
	c.exchanges = all
}

// withAnswer returns a copy of an exchange with another answer.
func withAnswer(x *capture.Exchange, head, body string) *capture.Exchange {
	n := *x
	n.Fault, n.Rewrites, n.Notes, n.Lost = nil, nil, nil, 0
	n.Response = &capture.Response{Head: []byte(head + "\r\n\r\n"), Body: capture.Body{Data: []byte(body), Size: int64(len(body)), Complete: true}}
	return &n
}

var failures = [][2]string{
	{"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\nRetry-After: 1", "<html><h1>503</h1></html>"},
	{"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html", "<html><h1>502</h1></html>"},
	{"HTTP/1.1 504 Gateway Timeout", ""},
	{"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Type: text/plain", "slow down"},
}

// failFirst lets each request fail at a gateway before it succeeds.
func (c *varied) failFirst() {
	c.insert(func(i int, x *capture.Exchange) []*capture.Exchange {
		if !seenWhole(x) {
			return nil
		}
		f := failures[i%len(failures)]
		return []*capture.Exchange{withAnswer(x, f[0], f[1])}
	})
}

// redirectFirst lets each request be sent elsewhere before it is answered.
func (c *varied) redirectFirst() {
	c.insert(func(_ int, x *capture.Exchange) []*capture.Exchange {
		h := capture.ParseRequestHead(x.Request.Head)
		if !seenWhole(x) || strings.HasPrefix(h.Target, "/hook") { // receivers have to take what comes
			return nil
		}
		return []*capture.Exchange{withAnswer(x, "HTTP/1.1 307 Temporary Redirect\r\nLocation: "+h.Target, "")}
	})
}

// repeatReads asks everything twice that a GET asks.
func (c *varied) repeatReads() {
	c.insert(func(_ int, x *capture.Exchange) []*capture.Exchange {
		if !seenWhole(x) || x.Response.Stream || !bytes.HasPrefix(x.Request.Head, []byte("GET ")) {
			return nil
		}
		n, r := *x, *x.Response
		n.Response = &r
		return []*capture.Exchange{&n}
	})
}

// seenWhole reports whether an exchange was seen from its beginning to its end.
func seenWhole(x *capture.Exchange) bool {
	return len(x.Request.Head) > 0 && x.Request.Body.Complete && x.Response != nil && x.Response.Body.Complete && x.Lost == 0 &&
		x.Started.Nanosecond() == 0 && x.State == capture.StateClosed && x.Ended != capture.NotKnown
}

// twice lets the same pass between others, on another host, word by word.
func (c *varied) twice() {
	text := string(transcript.Format(&transcript.Transcript{Exchanges: c.exchanges}))
	tr, err := transcript.Parse("second", []byte(strings.ReplaceAll(text, "booker.example", "second.example")))
	if err != nil || !strings.Contains(text, "booker.example") {
		return
	}
	shift := c.exchanges[len(c.exchanges)-1].Started.Sub(c.exchanges[0].Started) + time.Hour
	for _, x := range tr.Exchanges {
		x.Seq += uint64(len(c.exchanges))
		x.ID[14] = 0xBB
		x.Started = x.Started.Add(shift)
		if x.Conn != 0 {
			x.Conn += 1000
		}
	}
	c.exchanges = append(c.exchanges, tr.Exchanges...)
}

func (c *varied) unanswer() {
	for _, x := range c.exchanges {
		if c.random.IntN(3) == 0 {
			x.Response, x.Fault = nil, &capture.Fault{Kind: "client-left", Side: "client"}
		}
	}
}

// leave cuts streams as a client does that has seen enough.
func (c *varied) leave() {
	c.shorten(func(x *capture.Exchange) { x.Fault = &capture.Fault{Kind: "client-left", Side: "client"} })
}

// stop cuts streams where the recorder ended.
func (c *varied) stop() {
	c.shorten(func(x *capture.Exchange) { x.State, x.Ended = capture.StateInterrupted, capture.NotKnown })
}

func (c *varied) shorten(end func(*capture.Exchange)) {
	for _, x := range c.exchanges {
		if x.Response == nil || len(x.Response.Events) == 0 {
			continue
		}
		x.Response.Events = x.Response.Events[:c.random.IntN(len(x.Response.Events))]
		x.Response.Body.Complete, x.Response.Body.Size, x.Response.Body.At = false, capture.NotKnown, capture.NotKnown
		end(x)
	}
}

// unkept takes away bodies that passed.
func (c *varied) unkept() {
	for _, x := range c.exchanges {
		if c.random.IntN(4) == 0 {
			drop(&x.Request.Body, 0)
		}
		if x.Response != nil && !x.Response.Stream && c.random.IntN(3) == 0 {
			drop(&x.Response.Body, 0)
		}
	}
}

// cut keeps only the beginning of bodies.
func (c *varied) cut() {
	for _, x := range c.exchanges {
		if n := len(x.Request.Body.Data); n > 1 && c.random.IntN(3) == 0 {
			drop(&x.Request.Body, 1+c.random.IntN(n-1))
		}
		if x.Response == nil || x.Response.Stream {
			continue
		}
		if n := len(x.Response.Body.Data); n > 1 && c.random.IntN(3) == 0 {
			drop(&x.Response.Body, 1+c.random.IntN(n-1))
		}
	}
}

func drop(b *capture.Body, keep int) {
	if len(b.Data) == 0 || b.Dropped > 0 {
		return
	}
	b.Dropped = int64(len(b.Data) - keep)
	b.Data = b.Data[:keep:keep]
	if keep == 0 {
		b.Data = nil
	}
}

// timeless takes away all times but the beginnings.
func (c *varied) timeless() {
	for _, x := range c.exchanges {
		x.Ended, x.Request.Body.At = capture.NotKnown, capture.NotKnown
		if r := x.Response; r != nil {
			r.At, r.Body.At = capture.NotKnown, capture.NotKnown
			for i := range r.Events {
				r.Events[i].At = capture.NotKnown
			}
		}
	}
}

func (c *varied) har() string {
	var b bytes.Buffer
	w, err := har.NewWriter(&b, "0")
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(w)
	return b.String()
}

func (c *varied) jsonl() string {
	var b bytes.Buffer
	c.write(jsonl.NewWriter(&b, nil))
	return b.String()
}

// write writes the conversation in a format, to its end.
func (c *varied) write(w interface {
	Write(x *capture.Exchange) error
	Close() error
},
) {
	for _, x := range c.exchanges {
		if err := w.Write(x); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		c.t.Fatal(err)
	}
}

// through reads the conversation from a file of another format.
func (c *varied) through(name, text string) {
	file := filepath.Join(c.t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	source, err := open.File(file)
	if err != nil {
		c.t.Fatal(err)
	}
	defer source.Close() //nolint:errcheck // it is only read
	c.exchanges = nil
	for x, err := range source.Exchanges(c.t.Context(), 1) {
		if err != nil {
			c.t.Fatal(err)
		}
		c.exchanges = append(c.exchanges, x)
	}
}

// redact hides secrets as the recorder does.
func (c *varied) redact() {
	memory := capture.NewMemory(capture.Info{})
	sink := redact.New(memory, redact.Options{Key: bytes.Repeat([]byte{1}, 32)})
	for s, err := range capture.Interleave(each(c.exchanges)) {
		if err == nil {
			err = sink.Append(s)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		c.t.Fatal(err)
	}
	c.exchanges = nil
	for x, err := range memory.Exchanges(c.t.Context(), 1) {
		if err != nil {
			c.t.Fatal(err)
		}
		c.exchanges = append(c.exchanges, x)
	}
}
