package playback_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/playback"
)

// A timedWriter notes what was flushed, and when.
type timedWriter struct {
	httptest.ResponseRecorder
	began   time.Time
	flushed []string
	n       int
}

func (w *timedWriter) Flush() {
	if text := w.Body.String(); len(text) > w.n {
		w.flushed = append(w.flushed, fmt.Sprintf("%s after %s", strings.TrimSpace(text[w.n:]), time.Since(w.began)))
		w.n = len(text)
	}
}

// The events of a stream come one by one, each at its time.
func TestEventsComeAtTheirTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		call := recordedCall{ask: chatOf("a"), head: "Content-Type: text/event-stream\r\n", answer: "data: 1\n\ndata: 2\n\ndata: 3\n\n"}
		x := call.exchange(1)
		for i := range x.Response.Events {
			x.Response.Events[i].At = time.Duration(i*i+1) * time.Minute
		}
		x.Response.At = x.Request.Body.At
		memory := capture.NewMemory(capture.Info{})
		must.Do(t, memory.Append(capture.Steps(x)...))
		for speed, want := range map[float64]string{
			1: "data: 1 after 59.999s, data: 2 after 1m59.999s, data: 3 after 4m59.999s", 0: "data: 1 after 0s, data: 2 after 0s, data: 3 after 0s",
		} {
			p := must.Get(playback.New(t.Context(), memory, playback.Options{Speed: speed}))(t)
			w := &timedWriter{ResponseRecorder: *httptest.NewRecorder(), began: time.Now()}
			r := httptest.NewRequest(http.MethodPost, chatPath, strings.NewReader(chatOf("a")))
			r.Header.Set("Content-Type", "application/json")
			p.ServeHTTP(w, r)
			p.Close()
			expect.Equal(t, fmt.Sprint("events at speed ", speed), want, strings.Join(w.flushed, ", "))
		}
	})
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text) //nolint:errcheck // it is a buffer
	z.Close()               //nolint:errcheck // as above
	return b.String()
}

// Ids are read from requests with a content coding, and an answer has its coding only if the client reads it.
func TestCodedMessages(t *testing.T) {
	t.Parallel()
	const coded = "Content-Encoding: gzip\r\n"
	c := playCalls(t, recordCalls(t, nil,
		recordedCall{to: toolURL, path: "/mcp", fields: coded, ask: zipped(rpc("tools/call", 1, `{"name":"w"}`)), head: coded, answer: zipped(`{"jsonrpc":"2.0","id":1,"result":{}}`)},
	), playback.Options{})
	a := c.do(recordedCall{to: toolURL, path: "/mcp", fields: coded, ask: zipped(rpc("tools/call", "mine", `{"name":"w"}`))})
	expect.Equal(t, "answer", `{"jsonrpc":"2.0","id":"mine","result":{}}`, a.body)
	expect.Equal(t, "coding", "", a.header.Get("Content-Encoding"))
	a = c.do(recordedCall{to: toolURL, path: "/mcp", fields: coded, ask: zipped(rpc("tools/call", "next", `{"name":"other"}`))})
	if !strings.Contains(a.body, `"id":"next"`) {
		t.Error(a.body)
	}
	c = playCalls(t, recordCalls(t, nil,
		recordedCall{ask: chatOf("a"), status: 429, head: "Retry-After: 7\r\nX-RateLimit-Reset: 1764516670\r\n", answer: `{"created":1764516670}`},
	), playback.Options{})
	a = c.do(says("a", ""))
	expect.Equal(t, "limit", `429 7 1764516670 {"created":1764516670}`, fmt.Sprint(a.status, " ", a.header.Get("Retry-After"), " ", a.header.Get("X-RateLimit-Reset"), " ", a.body))
}

// Playback distinguishes the sessions of an imported recording, whose secrets were not hidden.
func TestSessionsOfImportedRecordings(t *testing.T) {
	t.Parallel()
	session := func(id string) string { return "Mcp-Session-Id: " + id + "-0123456789abcdef\r\n" }
	var recorded []recordedCall
	for _, id := range []string{"a", "b"} {
		recorded = append(recorded, recordedCall{to: toolURL, path: "/mcp", ask: rpc("initialize", 1, `{"c":"`+id+`"}`), head: session(id), answer: `{}`})
	}
	for _, id := range []string{"a", "b"} {
		recorded = append(recorded, recordedCall{to: toolURL, path: "/mcp", fields: session(id), ask: rpc("tools/call", 2, `{"name":"w"}`), answer: `"` + id + `"`})
	}
	c := playCalls(t, recordCalls(t, nil, recorded...), playback.Options{Hide: hide(t.Context()), Exposed: true})
	live := map[string]string{}
	for _, id := range []string{"a", "b"} {
		live[id] = c.do(recordedCall{to: toolURL, path: "/mcp", ask: rpc("initialize", 1, `{"c":"`+id+`"}`)}).header.Get("Mcp-Session-Id")
	}
	for _, id := range []string{"b", "a"} {
		got := c.call(recordedCall{to: toolURL, path: "/mcp", fields: "Mcp-Session-Id: " + live[id] + "\r\n", ask: rpc("tools/call", 7, `{"name":"w"}`)})
		expect.Equal(t, "answer", `"`+id+`"`, got)
	}
}

// long returns a call whose answer is too long to be kept.
func long(c recordedCall) recordedCall {
	c.answer += strings.Repeat(" ", 9<<20)
	return c
}

// A heldSource reads some exchanges only after they are let go, or not at all.
type heldSource struct {
	*capture.Memory
	held, reading chan struct{}
	err           error
}

func (s *heldSource) Exchange(ctx context.Context, n uint64) (*capture.Exchange, error) {
	if n == 1 {
		if s.reading != nil {
			close(s.reading)
			<-s.held
		}
		if s.err != nil {
			return nil, s.err
		}
	}
	return s.Memory.Exchange(ctx, n)
}

// While a miss is explained with what the capture has, other requests get their answers.
func TestOthersAreAnsweredWhileAMissIsExplained(t *testing.T) {
	t.Parallel()
	message := func(text string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","role":"user","messageId":"m","parts":[{"kind":"text","text":"` + text + `"}]}}}`
	}
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","role":"agent","messageId":"n","parts":[]}}`
	for name, calls := range map[string][2]recordedCall{
		"a model":  {long(says("first\nrain", "1")), says("b", "2")},
		"an agent": {{to: "http://a.example", path: "/", ask: message("rain"), answer: answer}, {to: "http://a.example", path: "/", ask: message("b"), answer: answer}},
	} {
		src := &heldSource{Memory: recordCalls(t, nil, calls[:]...), held: make(chan struct{}), reading: make(chan struct{})}
		c := playCalls(t, src, playback.Options{Match: playback.ByValue})
		missed := make(chan string, 1)
		near := calls[0]
		near.ask = strings.Replace(near.ask, "rain", "snow", 1)
		go func() { missed <- c.do(near).body }()
		<-src.reading
		expect.Equal(t, name, calls[1].answer, c.do(calls[1]).body)
		close(src.held)
		if body := <-missed; !strings.Contains(body, "snow") {
			t.Errorf("%s: %s", name, body)
		}
	}
}

// A call that cannot be read again is a miss, and nothing else.
func TestCallsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	src := &heldSource{Memory: recordCalls(t, nil, long(says("a", "1")), says("b", "2")), err: errors.New("the file is gone")}
	c := playCalls(t, src, playback.Options{UsedUp: playback.RepeatLast})
	for range 2 {
		if a := c.do(says("a", "")); a.status != 422 || !strings.Contains(a.body, "the file is gone") {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if a := c.do(says("c", "")); !strings.Contains(a.body, "the nearest is exchange 1") && !strings.Contains(a.body, "the nearest is exchange 2") {
		t.Error(a.body)
	}
	expect.Equal(t, "b", "2", c.ask("b"))
	r := c.player.Report()
	expect.Equal(t, "report", "1 answered (1 exactly, 0 by meaning, 0 repeated), 3 missed, 0 never asked for, 0 live", r.Whole(0))
}

// With the values of parameters, the names of models and versions count with their dates for agents, too.
func TestDatesOfModelsCountForAgents(t *testing.T) {
	t.Parallel()
	call := func(metadata string) recordedCall {
		return recordedCall{
			to: "http://a.example", path: "/",
			ask: `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"metadata":` + metadata +
				`,"message":{"kind":"message","role":"user","messageId":"m","parts":[{"kind":"text","text":"x"}]}}}`,
			answer: `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","role":"agent","messageId":"n","parts":[]}}`,
		}
	}
	c := playCalls(t, recordCalls(t, nil, call(`{"model":"m-2024-05-13","on":"2024-05-13"}`)), playback.Options{Match: playback.ByValue, UsedUp: playback.RepeatLast})
	for metadata, played := range map[string]bool{
		`{"model":"m-2024-05-13","on":"2026-11-30"}`: true, `{"model":"m-2024-08-06","on":"2024-05-13"}`: false,
	} {
		if body := c.do(call(metadata)).body; strings.Contains(body, `"result"`) != played {
			t.Errorf("%s: %s", metadata, body)
		}
	}
}
