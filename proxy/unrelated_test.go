package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

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
		{"compressed", "POST", "/x", "Content-Encoding", "\x1f\x8b", asJSON, `{}`, true},
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
			f := newForwardRig(t, func(o *proxy.Options) { o.Forward.OnlyA2A = true })
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
