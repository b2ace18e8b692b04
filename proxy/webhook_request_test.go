package proxy_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
	"a2atap/proxy/webhook"
)

// configRequests are requests that carry the config of a webhook, HOOK, in all dialects, bindings and places.
var configRequests = []struct{ name, target, body string }{
	{
		"1.0 create", "/", `{"jsonrpc":"2.0", "id":1,"method":"CreateTaskPushNotificationConfig",` +
			`"params":{ "taskId":"t1","url" : "HOOK","token":"x"}}` + "\n",
	},
	{
		"1.0 send", "/", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m",` +
			`"role":"ROLE_USER","parts":[{"url":"http://127.0.0.1:1/file","text":"HOOKS"}]},"configuration":` +
			`{"taskPushNotificationConfig":{"url":"HOOK"}}}}`,
	},
	{
		"1.0 create, HTTP+JSON", "/v1/tasks/t1/pushNotificationConfigs",
		`{"id":"p1","url":"HOOK","authentication":{"scheme":"Bearer","credentials":"c"}}`,
	},
	{
		"1.0 send, HTTP+JSON", "/message:stream", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]},` +
			`"configuration":{"taskPushNotificationConfig":{"url":"HOOK"}}}`,
	},
	{
		"0.3 set", "/", `{"jsonrpc":"2.0","id":"1","method":"tasks/pushNotificationConfig/set","params":{"taskId":"t1",` +
			`"pushNotificationConfig":{"url":"HOOK"}}}`,
	},
	{
		"0.3 stream", "/", `{"jsonrpc":"2.0","id":"1","method":"message/stream","params":{"message":{"kind":"message",` +
			`"messageId":"m","role":"user","parts":[]},"configuration":{"pushNotificationConfig":{"url":"HOOK"}}}}`,
	},
	{
		"0.3 set, HTTP+JSON", "/v1/tasks/t1/pushNotificationConfigs",
		`{"taskId":"t1","pushNotificationConfig":{"url":"HOOK"}}`,
	},
	{
		"0.3 set, proto JSON", "/v1/tasks/t1/pushNotificationConfigs",
		`{"parent":"tasks/t1","configId":"c","config":{"name":"tasks/t1/pushNotificationConfigs/c",` +
			`"push_notification_config":{"url":"HOOK"}}}`,
	},
	{
		"0.3 send, proto JSON", "/v1/message:send", `{"request":{"messageId":"m","role":"ROLE_USER","content":[]},` +
			`"configuration":{"push_notification":{"url":"HOOK"}}}`,
	},
	{
		"0.2 set", "/", `{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotification/set","params":{"id":"t1",` +
			`"pushNotificationConfig":{"url":"HOOK"}}}`,
	},
	{
		"0.1 send", "/", `{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t1","message":{"role":"user",` +
			`"parts":[]},"pushNotification":{"url":"HOOK","token":"x"}}}`,
	},
	{
		"0.1 stream", "/", `{"jsonrpc":"2.0","id":1,"method":"tasks/sendSubscribe","params":{"id":"t1","message":{"role":` +
			`"user","parts":[]},"pushNotification":{"url":"HOOK"}}}`,
	},
	{
		"before 0.1", "/", `{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotification/set","params":{"taskId":"t1",` +
			`"config":{"url":"HOOK","events":["status"]}}}`,
	},
	{
		"two in one body", "/", `[{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/set","params":{"taskId":` +
			`"t1","pushNotificationConfig":{"url":"HOOK"}}},{"jsonrpc":"2.0","id":2,"method":"message/send","params":` +
			`{"message":{"kind":"message","messageId":"m","role":"user","parts":[]},"configuration":` +
			`{"pushNotificationConfig":{"url":"HOOK"}}}}]`,
	},
	{"twice", "/", `{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"taskId":"t",` +
		`"url":"HOOK","url":"HOOK"}}`},
}

// In each request only the tokens of the URLs change, whether its length is declared or not. The record has the
// client's original, and also what was written instead.
func TestWebhookURLsAreReplaced(t *testing.T) {
	for _, test := range configRequests {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/chunked %v", test.name, chunked), func(t *testing.T) {
				hook := newTaker(t, nil)
				agent := newTaker(t, nil)
				r := newRig(t, withWebhooks, "booker="+agent.URL)
				to := hook.URL + "/h?x=1"
				body := strings.ReplaceAll(test.body, "HOOK\"", to+"\"")
				var reader io.Reader = strings.NewReader(body)
				if chunked {
					reader = io.MultiReader(strings.NewReader(body[:len(body)/2]), strings.NewReader(body[len(body)/2:]))
				}
				fetch(t, newClient(t), "POST", strings.TrimSuffix(r.tap(0).URL(), "/")+test.target, reader,
					"Content-Type", "application/json", "User-Agent", "planner/1")
				got := agent.last(t)
				addresses := given(got)
				if len(addresses) == 0 {
					t.Fatalf("the agent got %s", got)
				}
				for _, a := range addresses {
					got = strings.Replace(got, a, to, 1)
				}
				if want := "POST " + test.target + " " + body; got != want {
					t.Errorf("with the webhook's URL put back the agent got\n%s, want\n%s", got, want)
				}
				if declared := agent.length[0]; chunked != (declared == -1) {
					t.Errorf("the agent was told %d bytes", declared)
				}
				x := r.record()[0]
				expect.Equal(t, fmt.Sprintf("recorded is %s", x.Request.Body.Data), body, string(x.Request.Body.Data))
				var now []string
				for _, w := range x.Rewrites {
					if strings.HasPrefix(w.Place, "request.body#/") && strings.HasSuffix(w.Place, "/url") && w.Was == to {
						now = append(now, w.Now)
					}
				}
				expect.Same(t, "rewrites", addresses, now)
			})
		}
	}
}

// What names no webhook, and what cannot be read, passes byte for byte.
func TestRequestsWithoutWebhooks(t *testing.T) {
	agent := newTaker(t, nil)
	r := newRig(t, withWebhooks, "booker="+agent.URL)
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"parts":[{"text":"pushNotification"}]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"GetTaskPushNotificationConfig","params":{"taskId":"t1","id":"p1"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"taskId":"t1","url":"no URL"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"url":7}}`,
		`{"method":"CreateTaskPushNotificationConfig","params":{"url":"http://127.0.0.1:1/"`,
		`pushNotificationConfig`,
		``,
	} {
		post(t, newClient(t), r.tap(0).URL(), body)
		if got := agent.last(t); got != "POST / "+body {
			t.Errorf("the agent got %q, want %q", got, body)
		}
	}
}

// If a webhook cannot be led through the tap, its URL passes as it came, and the link reports that.
func TestWebhooksNotObserved(t *testing.T) {
	const local = "http://127.0.0.1:9/h"
	zipped := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		io.WriteString(w, s)
		w.Close()
		return b.String()
	}
	long := strings.Replace(setConfig(local), `"t1"`, `"`+strings.Repeat("x", 1<<20)+`"`, 1)
	tests := []struct {
		name, body string
		header     []string
		want       string
	}{
		{"https", setConfig("https://127.0.0.1:9/h"), nil, "the webhook is not on plain HTTP; set --webhook-url to a URL"},
		{"elsewhere", setConfig("http://hooks.example/h"), nil, "the webhook is not on this machine; set --webhook-url"},
		{"no URL", setConfig("ftp://127.0.0.1/"), nil, "the webhook has no http or https URL"},
		{"too long", setConfig(local + strings.Repeat("x", 3000)), nil, "is too long"},
		{"compressed", zipped(setConfig(local)), []string{"Content-Encoding", "gzip"}, "is compressed"},
		{"a large request", long, nil, "has more than 1048576 bytes"},
		{"Expect", setConfig(local), []string{"Expect", "100-continue"}, "waits for 100"},
		{"a digest", setConfig(local), []string{"Content-Digest", "sha-256=:x:"}, "has a digest"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			agent := newTaker(t, nil)
			r := newRig(t, withWebhooks, "booker="+agent.URL)
			for range 2 {
				post(t, newClient(t), r.tap(0).URL(), test.body, test.header...)
				expect.Equal(t, "the agent", "POST / "+test.body, agent.last(t))
			}
			if got := r.notice(); !strings.HasPrefix(got, "planner → booker: webhooks not observed: ") ||
				!strings.Contains(got, test.want) {
				t.Errorf("notice %q, want %q", got, test.want)
			}
			if notes := noted(r.record()); strings.Count(notes, capture.WebhooksNotObserved) != 2 {
				t.Errorf("noted is %q, want it with each exchange", notes)
			}
			if len(r.noticed) > 0 {
				t.Errorf("a second notice: %s", <-r.noticed)
			}
		})
	}
}

// Where webhooks are left as they are, every one whose notifications no tap sees is noted, and nothing is held.
func TestWebhooksLeft(t *testing.T) {
	left := func(o *proxy.Options, _ *recording.Options) {
		o.Webhooks = &webhook.Spec{Key: hookKey, Leave: "it stays"}
	}
	const local = "http://127.0.0.1:9/h"
	for name, test := range map[string]struct {
		body  string
		noted int
	}{
		"on this machine": {setConfig(local), 1},
		"elsewhere":       {setConfig("https://hooks.example/h"), 1},
		"with a message": {`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{},"configuration":{` +
			`"taskPushNotificationConfig":{"url":"` + local + `"}}}}`, 1},
		"none": {`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t1"}}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			agent := newTaker(t, nil)
			r := newRig(t, left, "booker="+agent.URL)
			post(t, newClient(t), r.tap(0).URL(), test.body)
			expect.Equal(t, "the agent", "POST / "+test.body, agent.last(t))
			notes := noted(r.record())
			if strings.Count(notes, capture.WebhooksNotObserved+"it stays") != test.noted {
				t.Errorf("noted is %q, want it %d times", notes, test.noted)
			}
		})
	}
}

// A request without a declared length that grows too large while it is held passes as it came.
func TestHeldRequestTooLarge(t *testing.T) {
	agent := newTaker(t, nil)
	r := newRig(t, withWebhooks, "booker="+agent.URL)
	body := setConfig("http://127.0.0.1:9/h")[:100] + strings.Repeat(" ", 1<<20) + setConfig("http://127.0.0.1:9/h")[100:]
	fetch(t, newClient(t), "POST", r.tap(0).URL(), io.MultiReader(strings.NewReader(body)), "Content-Type",
		"application/json")
	if got := agent.last(t); got != "POST / "+body {
		t.Errorf("the agent got %d bytes, want %d", len(got), len(body))
	}
	expect.Contains(t, "noted", "has more than 1048576 bytes", noted(r.record()))
}

// An agent can refuse a request before it is complete: a body that comes in pieces is not held where its beginning shows
// that no webhook has to be changed, and else for no longer than it takes to see that it comes slowly.
func TestEarlyRefusals(t *testing.T) {
	t.Parallel()
	send := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{`
	for _, test := range []struct {
		name, target, kind, begun string
		said                      string // of webhooks, if the rest names one
	}{
		{"another operation", "/", "application/json", `{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{`, ""},
		{"another route", "/tasks/t1:cancel", "application/json", `{"metadata":{`, ""},
		{"no type, no JSON", "/", "", "name,", ""},
		{"a message", "/", "application/json", send, "took longer than 500ms"},
		{"nothing yet", "/", "application/json", "", "took longer than 500ms"},
	} {
		for _, framing := range []string{"Content-Length: 1000", "Transfer-Encoding: chunked"} {
			t.Run(test.name+"/"+framing, func(t *testing.T) {
				agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
					now := http.NewResponseController(w)
					now.EnableFullDuplex() //nolint:errcheck // a failure shows
					w.WriteHeader(http.StatusRequestEntityTooLarge)
					now.Flush()                 //nolint:errcheck // the same
					io.Copy(io.Discard, r.Body) //nolint:errcheck // what came is in the record
				})
				r := newRig(t, withWebhooks, "booker="+agent.URL)
				conn := must.Get(net.Dial("tcp", r.tap(0).Addr()))(t)
				defer conn.Close()
				piece := func(text string) string {
					if text != "" && strings.HasPrefix(framing, "Transfer") {
						text = fmt.Sprintf("%x\r\n%s\r\n", len(text), text)
					}
					return text
				}
				kind := "Content-Type: " + test.kind + "\r\n"
				if test.kind == "" {
					kind = ""
				}
				write(t, conn, "POST "+test.target+" HTTP/1.1\r\nHost: "+r.tap(0).Addr()+"\r\n"+kind+framing+"\r\n\r\n")
				write(t, conn, piece(test.begun))
				conn.SetReadDeadline(time.Now().Add(must.Patience)) //nolint:errcheck // a failure shows
				answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge {
					t.Fatalf("the client got %v, %v, while its request was not complete", answer, err)
				}
				rest := `"configuration":{"taskPushNotificationConfig":{"url":"http://127.0.0.1:9/h"}}}}`
				if test.begun == "" {
					rest = send + rest
				}
				write(t, conn, piece(rest+strings.Repeat(" ", 1000-len(test.begun)-len(rest))))
				if strings.HasPrefix(framing, "Transfer") {
					write(t, conn, "0\r\n\r\n")
				}
				if _, err := io.ReadAll(answer.Body); err != nil { // the agent reads to the end first
					t.Error(err)
				}
				x := r.record()[0]
				expect.Equal(t, fmt.Sprintf("recorded is %q", x.Request.Body.Data), 1000, x.Request.Body.Size)
				if notes := strings.Join(x.Notes, "\n"); !strings.Contains(notes, test.said) || test.said == "" && notes != "" {
					t.Errorf("noted is %q, want %q", notes, test.said)
				}
			})
		}
	}
}

// With an address that agents reach, all webhooks are led through the tap.
func TestWebhookURL(t *testing.T) {
	agent := newTaker(t, nil)
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) {
		o.Webhooks = &webhook.Spec{Key: hookKey, URL: parseURL(t, "https://tunnel.example")}
	}, "booker="+agent.URL)
	for _, hook := range []string{"https://hooks.example/h", "http://127.0.0.1:9/h", "http://u:p@127.0.0.1:9/"} {
		got := configure(t, r.tap(0), agent, hook)
		want := "https://tunnel.example/.a2atap/webhook/"
		if strings.Contains(hook, "@") {
			want = "https://u:p@tunnel.example/.a2atap/webhook/"
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("the agent was given %s", got)
		}
	}
}

// Cards and webhooks pass as they come where nothing is to be rewritten.
func TestNoRewriteOfWebhooks(t *testing.T) {
	agent := newTaker(t, nil)
	r := newRig(t, func(o *proxy.Options, ro *recording.Options) {
		withWebhooks(o, ro)
		o.NoRewrite = true
	}, "booker="+agent.URL)
	body := setConfig("http://127.0.0.1:9/h")
	post(t, newClient(t), r.tap(0).URL(), body)
	expect.Equal(t, "the agent", "POST / "+body, agent.last(t))
}

// Whatever type an agent gives to its JSON, the client finds its own URL in it.
func TestAnswersOfAnyType(t *testing.T) {
	for _, kind := range []string{"application/json", "text/plain; charset=utf-8", "application/problem+json", ""} {
		t.Run(kind, func(t *testing.T) {
			const hook = "http://127.0.0.1:9/h"
			agent := newTaker(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = nil
				if kind != "" {
					w.Header().Set("Content-Type", kind)
				}
				io.Copy(w, r.Body)
			})
			r := newRig(t, withWebhooks, "booker="+agent.URL)
			resp, err := newClient(t).Post(r.tap(0).URL(), "application/json", strings.NewReader(setConfig(hook)))
			must.Do(t, err)
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err != nil || string(got) != setConfig(hook) {
				t.Errorf("the client got %s, %v", got, err)
			}
			expect.Equal(t, "the agent got "+agent.last(t), 1, len(given(agent.last(t))))
			if x := r.record()[0]; string(x.Response.Body.Data) != setConfig(hook) {
				t.Errorf("recorded is %s", x.Response.Body.Data)
			}
		})
	}
}

// Once webhooks are led through a tap, an answer that is slow in coming still begins to reach its client.
func TestSlowAnswersBegin(t *testing.T) {
	t.Parallel()
	begun, answer := make(chan struct{}), []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	agent := newTaker(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		body, _ := io.ReadAll(r.Body)
		w.Write(answer[:9])
		if bytes.Contains(body, []byte(`"GetTask"`)) {
			http.NewResponseController(w).Flush()
			<-begun
		}
		w.Write(answer[9:])
	})
	r := newRig(t, withWebhooks, "booker="+agent.URL)
	configure(t, r.tap(0), agent, "http://127.0.0.1:9/h")
	resp, err := newClient(t).Post(r.tap(0).URL(), "application/json",
		strings.NewReader(`{"jsonrpc":"2.0","id":2,"method":"GetTask","params":{"id":"t1"}}`))
	must.Do(t, err)
	defer resp.Body.Close()
	first := make([]byte, 9)
	_, err = io.ReadFull(resp.Body, first) // while the agent waits
	close(begun)
	rest, restErr := io.ReadAll(resp.Body)
	if err != nil || restErr != nil || string(first)+string(rest) != string(answer) {
		t.Errorf("the client got %s%s, %v, %v", first, rest, err, restErr)
	}
	expect.Contains(t, "noted", "took longer than", noted(r.record()))
}
