package client

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

const taskResult = `{"id":"t1","status":{"state":"TASK_STATE_WORKING"}}`

func TestEditChangesTheRequest(t *testing.T) {
	a := agent(t, reply(200, "application/json", taskResult))
	c := speak(t, a, REST10, Options{UserAgent: "planner/1.0", Edit: func(o *Outgoing) {
		if o.Operation == a2a.CancelTask {
			o.Method, o.URL, o.Body = "PUT", strings.Replace(o.URL, "/a/", "/b/", 1), []byte("edited")
			o.Header.Del("A2A-Version")
		}
	}})
	must.Get(c.Cancel(t.Context(), "t", nil))(t)
	got := <-a.seen
	if got.method != "PUT" || got.path != "/b/tasks/t:cancel" || got.body != "edited" ||
		got.header.Get("A2A-Version") != "" ||
		got.header.Get("User-Agent") != "planner/1.0" {
		t.Errorf("got %+v, want the edited request", got)
	}
}

func TestRefusals(t *testing.T) {
	const info = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}`
	for _, tt := range []struct {
		name     string
		protocol Protocol
		status   int
		body     string
		want     Error
	}{
		{
			"1.0", JSONRPC10, 200, `{"jsonrpc":"2.0","id":"id","error":{"code":-32001,"message":"gone","data":[` + info + `]}}`,
			Error{Code: -32001, Reason: "TASK_NOT_FOUND", HTTPStatus: 200, Message: "gone"},
		},
		{
			"no data", JSONRPC03, 200, `{"jsonrpc":"2.0","id":"id","error":{"code":-32002,"message":"late"}}`,
			Error{Code: -32002, Reason: "TASK_NOT_CANCELABLE", HTTPStatus: 200, Message: "late"},
		},
		{
			"standard code", JSONRPC10, 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
			Error{Code: -32700, HTTPStatus: 200, Message: "what?"},
		},
		{
			"HTTP+JSON", REST10, 404, `{"error":{"code":404,"status":"NOT_FOUND","message":"gone","details":[` + info + `]}}`,
			Error{Code: -32001, Reason: "TASK_NOT_FOUND", HTTPStatus: 404, Message: "gone"},
		},
		{"gateway", REST10, 502, `<html>`, Error{HTTPStatus: 502, Message: "Bad Gateway"}},
		{"gateway before JSON-RPC", JSONRPC10, 401, `{"detail":"no"}`, Error{HTTPStatus: 401, Message: "Unauthorized"}},
		{"error under 200", REST10, 200, `{"error":{"code":404,"message":"gone"}}`, Error{HTTPStatus: 200, Message: "gone"}},
		{"broken error", JSONRPC10, 200, `{"error":{"code":"-32001","message":5}}`, Error{HTTPStatus: 200, Message: "OK"}},
		{
			"error without an envelope", REST10, 404, `{"code":404,"message":"gone","details":[` + info + `]}`,
			Error{Code: -32001, Reason: "TASK_NOT_FOUND", HTTPStatus: 404, Message: "gone"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := speak(t, agent(t, reply(tt.status, "application/json", tt.body)), tt.protocol, Options{})
			_, getErr := c.Get(t.Context(), "t", nil)
			for _, err := range []error{getErr, drain(c.Subscribe(t.Context(), "t"))} {
				var got *Error
				if !errors.As(err, &got) {
					t.Fatalf("got %v, want a refusal", err)
				}
				expect.Same(t, "", tt.want, *got, cmpopts.IgnoreFields(Error{}, "Raw"))
				if string(got.Raw) != tt.body || !strings.Contains(got.Error(), tt.want.Message) {
					t.Errorf("got %s (%q), want the message and the body", got, got.Raw)
				}
			}
		})
	}
}

func TestUnreadableAnswers(t *testing.T) {
	for _, body := range []string{
		``, `{"jsonrpc":"2.0","id":"id"}`, `{"result":`, `{"result":{"kind":"x"}}`,
		`{"result":{"id":5}}`,
	} {
		c := speak(t, agent(t, reply(200, "application/json", body)), JSONRPC10, Options{})
		_, err := c.Send(t.Context(), Text("x"), SendOptions{})
		var refused *Error
		if err == nil || errors.As(err, &refused) || !strings.HasPrefix(err.Error(), "SendMessage: read the ") {
			t.Errorf("%q: got %v, want an error about reading", body, err)
		}
	}
	c := speak(t, agent(t, reply(200, "application/json", `{"result":`+taskResult+`}`)), JSONRPC10, Options{})
	expect.ErrorHas(t, "", "not text/event-stream", drain(c.Subscribe(t.Context(), "t")))
	c = must.Get(New(Interface{URL: "http://127.0.0.1:1/", Protocol: REST10}, Options{}))(t)
	if _, err := c.Get(t.Context(), "t", nil); err == nil ||
		!strings.HasPrefix(err.Error(), "GetTask: GET http://127.0.0.1:1/tasks/t: ") {
		t.Errorf("got %v, want what was attempted", err)
	}
	expect.ErrorHas(t, "",
		"A2A 1.0 HTTP+JSON", expect.Err(New(Interface{Protocol: Protocol{"0.1", "GRPC"}}, Options{})))
}

func TestByteOrderMark(t *testing.T) {
	a := agent(t, reply(200, "application/json", "\ufeff"+`{"result":{"task":`+taskResult+`}}`))
	if _, err := speak(t, a, JSONRPC10, Options{}).Send(t.Context(), Text("x"), SendOptions{}); err != nil {
		t.Errorf("a mark in front is an error: %v", err)
	}
}

func TestTenant(t *testing.T) {
	a := agent(t, reply(200, "application/json", taskResult))
	for p, want := range map[Protocol]string{
		JSONRPC10: `POST /a {"jsonrpc":"2.0","id":"id","method":"GetTask","params":{"tenant":"a c","id":"t"}}`,
		REST10:    `GET /a/a%20c/tasks/t `,
	} {
		c, err := New(Interface{URL: a.url + "/a", Protocol: p, Tenant: "a c"}, Options{NewID: func() string { return "id" }})
		must.Do(t, err)
		c.Get(t.Context(), "t", nil) // the request counts
		c.Close()
		got := <-a.seen
		expect.Same(t, p, want, got.method+" "+got.path+" "+got.body)
	}
}

// Agents that read the proto literally serve only GET.
func TestSubscribeFallsBackToGET(t *testing.T) {
	a := agent(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		reply(200, "text/event-stream", "data: {\"task\":{\"id\":\"t\"}}\n\n")(w, r)
	})
	expect.OK(t, drain(speak(t, a, REST10, Options{}).Subscribe(t.Context(), "t")))
	if first, second := <-a.seen, <-a.seen; first.method != "POST" || second.method != "GET" || second.body != "" {
		t.Errorf("got %v, then %v, want POST, then GET", first, second)
	}
}

func TestStates(t *testing.T) {
	for s, want := range map[State][2]bool{
		Submitted: {}, Working: {}, "unheard of": {}, InputRequired: {false, true}, AuthRequired: {false, true},
		Completed: {true, false}, Failed: {true, false}, Canceled: {true, false}, Rejected: {true, false},
	} {
		expect.Equal(t, fmt.Sprintf("%s: terminal and interrupted", s),
			want, [2]bool{s.Terminal(), s.Interrupted()})
	}
}

func TestTimeout(t *testing.T) {
	a := agent(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c := speak(t, a, REST10, Options{Timeout: 10 * time.Millisecond})
	expect.Error(t, "got an answer, want a timeout", expect.Err(c.Get(t.Context(), "t", nil)))
	expect.Error(t, "got a stream, want a timeout", drain(c.Subscribe(t.Context(), "t")))
}

func TestNoProxyOnLoopback(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://proxy.invalid:1")
	for _, host := range []string{"localhost:80", "127.0.0.1:80", "[::1]:80", "127.9.9.9"} {
		r := must.Get(http.NewRequestWithContext(t.Context(), "GET", "http://"+host+"/", nil))(t)
		if u, err := proxyBeyondLoopback(r); u != nil || err != nil {
			t.Errorf("%s: got %v, %v, want no proxy", host, u, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	a := agent(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/a") {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		reply(200, "application/json", taskResult)(w, r)
	})
	c := speak(t, a, REST10, Options{})
	if _, err := c.Get(t.Context(), "t", nil); err != nil {
		t.Errorf("get: %v, want the redirect followed", err)
	}
	_, err := c.Send(t.Context(), Text("x"), SendOptions{})
	if refused := new(Error); !errors.As(err, &refused) || refused.HTTPStatus != 307 {
		t.Errorf("send: got %v, want the redirect as an answer", err)
	}
}

// Operations that are not operations on a task are refused.
func TestAskNothing(t *testing.T) {
	c := must.Get(New(Interface{URL: "http://127.0.0.1:9", Protocol: REST10}, Options{}))(t)
	expect.Error(t, "the card is no operation on a task", c.Ask(t.Context(), a2a.GetCard, &Task{}))
}
