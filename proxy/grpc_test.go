package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// messageOf returns JSON as a message.
func messageOf(t *testing.T, of *grpc.Type, text string) []byte {
	t.Helper()
	return must.Get(of.FromJSON(jsondoc.Parse([]byte(text)).Root))(t)
}

// calls sends a message to a method through a client, and returns the message of the answer.
func calls(t *testing.T, client *http.Client, origin, path string, message []byte) []byte {
	t.Helper()
	request := must.Get(http.NewRequest("POST", origin+path, bytes.NewReader(grpc.AppendFrame(nil, message))))(t)
	request.Header.Set("Content-Type", "application/grpc")
	res := must.Get(client.Do(request))(t)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.Trailer.Get("Grpc-Status") != "0" {
		t.Fatalf("%v, trailer %v", err, res.Trailer)
	}
	frame, rest, ok := grpc.Cut(body)
	if !ok || !frame.Whole() || len(rest) > 0 {
		t.Fatalf("got %q", body)
	}
	return frame.Message
}

// respond answers a call of gRPC with a frame.
func respond(w http.ResponseWriter, frame []byte) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	w.Write(frame)
	w.Header().Set("Grpc-Status", "0")
}

// A card that comes over gRPC leads back to the tap, and nothing else of its message changes.
func TestCardOverGRPC(t *testing.T) {
	const unknown = "\xfa\x3e\x03abc" // field 1007
	for path, text := range map[string]string{
		"/lf.a2a.v1.A2AService/GetExtendedAgentCard": `{"name":"b","supportedInterfaces":[{"url":"https://else.example",` +
			`"protocolBinding":"JSONRPC"},{"url":"ADDR","protocolBinding":"GRPC"},{"url":"http://ADDR/x",` +
			`"protocolBinding":"JSONRPC"}],"version":"1","provider":{"url":"http://ADDR/p"}}`,
		"/a2a.v1.A2AService/GetAgentCard": `{"name":"b","url":"http://ADDR/x","version":"1","preferredTransport":"GRPC",` +
			`"additionalInterfaces":[{"url":"ADDR","transport":"GRPC"}],"provider":{"url":"http://ADDR/p"}}`,
	} {
		for _, rewrite := range []bool{true, false} {
			t.Run(fmt.Sprint(path, rewrite), func(t *testing.T) {
				method, _ := grpc.MethodOf(path)
				var card []byte
				agent := newHTTP2Agent(t, false, func(w http.ResponseWriter, _ *http.Request) {
					respond(w, grpc.AppendFrame(nil, card))
				})
				at := agent.Listener.Addr().String()
				expand := func(addr string) string { return strings.ReplaceAll(text, "ADDR", addr) }
				card = append(messageOf(t, method.Answer, expand(at)), unknown...)
				r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.NoRewrite = !rewrite }, "b="+agent.URL)
				got := calls(t, newHTTP2Client(t), r.tap(0).URL(), path, nil)
				x := r.record()[0]
				if events := x.Response.Events; len(events) != 1 || !bytes.Equal(events[0].Raw, grpc.AppendFrame(nil, card)) {
					t.Errorf("recorded %v", events)
				}
				if !rewrite {
					want := "b advertises " + at + " (gRPC), which is not tapped: traffic there is not observed"
					if !bytes.Equal(got, card) || !slices.Contains(x.Notes, want) {
						t.Errorf("got %q, notes %q", got, x.Notes)
					}
					return
				}
				// The address of the provider is never called, so it stays.
				to := strings.ReplaceAll(expand(r.tap(0).Addr()), "http://"+r.tap(0).Addr()+"/p", "http://"+at+"/p")
				expect.Same(t, "", append(messageOf(t, method.Answer, to), unknown...), got)
				expect.Equal(t, x.Rewrites, 2, len(now(x)))
			})
		}
	}
}

// Webhooks in messages of gRPC lead through the tap, to the agent and back in what it answers, and the rest of the
// messages stays as it came.
func TestWebhooksOverGRPC(t *testing.T) {
	const hook = "http://127.0.0.1:1/hook?a=b"
	for _, test := range []struct{ name, path, text, answer string }{
		{
			"1.0 create", "/lf.a2a.v1.A2AService/CreateTaskPushNotificationConfig",
			`{"taskId":"t1","url":"HOOK","token":"HOOK/x"}`, `{"taskId":"t1","id":"p","url":"HOOK"}`,
		},
		{
			"1.0 send", "/lf.a2a.v1.A2AService/SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{` +
				`"url":"HOOK"}]},"configuration":{"taskPushNotificationConfig":{"url":"HOOK"}}}`, `{}`,
		},
		{
			"1.0 stream", "/lf.a2a.v1.A2AService/SendStreamingMessage",
			`{"configuration":{"taskPushNotificationConfig":{"id":"1","url":"HOOK"}}}`, `{"message":{"messageId":"m"}}`,
		},
		{
			"1.0 list", "/lf.a2a.v1.A2AService/ListTaskPushNotificationConfigs", `{"taskId":"t1"}`,
			`{"configs":[{"id":"a","url":"http://127.0.0.1:1/"},{"id":"b","url":"HOOK"}]}`,
		},
		{
			"0.3 create", "/a2a.v1.A2AService/CreateTaskPushNotificationConfig",
			`{"parent":"tasks/t1","configId":"c","config":{"name":"n","pushNotificationConfig":{"url":"HOOK"}}}`,
			`{"name":"n","pushNotificationConfig":{"id":"c","url":"HOOK"}}`,
		},
		{
			"0.3 send", "/a2a.v1.A2AService/SendMessage",
			`{"configuration":{"pushNotification":{"url":"HOOK"},"blocking":true}}`, `{}`,
		},
		{"send without", "/lf.a2a.v1.A2AService/SendMessage", `{"message":{"messageId":"HOOK"}}`, `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			method, _ := grpc.MethodOf(test.path)
			var ours string // that the agent was given in this or an earlier call
			asked := make(chan []byte, 1)
			agent := newHTTP2Agent(t, false, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if given := given(string(body)); len(given) > 0 {
					ours = given[0]
				}
				asked <- body[grpc.PrefixSize:]
				if r.URL.Path == test.path {
					w.Header().Set("Grpc-Encoding", "identity")
					respond(w, grpc.AppendFrame(nil, messageOf(t, method.Answer, strings.ReplaceAll(test.answer, "HOOK", ours))))
				} else {
					respond(w, grpc.AppendFrame(nil, nil))
				}
			})
			r := newRig(t, withWebhooks, "b="+agent.URL)
			client := newHTTP2Client(t)
			first := "/lf.a2a.v1.A2AService/CreateTaskPushNotificationConfig"
			create, _ := grpc.MethodOf(first)
			calls(t, client, r.tap(0).URL(), first, messageOf(t, create.Request, `{"taskId":"t0","url":"`+hook+`"}`))
			<-asked
			if !strings.HasPrefix(ours, "http://"+r.tap(0).Addr()+"/") {
				t.Fatalf("the agent was given %q", ours)
			}
			message := messageOf(t, method.Request, strings.ReplaceAll(test.text, "HOOK", hook))
			answer := calls(t, client, r.tap(0).URL(), test.path, message)
			want := messageOf(t, method.Request, strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(test.text,
				`"url":"HOOK"`, `"url":"`+ours+`"`), `"parts":[{"url":"`+ours, `"parts":[{"url":"`+hook), "HOOK", hook))
			expect.Same(t, "the agent", want, <-asked)
			want = messageOf(t, method.Answer, strings.ReplaceAll(test.answer, "HOOK", hook))
			expect.Same(t, "the client", string(want), string(answer))
			x := r.record()[1]
			if strings.Contains(test.text, `"url":"HOOK"`) && !slices.ContainsFunc(x.Rewrites, func(w capture.Rewrite) bool {
				return strings.HasPrefix(w.Place, "request.body#/") && w.Was == hook && w.Now == ours
			}) || len(x.Notes) > 0 {
				t.Errorf("recorded %v, %q", x.Rewrites, x.Notes)
			}
		})
	}
}

// A request that is too large to be held, or that belongs to an agent elsewhere, passes as it came. If it carries a
// config, or may carry one, the user gets a notice.
func TestWebhooksOverGRPCUnseen(t *testing.T) {
	path := "/lf.a2a.v1.A2AService/SendMessage"
	method, _ := grpc.MethodOf(path)
	config := `"configuration":{"taskPushNotificationConfig":{"url":"http://127.0.0.1:1/"}}`
	for name, test := range map[string]struct{ text, note string }{
		"too large": {`{"message":{"messageId":"` + strings.Repeat("x", 2<<20) + `"},` + config + `}`, "has more than"},
		"small":     {`{"message":{"messageId":"m"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan []byte, 1)
			agent := newHTTP2Agent(t, false, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked <- body[grpc.PrefixSize:]
				respond(w, grpc.AppendFrame(nil, nil))
			})
			r := newRig(t, withWebhooks, "b="+agent.URL)
			message := messageOf(t, method.Request, test.text)
			calls(t, newHTTP2Client(t), r.tap(0).URL(), path, message)
			if got := <-asked; !bytes.Equal(got, message) {
				t.Errorf("the agent got %d bytes, want %d", len(got), len(message))
			}
			if got := noted(r.record()); test.note == "" && got != "" || !strings.Contains(got, test.note) {
				t.Errorf("notes %q, want %q", got, test.note)
			}
		})
	}
}
