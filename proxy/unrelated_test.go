package proxy_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// Calls of models and MCP servers are recorded by what they are, unless only A2A is wanted, and never make their server
// an agent of which everything is recorded.
func TestCallsBesideA2A(t *testing.T) {
	const (
		prompt = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
		tool   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather"}}`
		other  = `{"plan":"x"}`
	)
	packed := gzipped(t, tool)
	for _, tt := range []struct {
		name, path, coding, ask string
		kept, strict            bool // recorded with bodies; also with OnlyA2A
	}{
		{"a model, by its path", "/v1/chat/completions", "", prompt, true, false},
		{"a model, by its path, with a prompt that cannot be read", "/v1/chat/completions", "gzip", "x", true, false},
		{"a model, by its shape", "/think", "", prompt, true, false},
		{"a model, by its shape, compressed", "/think", "gzip", gzipped(t, prompt), true, false},
		{"a tool", "/mcp", "", tool, true, false},
		{"a tool, compressed", "/mcp", "gzip", packed, true, false},
		{"another protocol over JSON-RPC", "/rpc", "", `{"jsonrpc":"2.0","id":1,"method":"x"}`, true, true},
		{"a call, compressed", "/rpc", "gzip", gzipped(t, `{"jsonrpc":"2.0","params":{"message":{"messageId":"m"}}}`), true, true},
		{"A2A 0.3 over gRPC", "/a2a.v1.A2AService/GetTask", "", "", true, true},
		{"something else, compressed", "/x", "gzip", gzipped(t, other), false, false},
	} {
		for _, scope := range []recording.Scope{recording.Recognized, recording.OnlyA2A} {
			t.Run(fmt.Sprint(tt.name, scope), func(t *testing.T) {
				agent := way{}.agent(t, func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					w.Header().Set("Content-Type", "application/json")
					io.WriteString(w, `{}`)
				})
				f := newForwardRig(t, func(o *proxy.Options) { o.Forward.Bodies = scope })
				for _, ask := range [][3]string{{tt.path, tt.coding, tt.ask}, {"/x", "", other}} {
					req := must.Get(http.NewRequestWithContext(t.Context(), "POST", agent.URL+ask[0], strings.NewReader(ask[2])))(t)
					if ask[1] != "" {
						req.Header.Set("Content-Encoding", ask[1])
					}
					if ask[2] == "" {
						req.Header.Set("Content-Type", "application/grpc")
					}
					resp := must.Get(f.client("").Do(req))(t)
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				record, kept := f.record(), tt.kept
				if scope == recording.OnlyA2A {
					kept = tt.strict
				}
				if got := string(record[0].Request.Body.Data) == tt.ask && len(record[0].Response.Body.Data) == 2; got != kept {
					t.Errorf("recorded with bodies: %v, want %v", got, kept)
				}
				if more := len(record[1].Request.Body.Data) > 0; more && !tt.strict {
					t.Error("another exchange with the server is recorded with its body")
				}
			})
		}
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Get(io.WriteString(w, text))(t)
	must.Do(t, w.Close())
	return b.String()
}

// What has nothing to do with A2A passes the forward proxy with its bodies unrecorded; A2A is recorded whole, by what
// the request says, by what the answer says, and by who has answered in A2A before.
func TestOnlyA2AIsKept(t *testing.T) {
	const (
		prompt  = `{"model":"m","messages":[{"role":"user","content":"a secret plan"}]}`
		call    = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}`
		event   = "data: {\"choices\":[{\"delta\":\"a secret answer\"}]}\n\n"
		update  = "data: {\"result\":{\"statusUpdate\":{}}}\n\n"
		card    = `{"name":"b","defaultInputModes":["text/plain"],"skills":[]}`
		asJSON  = "application/json"
		asEvent = "text/event-stream"
		asHTML  = "text/html"
	)
	long := strings.Repeat(" ", 100<<10)
	for _, tt := range []struct {
		name, method, path, header, ask, kind, say string
		kept                                       bool
	}{
		{"a model", "POST", "/v1/chat", "", prompt, asJSON, `{"choices":[]}`, false},
		{"a model's stream", "POST", "/v1/chat", "", prompt, asEvent, event + event, false},
		{"a page", "GET", "/", "", "", asHTML, "<p>jsonrpc</p>", false},
		{"a form", "POST", "/login", "", "user=u&password=p", asHTML, "<p>in</p>", false},
		{"much", "POST", "/v1/chat", "", prompt + long, asJSON, `{}`, false},
		{"no answer's body", "POST", "/v1/chat", "", prompt, "", "", false},
		{"a call", "POST", "/rpc", "", call, asJSON, `{"jsonrpc":"2.0","id":1,"result":{}}`, true},
		{"a call that is answered by a page", "POST", "/rpc", "", call, asHTML, "<p>down</p>", true},
		{"a call late in the body", "POST", "/rpc", "", long[:50<<10] + call, asJSON, `{}`, true},
		{"a route", "POST", "/x/message:send", "", `{"odd":1}`, asJSON, `{"odd":2}`, true},
		{"a version", "POST", "/x", "A2A-Version", `{"odd":1}`, asJSON, `{"odd":2}`, true},
		{"a card at any path", "GET", "/agents/7", "", "", asJSON, card, true},
		{"a well-known card", "GET", "/.well-known/agent-card.json", "", "", asHTML, "<p>none</p>", true},
		{"events of a task", "POST", "/x", "", `{"odd":1}`, asEvent, update, true},
		{"a notification", "POST", "/hook", "X-A2A-Notification-Token", `{"id":"t"}`, "", "", true},
		{"compressed", "POST", "/x", "Content-Encoding", "\x1f\x8b", asJSON, `{}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			agent := way{}.agent(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if tt.kind == "" {
					w.WriteHeader(http.StatusNoContent)
					return
				}
				w.Header().Set("Content-Type", tt.kind)
				io.WriteString(w, tt.say)
			})
			f := newForwardRig(t, func(o *proxy.Options) { o.Forward.Bodies = recording.OnlyA2A })
			// A second exchange with the same agent has no sign of its own, and is kept if the first one is.
			for _, ask := range []struct{ method, path, header, body string }{
				{tt.method, tt.path, tt.header, tt.ask}, {"POST", "/v1/chat", "", prompt},
			} {
				req, err := http.NewRequestWithContext(t.Context(), ask.method, agent.URL+ask.path, strings.NewReader(ask.body))
				must.Do(t, err)
				if ask.header != "" {
					req.Header.Set(ask.header, "gzip")
				}
				resp := must.Get(f.client("").Do(req))(t)
				said, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || string(said) != tt.say {
					t.Errorf("the client got %q, %v", said, err)
				}
			}
			record := f.record()
			if len(record) != 2 {
				t.Fatalf("%d exchanges", len(record))
			}
			expectBodies(t, record[0], tt.ask, tt.say, tt.kept)
			expectBodies(t, record[1], prompt, tt.say, tt.kept)
			want := uint64(0)
			if !tt.kept {
				want = 2
				if tt.ask+tt.say == "" {
					want = 1
				}
			}
			if got := f.recorder.Stats().Unrelated; got != want {
				t.Errorf("%d counted as unrelated, want %d", got, want)
			}
		})
	}
}

func expectBodies(t *testing.T, x *capture.Exchange, ask, say string, kept bool) {
	t.Helper()
	for _, b := range []struct {
		of   string
		body capture.Body
		text string
	}{{"request", x.Request.Body, ask}, {"answer", answerBody(x), say}} {
		missing := int64(len(b.text))
		if kept {
			missing = 0
		}
		switch {
		case kept && string(b.body.Data) != b.text, !kept && len(b.body.Data) > 0:
			t.Errorf("exchange %d, %s: %q is recorded", x.Seq, b.of, b.body.Data)
		case b.body.Dropped != missing || !b.body.Complete:
			t.Errorf("exchange %d, %s: %d of %d bytes dropped, complete %v", x.Seq, b.of, b.body.Dropped, len(b.text),
				b.body.Complete)
		}
	}
	if said := strings.Contains(fmt.Sprint(x.Notes), "--all-traffic"); said == (kept || ask+say == "") {
		t.Errorf("exchange %d: notes %q", x.Seq, x.Notes)
	}
	if x.Lost > 0 || x.State != capture.StateClosed {
		t.Errorf("exchange %d: %d lost, %v", x.Seq, x.Lost, x.State)
	}
}

// answerBody returns an answer's body, of a stream what its events were.
func answerBody(x *capture.Exchange) capture.Body {
	b := x.Response.Body
	var events bytes.Buffer
	for _, e := range x.Response.Events {
		events.Write(e.Raw)
	}
	if events.Len() > 0 {
		b.Data = events.Bytes()
	}
	return b
}
