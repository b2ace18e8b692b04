package mutation_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/capture/har"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
	"a2atap/proxy/record"
)

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
	tr := must.Get(transcript.Parse("others", []byte(strings.ReplaceAll(others, "HOST", host))))(c.t)
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
	n.Response = &capture.Response{
		Head: []byte(head + "\r\n\r\n"),
		Body: capture.Body{Data: []byte(body), Size: int64(len(body)), Complete: true},
	}
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
	return len(x.Request.Head) > 0 && x.Request.Body.Complete && x.Response != nil && x.Response.Body.Complete &&
		x.Lost == 0 &&
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
			x.Response, x.Fault = nil, &capture.TransportFault{Kind: "client-left", Side: "client"}
		}
	}
}

// leave cuts streams as a client does that has seen enough.
func (c *varied) leave() {
	c.shorten(func(x *capture.Exchange) { x.Fault = &capture.TransportFault{Kind: "client-left", Side: "client"} })
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
	w := must.Get(har.NewWriter(&b, "0"))(c.t)
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
		must.Do(c.t, w.Write(x))
	}
	must.Do(c.t, w.Close())
}

// through reads the conversation from a file of another format.
func (c *varied) through(name, text string) {
	file := filepath.Join(c.t.TempDir(), name)
	must.Do(c.t, os.WriteFile(file, []byte(text), 0o600))
	source := must.Get(open.File(file))(c.t)
	defer source.Close() //nolint:errcheck // it is only read
	c.exchanges = capturetest.ReadAll(c.t, source)
}

// redact hides secrets as the recorder does.
func (c *varied) redact() {
	memory := capture.NewMemory(capture.Info{})
	sink := record.NewSink(memory, redact.Options{Key: bytes.Repeat([]byte{1}, 32)})
	for s, err := range capture.Interleave(capture.Each(c.exchanges...)) {
		if err == nil {
			err = sink.Append(s)
		}
		must.Do(c.t, err)
	}
	must.Do(c.t, sink.Close())
	c.exchanges = capturetest.ReadAll(c.t, memory)
}
