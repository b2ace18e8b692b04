package refagent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/refagent"
)

// Every answer, event and error of the dialect before 0.1 is JSON-RPC 2.0 with the id of the call, whatever its type.
// An answer to an invalid request has no id.
func TestLegacyEnvelope(t *testing.T) {
	origin := serve(t, "legacy", refagent.Options{Push: true})
	call := func(path, id, method, params string) string {
		return "POST " + path + jsonHeader + rpc(id, method, params)
	}
	for _, id := range []string{`1`, `"a-1"`} {
		task := strings.Trim(id, `"`)
		requests := []string{
			call("/", id, "tasks/send", legacySend(task, "data-types x")),
			call("/", id, "tasks/get", `{"id":"`+task+`"}`),
			call("/", id, "tasks/get", `{"id":"nope"}`),
			call("/", id, "tasks/cancel", `{"id":"nope"}`),
			call("/", id, "tasks/nonexistent", `{}`),
			call("/", id, "tasks/pushNotification/get", `{"id":"`+task+`"}`),
			call("/subscribe", id, "tasks/sendSubscribe", legacySend("s"+task, "task-lifecycle x")),
		}
		for _, request := range requests {
			body := bodyOf(t, origin, request)
			for _, text := range envelopes(body) {
				checkEnvelope(t, request, text, id)
			}
		}
		expect.Contains(t, "the finished task", `"artifacts":[{`, legacyTask(t, origin, task))
	}
	for request, want := range map[string]string{
		`{"jsonrpc":`: `-32700`, `{"not":"valid jsonrpc"}`: `-32600`, `[]`: `-32600`, `5`: `-32600`,
		`{"id":1,"method":"tasks/get","params":{"id":"1"}}`:                    `-32600`,
		`{"jsonrpc":"1.0","id":1,"method":"tasks/get","params":{"id":"1"}}`:    `-32600`,
		`{"jsonrpc":"2.0","id":1,"params":{"id":"1"}}`:                         `-32600`,
		`{"jsonrpc":"2.0","id":1,"method":5,"params":{"id":"1"}}`:              `-32600`,
		`{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"1"}}`:           `-32600`,
		`{"jsonrpc":"2.0","id":{},"method":"tasks/get","params":{"id":"1"}}`:   `-32600`,
		`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":["1"]}`:         `-32602`,
		`{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"new"}}`: `-32602`,
	} {
		body := bodyOf(t, origin, "POST /"+jsonHeader+request)
		if !strings.Contains(body, `"code":`+want) || !strings.Contains(body, `"jsonrpc":"2.0"`) {
			t.Errorf("%s: got %s, want %s", request, body, want)
		}
	}
}

// envelopes returns the JSON of an answer: its body, or the data of its events.
func envelopes(body string) []string {
	if !strings.HasPrefix(body, "event: ") {
		return []string{body}
	}
	var texts []string
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			texts = append(texts, data)
		}
	}
	return texts
}

func checkEnvelope(t *testing.T, request, text, id string) {
	t.Helper()
	var e struct {
		JSONRPC       string
		ID            json.RawMessage
		Result, Error json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Errorf("%s: %v in %s", request, err, text)
	}
	if e.JSONRPC != "2.0" || string(e.ID) != id || (e.Result == nil) == (e.Error == nil) {
		t.Errorf("%s: got %s, want jsonrpc 2.0, id %s, and either a result or an error", request, text, id)
	}
}

// The agent drops a client that leaves its stream at once, and the task continues. A client that returns can read the
// task, or follow it again.
func TestLegacyStreamIsLeft(t *testing.T) {
	a := must.Get(refagent.New("legacy", refagent.Options{StepTime: time.Millisecond}))(t)
	t.Cleanup(a.Close)
	left := make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.ServeHTTP(w, r)
		if r.Header.Get("X-Leaves") != "" {
			left <- struct{}{}
		}
	}))
	t.Cleanup(s.Close)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/subscribe",
		strings.NewReader(rpc("1", "tasks/sendSubscribe", legacySend("t1", "multi-turn x"))))
	must.Do(t, err)
	req.Header.Set("X-Leaves", "yes")
	resp := must.Get(wireClient.Do(req))(t)
	defer resp.Body.Close()
	must.Get(bufio.NewReader(resp.Body).ReadString('\n'))(t)
	leave()
	<-left // the task waits for its client, so only the disconnect ends the stream
	expect.Contains(t, "the task", `"state":"input-required"`, legacyTask(t, s.URL, "t1"))
	body := bodyOf(t, s.URL, legacyCall("/subscribe", "tasks/sendSubscribe", legacySend("t1", "done")))
	if got := legacyEvents(body); !strings.HasSuffix(got, "status completed final") {
		t.Errorf("who comes back sees %s", got)
	}
}
