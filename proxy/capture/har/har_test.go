package har_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/capture/har"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// readHAR reads a HAR that another program wrote: these entries.
func readHAR(t *testing.T, entries ...string) []*capture.Exchange {
	t.Helper()
	s, err := open.File(capturetest.WriteFile(t, "c.har", []byte(`{"log":{"version":"1.2","pages":[],"entries":[`+
		strings.Join(entries, ",")+`]}}`)))
	must.Do(t, err)
	defer s.Close()
	return capturetest.ReadAll(t, s)
}

// foreign returns an entry of another program. More are members of the entry.
func foreign(request, response, more string) string {
	return fmt.Sprintf(`{"startedDateTime":"2026-03-01T11:00:00.500+01:00",
		"request":{"method":"POST","url":"https://a.example/rpc?x=1#f","httpVersion":"HTTP/1.1",
			"headers":[],"bodySize":-1%s},
		"response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1",
			"headers":[],"bodySize":-1%s}%s}`, request,
		response, more)
}

func TestReadBrowser(t *testing.T) {
	x := readHAR(t, `{
		"_initiator": {"type": "script"}, "_resourceType": "fetch", "cache": {}, "connection": "443",
		"startedDateTime": "2026-03-01T10:00:00.500Z", "time": 120.5, "serverIPAddress": "192.0.2.7",
		"timings": {"blocked": 3, "dns": -1, "connect": 10, "ssl": 5, "send": 0.5, "wait": 100,
			"receive": 7, "_queued": 1},
		"request": {"method": "POST", "url": "https://a.example/rpc?x=1", "httpVersion": "h2",
			"cookies": [{"name": "a", "value": "b"}],
			"headers": [{"name": ":authority", "value": "a.example"}, {"name": ":method", "value": "POST"},
				{"name": "content-type", "value": "application/json"},
				{"name": "user-agent", "value": "Mozilla/5.0 (X11)"}],
			"queryString": [{"name": "x", "value": "1"}], "headersSize": -1, "bodySize": 4,
			"postData": {"mimeType": "application/json", "text": "{\"ä\"}"}},
		"response": {"status": 200, "statusText": "", "httpVersion": "h2", "cookies": [],
			"headers": [{"name": "content-encoding", "value": "br"}, {"name": "set-cookie", "value": "a=1\nb=2"}],
			"content": {"size": 3, "mimeType": "application/json", "text": "AAH/", "encoding": "base64"},
			"redirectURL": "", "headersSize": -1, "bodySize": -1, "_transferSize": 100, "_error": null}}`)[0]
	const ms = time.Millisecond
	want := &capture.Exchange{
		Seq: 1, ID: x.ID, Conn: 443, Started: time.Date(2026, 3, 1, 10, 0, 0, 500e6, time.UTC),
		Ended:  120*ms + 500*time.Microsecond,
		State:  capture.StateClosed,
		Client: capture.Peer{Name: "Mozilla", How: "user-agent"},
		Agent:  capture.Peer{Name: "a.example:443", Addr: "192.0.2.7", URL: "https://a.example"},
		Request: capture.Request{
			Head: []byte("POST /rpc?x=1 HTTP/2\r\nHost: a.example\r\ncontent-type: application/json\r\nuser-agent: " +
				"Mozilla/5.0 (X11)\r\n\r\n"),
			Body: capture.Body{
				Data: []byte(`{"ä"}`), Size: capture.NotKnown, Complete: true,
				At: 13*ms + 500*time.Microsecond,
			},
		},
		Response: &capture.Response{
			At:   113*ms + 500*time.Microsecond,
			Head: []byte("HTTP/2 200 \r\ncontent-encoding: br\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n\r\n"),
			Body: capture.Body{
				Data: []byte{0, 1, 0xff}, Size: capture.NotKnown, Complete: true, Decoded: true,
				At: 120*ms + 500*time.Microsecond,
			},
		},
	}
	if diff := capturetest.Compare(want, x); diff != "" {
		t.Errorf("got +, want -:\n%s", diff)
	}
}

// What comes from another program is known for it wherever it is copied to; what comes from us is not.
func TestForeign(t *testing.T) {
	x := readHAR(t, foreign("", "", ""))[0]
	if !capture.Foreign(x.ID) {
		t.Errorf("id %s of another program's entry: not foreign", x.ID)
	}
	for _, id := range []uuid.UUID{uuid.New(), uuid.Nil} {
		if capture.Foreign(id) {
			t.Errorf("id %s: foreign", id)
		}
	}
}

// What is absent, empty, not kept and unknown.
func TestReadBodies(t *testing.T) {
	empty, size := []byte{}, int64(capture.NotKnown)
	for _, tt := range []struct {
		name, request, response string
		wantRequest             capture.Body
		wantResponse            capture.Body
	}{
		{
			"absent", `,"bodySize":7`, `,"content":{"size":9,"mimeType":""},"bodySize":5`,
			capture.Body{Size: 7, Dropped: 7},
			capture.Body{Size: 5, Dropped: 5},
		},
		{
			"absent, of unknown size", ``, `,"content":{"size":0,"mimeType":""}`,
			capture.Body{Size: size},
			capture.Body{Size: size},
		},
		{
			"empty", `,"bodySize":0`, `,"content":{"size":0},"bodySize":0`,
			capture.Body{Data: empty, Size: 0},
			capture.Body{Data: empty, Size: 0},
		},
		{
			"empty text", `,"postData":{"text":""}`, `,"content":{"size":0,"text":""}`,
			capture.Body{Data: empty, Size: size},
			capture.Body{Data: empty, Size: size},
		},
		{
			"text", `,"bodySize":2,"postData":{"text":"{}"}`, `,"bodySize":99,"content":{"size":2,"text":"{}"}`,
			capture.Body{Data: []byte("{}"), Size: 2},
			capture.Body{Data: []byte("{}"), Size: size},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := readHAR(t, foreign(tt.request, tt.response, ""))[0]
			for _, b := range []*capture.Body{&tt.wantRequest, &tt.wantResponse} {
				b.Complete, b.At = true, capture.NotKnown
			}
			expect.Same(t, "request", tt.wantRequest, x.Request.Body)
			expect.Same(t, "response", tt.wantResponse, x.Response.Body)
		})
	}
}

func TestReadStreams(t *testing.T) {
	const stream = `,"headers":[{"name":"Content-Type","value":"text/event-stream"}]`
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	event := func(k int, at time.Duration, raw string) capture.Event {
		return capture.Event{K: k, At: at, Raw: []byte(raw)}
	}
	const unknown = capture.NotKnown
	for _, tt := range []struct {
		name, entry string
		want        []capture.Event
	}{
		{
			"text", foreign("", stream+`,"content":{"text":": x\n\ndata: 1\n\ndata: 2\n\n"}`, ""),
			[]capture.Event{
				event(0, unknown, ": x\n\n"), event(1, unknown, "data: 1\n\n"),
				event(2, unknown, "data: 2\n\n"),
			},
		},
		{"not kept", foreign("", stream+`,"content":{"size":0}`, ""), nil},
		{
			"Chrome, with text",
			foreign("", stream+`,"content":{"text":": x\n\ndata: 1\n\n"}`,
				`,"_eventSourceMessages":[{"time":1772359200.75,"data":"1"}]`),
			[]capture.Event{event(0, unknown, ": x\n\n"), event(1, at(250), "data: 1\n\n")},
		},
		{
			"Chrome, without text",
			foreign("", stream,
				`,"_eventSourceMessages":[{"time":1772359200.75,"eventName":"a","eventId":"7","data":"1\n2"}]`),
			[]capture.Event{event(1, at(250), "event: a\nid: 7\ndata: 1\ndata: 2\n\n")},
		},
		{
			"ours, by another hand",
			foreign("", stream,
				`,"_eventStream":[{"offsetMs":1.5,"data":"1"},{"raw":"ZGF0YTog/woK","rawEncoding":"base64"}]`),
			[]capture.Event{event(1, 1500*time.Microsecond, "data: 1\n\n"), event(2, unknown, "data: \xff\n\n")},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := readHAR(t, tt.entry)[0]
			if diff := cmp.Diff(tt.want, x.Response.Events); diff != "" || !x.Response.Stream {
				t.Errorf("stream %v: got +, want -:\n%s", x.Response.Stream, diff)
			}
		})
	}
}

func TestReadEnds(t *testing.T) {
	for _, tt := range []struct {
		entry    string
		state    capture.State
		fault    bool
		complete bool
	}{
		{foreign("", "", ""), capture.StateClosed, false, true},
		{foreign("", `,"status":0`, ""), capture.StateInterrupted, false, false},
		{foreign("", `,"status":0,"_error":"net::ERR_FAILED"`, ""), capture.StateClosed, true, false},
		{foreign("", `,"status":0`, `,"_error":"net::ERR_FAILED"`), capture.StateClosed, true, false},
		{foreign("", `,"_error":"net::ERR_INCOMPLETE_CHUNKED_ENCODING"`, ""), capture.StateClosed, true, false},
	} {
		x := readHAR(t, tt.entry)[0]
		complete := x.Response != nil && x.Response.Body.Complete
		if x.State != tt.state || (x.Fault != nil) != tt.fault || complete != tt.complete {
			t.Errorf("%s: got %v, fault %v, complete %v", tt.entry, x.State, x.Fault, complete)
		}
	}
}

// The least that can be called an entry.
func TestReadMissing(t *testing.T) {
	x := readHAR(t, `{"request":{"method":"GET","url":"http://a.example:8080"}}`, `{}`)
	expect.Equal(t, "head", "GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n", string(x[0].Request.Head))
	if x[0].Agent.Name != "a.example:8080" || x[0].Client.Name != "client" || x[0].Ended != capture.NotKnown {
		t.Errorf("got %+v", x[0])
	}
}

func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ entry, want string }{
		{`{"startedDateTime":"yesterday"}`, `entry 2: startedDateTime: "yesterday" is not a time`},
		{`{"startedDateTime":1}`, `entry 2: startedDateTime: unexpected number`},
		{foreign("", `,"status":"ok"`, ""), `entry 2: response.status: unexpected string`},
		{foreign("", `,"status":20.5`, ""), `entry 2: response.status: 20.5 is not a status`},
		{foreign("", `,"headers":[{"name":1}]`, ""), `entry 2: response.headers[0].name: unexpected number`},
		{foreign("", `,"content":{"text":"?","encoding":"base64"}`, ""), `entry 2: response.content.text: read base64`},
		{
			foreign("", `,"content":{"text":"","encoding":"rot13"}`, ""),
			`entry 2: response.content.text: unknown encoding "rot13"; use base64`,
		},
		{
			foreign("", "", `,"_eventStream":[{"raw":"?","rawEncoding":"base64"}]`),
			`entry 2: _eventStream[0].raw: read base64`,
		},
		{foreign("", "", `,"_a2atap":{"id":"x"}`), `entry 2: _a2atap.id: `},
		{foreign("", "", `,"_a2atap":{"state":"shut"}`), `entry 2: _a2atap.state: unknown state "shut"`},
		{`7`, `entry 2: the entry: unexpected number`},
	} {
		s, err := open.File(capturetest.WriteFile(t, "c.har", []byte(`{"log":{"entries":[{},`+tt.entry+`,{}]}}`)))
		must.Do(t, err)
		var last error
		n := 0
		for _, err := range s.Exchanges(t.Context(), 0) {
			if last = err; err == nil {
				n++
			}
		}
		if n != 1 || last == nil || !strings.Contains(last.Error(), tt.want) {
			t.Errorf("%s: after %d exchanges: %v; want %s", tt.entry, n, last, tt.want)
		}
		s.Close()
	}
}

// A HAR that a2atap writes suits other tools: valid, finite, with the text of streams where they look for it.
func TestWrite(t *testing.T) {
	var file struct {
		Log struct {
			Version string
			Creator struct{ Name, Version string }
			Entries []struct {
				StartedDateTime string
				Time            float64
				Error           string `json:"_error"`
				Timings         map[string]float64
				Request         struct {
					URL         string
					HeadersSize float64
					QueryString []struct{ Name, Value string }
				}
				Response struct {
					Status  int
					Content struct{ Text string }
				}
				EventStream []struct {
					Time, Data, Raw, RawEncoding string
					OffsetMs                     *float64
				} `json:"_eventStream"`
			}
		}
	}
	var b bytes.Buffer
	w := must.Get(har.NewWriter(&b, "1.2.3"))(t)
	for _, x := range capturetest.Exchanges() {
		must.Do(t, w.Write(x))
	}
	must.Do(t, w.Close())
	must.Do(t, json.Unmarshal(b.Bytes(), &file))
	if file.Log.Version != "1.2" || file.Log.Creator.Name != "a2atap" || file.Log.Creator.Version != "1.2.3" {
		t.Errorf("log %s by %+v", file.Log.Version, file.Log.Creator)
	}
	call, stream, unanswered := file.Log.Entries[0], file.Log.Entries[1], file.Log.Entries[4]
	if call.Request.URL != "http://127.0.0.1:9000/rpc?tenant=a%20b" || call.Request.QueryString[0].Value != "a b" {
		t.Errorf("request %+v", call.Request)
	}
	if call.Timings["send"] != 1 || call.Timings["wait"] != 29 || call.Timings["receive"] != 1 {
		t.Errorf("timings %v", call.Timings)
	}
	second := stream.EventStream[1]
	if second.Data != "{\n}" || second.Time != "2026-03-01T10:00:00.183456789Z" || *second.OffsetMs != 20 ||
		second.Raw != "event: x\r\nid: 7\r\ndata: {\r\ndata: }\r\n\r\n" ||
		stream.EventStream[2].RawEncoding != "base64" {
		t.Errorf("events %+v", stream.EventStream)
	}
	if unanswered.Response.Status != 0 || !strings.HasPrefix(unanswered.Error, "unreachable") {
		t.Errorf("without an answer: status %d, error %q", unanswered.Response.Status, unanswered.Error)
	}
}

// A URL in the query or in the path of a request is not where it went.
func TestURLsInTargets(t *testing.T) {
	x := capturetest.Exchanges()[0]
	x.Request.Head = []byte("GET /login/http://b.example?next=https://c.example HTTP/1.1\r\nHost: a.example\r\n\r\n")
	var b bytes.Buffer
	w := must.Get(har.NewWriter(&b, "1"))(t)
	must.Do(t, w.Write(x))
	must.Do(t, w.Close())
	if want := `"http://127.0.0.1:9000/login/http://b.example?next=https://c.example"`; !strings.Contains(b.String(), want) {
		t.Errorf("want %s in %s", want, b.String())
	}
}
