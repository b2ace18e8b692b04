package proxy_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// someCard is a card that is known by what it is.
const someCard = `{"name":"Booker","description":"d","version":"1","protocolVersion":"0.3.0","url":"http://ADDR/a2a",` +
	`"capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[{"id":"s","name":"S","tags":[]}]}`

// A card is rewritten wherever it is served, and however; what only resembles one passes as it came.
func TestCardsAtAnyPath(t *testing.T) {
	list := `{"agents":[` + someCard + `]}`
	tests := []struct {
		name, ask, fields, head, body string
		rewritten                     bool
	}{
		{"base", "GET /", "", "", someCard, true},
		{"with a query", "GET /a2a?card=1&v=2", "", "", someCard, true},
		{"anywhere", "GET /agents/booker.json", "Accept: application/json\r\n", "", someCard, true},
		{"any type", "GET /", "Accept: text/html, */*;q=0.1\r\n", "", someCard, true},
		{"blank space first", "GET /", "", "", "\ufeff \r\n\t" + someCard, true},
		{"1.0", "GET /", "", "", `{"name":"b","version":"1","capabilities":{},"skills":[],"supportedInterfaces":` +
			`[{"url":"http://ADDR/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, true},
		{"its type has a suffix", "GET /", "", "Content-Type: application/a2a+json\r\n", someCard, true},
		{"a list of agents", "GET /agents", "", "", list, false},
		{"an array", "GET /agents", "", "", `[` + someCard + `]`, false},
		{"a status", "GET /health", "", "", `{"name":"b","version":"1","url":"http://ADDR/","status":"up"}`, false},
		{"an operation", "GET /tasks/t1", "", "", someCard, false},
		{"an operation below", "GET /v1/tasks/t1/pushNotificationConfigs", "", "", someCard, false},
		{"another method", "PUT /", "", "", someCard, false},
		{"not wanted", "GET /", "Accept: text/html\r\n", "", someCard, false},
		{"no JSON by its type", "GET /", "", "Content-Type: text/plain\r\n", someCard, false},
		{"no type", "GET /", "", "Content-Type:\r\n", someCard, false},
		{"a part", "GET /", "Range: bytes=0-9\r\n", "Content-Range: bytes 0-9/99\r\n", someCard, false},
		{"not JSON", "GET /", "", "", someCard + "}", false},
		{"skills of another kind", "GET /", "", "", strings.Replace(someCard, `[{"id":"s","name":"S","tags":[]}]`,
			`["s"]`, 1), false},
		{"JSON-RPC", "GET /", "", "", `{"jsonrpc":"2.0",` + someCard[1:], false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			agent := newRawAgent(t, "")
			head := test.head
			if head == "" {
				head = "Content-Type: application/json\r\n"
			}
			body := agent.expand(test.body)
			answer := fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
			agent.answer = func(string, string) string { return answer }
			r := newRig(t, nil, "http://"+agent.addr+"/a2a")
			tap := r.tap(0).Addr()
			got := cardRequestOf(t, tap, test.ask+" HTTP/1.1\r\nHost: "+tap+"\r\nConnection: close\r\n"+test.fields+"\r\n")
			want := answer
			if test.rewritten {
				want = fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", head,
					len(body)+len(tap)-len(agent.addr), strings.ReplaceAll(body, agent.addr, tap))
			}
			expect.Equal(t, "", want, got)
			if asked := agent.asked(); strings.Contains(asked, "identity") || strings.Contains(asked, "Range") !=
				strings.Contains(test.fields, "Range") {
				t.Errorf("what is not known to be a card was asked for as one: %q", asked)
			}
			x := r.record()[0]
			if string(x.Response.Body.Data) != body || (len(x.Rewrites) > 0) != test.rewritten {
				t.Errorf("recorded %q with rewrites %v", x.Response.Body.Data, x.Rewrites)
			}
		})
	}
}

// A compressed card is read, and rewritten without its coding. What cannot be read passes as it came.
func TestCompressedCardAtAnyPath(t *testing.T) {
	agent := newRawAgent(t, "")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, agent.expand(someCard))
	w.Close()
	bodies := map[string]string{"/": packed.String(), "/odd": "no gzip"}
	agent.answer = func(_, target string) string {
		body := bodies[target]
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"+
			"ETag: \"e\"\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	r := newRig(t, nil, "http://"+agent.addr)
	tap := r.tap(0).Addr()
	ask := func(target string) string {
		return cardRequestOf(t, tap, "GET "+target+" HTTP/1.1\r\nHost: "+tap+"\r\nAccept-Encoding: gzip\r\n"+
			"Connection: close\r\n\r\n")
	}
	got := ask("/")
	want := strings.ReplaceAll(agent.expand(someCard), agent.addr, tap)
	if bodyOf(got) != want || strings.Contains(got, "gzip") || !strings.Contains(got, `"e-a2atap-`) {
		t.Errorf("got %q, want the card %q", got, want)
	}
	expect.Equal(t, "", agent.answer("", "/odd"), ask("/odd"))
	if x := r.record()[1]; len(x.Notes)+len(x.Rewrites) > 0 {
		t.Errorf("what is no card has notes %q and rewrites %v", x.Notes, x.Rewrites)
	}
}

// Once a card was found at a path, it is asked for there as at a path that is known: whole, readable, and by the tag
// that the agent gave it. A client shows by its tag that it has a card, also to a tap that has not seen it.
func TestCardFoundAgain(t *testing.T) {
	agent := newRawAgent(t, "")
	card := agent.expand(someCard)
	agent.answer = func(method, _ string) string {
		if strings.Contains(agent.asked(), `If-None-Match: "e"`) {
			return "HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\n\r\n"
		}
		body := card
		if method == "HEAD" {
			body = ""
		}
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nETag: \"e\"\r\nContent-Length: %d\r\n\r\n%s",
			len(card), body)
	}
	ask := func(r *rig, method, fields string) string {
		tap := r.tap(0).Addr()
		return cardRequestOf(t, tap, method+" /card?v=1 HTTP/1.1\r\nHost: "+tap+"\r\nConnection: close\r\n"+fields+"\r\n")
	}
	r := newRig(t, nil, "http://"+agent.addr)
	if got := ask(r, "HEAD", ""); !strings.Contains(got, "Content-Length") || strings.Contains(got, "a2atap") {
		t.Errorf("the head of what is not known to be a card was changed: %q", got)
	}
	first := ask(r, "GET", "")
	_, tag, _ := strings.Cut(first, "ETag: ")
	tag, _, _ = strings.Cut(tag, "\r\n")
	if !strings.Contains(tag, "-a2atap-") {
		t.Fatalf("got %q", first)
	}
	if got := ask(r, "GET", "If-None-Match: "+tag+"\r\n"); !strings.HasPrefix(got, "HTTP/1.1 304") ||
		!strings.Contains(got, "ETag: "+tag) {
		t.Errorf("got %q", got)
	}
	if got := ask(r, "GET", "Range: bytes=0-3\r\n"); got != first || strings.Contains(agent.asked(), "Range") {
		t.Errorf("got %q for a part of it", got)
	}
	if got := ask(r, "HEAD", ""); strings.Contains(got, "Content-Length") || !strings.Contains(got, tag) {
		t.Errorf("got %q for its head", got)
	}
	// The mark of an entity tag depends on the addresses that are put in: a card is not confirmed after a tap has moved.
	other := newRig(t, nil, "http://"+agent.addr)
	if got := ask(other, "GET", "If-None-Match: "+tag+"\r\n"); !strings.Contains(got, other.tap(0).Addr()) ||
		strings.Contains(got, tag) || !strings.Contains(agent.asked(), "If-None-Match: "+tag) {
		t.Errorf("got %q from another tap, which asked\n%s", got, agent.asked())
	}
}

// An answer that may be a card is held only until it proves not to be one, and for a bounded time.
func TestAnswersAreNotHeldUp(t *testing.T) {
	t.Parallel()
	const begin = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, first := range map[string]string{
		"no object": "5\r\n[1,2,\r\n",
		"endless":   "8\r\n{\"a\": 1,\r\n",
		"silent":    "",
		"card":      fmt.Sprintf("%x\r\n%s\r\n", len(someCard)-1, someCard[:len(someCard)-1]),
	} {
		t.Run(name, func(t *testing.T) {
			listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			defer listener.Close()
			more := make(chan struct{})
			served := make(chan struct{})
			go func() {
				defer close(served)
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				io.ReadAtLeast(conn, make([]byte, 1000), 10)
				io.WriteString(conn, begin+first)
				<-more
				io.WriteString(conn, "1\r\n}\r\n0\r\n\r\n")
			}()
			r := newRig(t, nil, "http://"+listener.Addr().String())
			answer := must.Get(newClient(t).Get("http://" + r.tap(0).Addr() + "/progress"))(t)
			defer answer.Body.Close()
			want := bodyOf(first)
			if _, data, ok := strings.Cut(first, "\r\n"); ok {
				want = strings.TrimSuffix(data, "\r\n")
			}
			got := make([]byte, len(want))
			if _, err := io.ReadFull(answer.Body, got); err != nil || string(got) != want {
				t.Errorf("got %q, %v before the answer was complete, want %q", got, err, want)
			}
			close(more)
			if rest, err := io.ReadAll(answer.Body); err != nil || string(rest) != "}" {
				t.Errorf("then %q, %v", rest, err)
			}
			<-served
			x := r.record()[0]
			if string(x.Response.Body.Data) != want+"}" || x.Fault != nil {
				t.Errorf("recorded %q, %v", x.Response.Body.Data, x.Fault)
			}
			if told := len(x.Notes) > 0; told != (name == "card") {
				t.Errorf("notes %q", x.Notes)
			}
		})
	}
}

// A connection continues normally after an answer that was held for too long, also with a bound on answers.
func TestAfterAnAnswerThatTookLong(t *testing.T) {
	t.Parallel()
	slow := make(chan struct{})
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, "{")
		if r.URL.Path == "/slow" {
			w.(http.Flusher).Flush()
			<-slow
		}
		io.WriteString(w, "}")
	})
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.AnswerTimeout = must.Patience }, agent.URL)
	client := newClient(t)
	answer := must.Get(client.Get(r.tap(0).URL() + "/slow"))(t)
	close(slow)
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "{}" {
		t.Errorf("got %q, %v", text, err)
	}
	answer.Body.Close()
	for range 3 {
		if _, text := get(t, client, r.tap(0).URL()+"/quick"); text != "{}" {
			t.Errorf("got %q", text)
		}
	}
	for _, x := range r.record() {
		if x.Fault != nil || x.State != capture.StateClosed || x.Conn != 1 {
			t.Errorf("%+v: %v", x, x.Fault)
		}
	}
}
