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
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// length returns an answer with this body.
func length(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nX-First: 1\r\ncontent-type: application/json\r\ncontent-LENGTH: "+
		"%d\r\nX-Last: 2\r\n\r\n%s", len(body), body)
}

// sized is length for bodies that contain ADDR and PORT.
func (a *rawAgent) sized(body string) func(string, string) string {
	answer := length(a.expand(body))
	return func(string, string) string { return answer }
}

// Only the tokens of URLs change, in all dialects and hybrids.
func TestOnlyURLTokensChange(t *testing.T) {
	tests := []struct{ name, card, want string }{
		{
			"0.1", `{ "name":"b" ,"url" : "http://ADDR/rpc?x=1#f", "version":"1" }` + "\n",
			`{ "name":"b" ,"url" : "http://TAP/rpc?x=1#f", "version":"1" }` + "\n",
		},
		{
			"0.3",
			`{"url":"http://ADDR/","preferredTransport":"JSONRPC","additionalInterfaces":[{"url":"http://ADDR/v1",` +
				`"transport":"HTTP+JSON"},{"transport":"JSONRPC","url":"http://ADDR"}]}`,
			`{"url":"http://TAP/","preferredTransport":"JSONRPC","additionalInterfaces":[{"url":"http://TAP/v1",` +
				`"transport":"HTTP+JSON"},{"transport":"JSONRPC","url":"http://TAP"}]}`,
		},
		{
			"1.0",
			`{"supportedInterfaces":[{"url":"http://ADDR/a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],` +
				`"iconUrl":"http://ADDR/i.png"}`,
			`{"supportedInterfaces":[{"url":"http://TAP/a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],` +
				`"iconUrl":"http://ADDR/i.png"}`,
		},
		{
			"hybrid, twice and elsewhere",
			`{"url":"http://ADDR/1","url":"http://ADDR/2","supportedInterfaces":[{"url":"http://ADDR/3"}],` +
				`"provider":{"url":"http://ADDR/p"},"documentationUrl":"http://ADDR/d",` +
				`"skills":[{"url":"http://ADDR/s"}]}`,
			`{"url":"http://TAP/1","url":"http://TAP/2","supportedInterfaces":[{"url":"http://TAP/3"}],` +
				`"provider":{"url":"http://ADDR/p"},"documentationUrl":"http://ADDR/d",` +
				`"skills":[{"url":"http://ADDR/s"}]}`,
		},
		{"escapes", `{"\u0075rl":"http:\/\/ADDR\/\u00e9?q=\"\\"}`, `{"\u0075rl":"http://TAP/é?q=\"\\"}`},
		{
			"loopback spellings",
			`{"additionalInterfaces":[{"url":"http://localhost:PORT"},{"url":"http://127.0.0.1:PORT/"},` +
				`{"url":"http://[::1]:PORT/x"},{"url":"HTTP://0.0.0.0:PORT/y"},{"url":"http://[::]:PORT"},` +
				`{"url":"https://LocalHost.:PORT"}]}`,
			`{"additionalInterfaces":[{"url":"http://TAP"},{"url":"http://TAP/"},{"url":"http://TAP/x"},` +
				`{"url":"http://TAP/y"},{"url":"http://TAP"},{"url":"http://TAP"}]}`,
		},
		{"user information", `{"url":"http://u:p@ADDR/x@y"}`, `{"url":"http://u:p@TAP/x@y"}`},
		{"byte order mark", "\ufeff" + `{"url":"http://ADDR/"}`, "\ufeff" + `{"url":"http://TAP/"}`},
		{"nothing to change", `{"url":"/relative","name":"ADDR"}`, `{"url":"/relative","name":"ADDR"}`},
		{"not an object", `["http://ADDR/"]`, `["http://ADDR/"]`},
		{
			"not a string", `{"url":{"url":"http://ADDR/"},"additionalInterfaces":"http://ADDR/"}`,
			`{"url":{"url":"http://ADDR/"},"additionalInterfaces":"http://ADDR/"}`,
		},
		{"not JSON", `{"url":"http://ADDR/",}`, `{"url":"http://ADDR/",}`},
		{"more than JSON", `{"url":"http://ADDR/"} {}`, `{"url":"http://ADDR/"} {}`},
		{"empty", ``, ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			agent := newRawAgent(t, "")
			agent.answer = agent.sized(test.card)
			r := newRig(t, nil, "booker=http://"+agent.addr+"/rpc")
			tap := r.tap(0).Addr()
			want := length(strings.ReplaceAll(agent.expand(test.want), "TAP", tap))
			expect.Same(t, "", want, askCard(t, tap))
			x := r.record()[0]
			if got := string(x.Response.Body.Data); got != agent.expand(test.card) {
				t.Errorf("recorded %q, which is not what the agent sent", got)
			}
			for place := range now(x) {
				if want == agent.answer("", "") && strings.HasPrefix(place, "response") {
					t.Errorf("a rewrite at %s is recorded", place)
				}
			}
		})
	}
}

// Cards are found where they may be, and nothing else is held or changed.
func TestWhereCardsAre(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":%q}`
	tests := []struct {
		method, target, body string
		rewritten            bool
	}{
		{"GET", "/.well-known/agent-card.json", "", true},
		{"GET", "/.well-known/agent.json", "", true},
		{"GET", "/.well-known/agent-card.json?v=1", "", true},
		{"GET", "/a2a/.well-known/agent-card.json", "", true},
		{"GET", "/agents/x/.well-known/agent.json", "", true},
		{"GET", "http://agent.example/.well-known/agent.json", "", true},
		{"GET", "/extendedAgentCard", "", true},
		{"GET", "/a2a/tenant/extendedAgentCard", "", true},
		{"GET", "/v1/card", "", true},
		{"GET", "/a2a/v1/card", "", true},
		{"GET", "/a2a/agent/authenticatedExtendedCard", "", true},
		{"POST", "/rpc", fmt.Sprintf(call, "GetExtendedAgentCard"), true},
		{"POST", "/rpc", fmt.Sprintf(call, "agent/getAuthenticatedExtendedCard"), true},
		{"POST", "/rpc", `{"method":"agent\/authenticatedExtendedCard","id":"x","jsonrpc":"2.0"}`, true},
		{"GET", "/a2a", "", false},
		{"GET", "/card", "", false},
		{"GET", "/.well-known/jwks.json", "", false},
		{"POST", "/.well-known/agent-card.json", "{}", false},
		{"DELETE", "/.well-known/agent-card.json", "", false},
		{"POST", "/rpc", fmt.Sprintf(call, "GetTask"), false},
		{"POST", "/rpc", fmt.Sprintf(call, "extended"), false},
		{"POST", "/rpc", `[` + fmt.Sprintf(call, "GetExtendedAgentCard") + `]`, false},
		{
			"POST", "/rpc", `{"method":"GetExtendedAgentCard","jsonrpc":"2.0","id":"` +
				strings.Repeat("x", 5000) + `"}`,
			false,
		},
		{"POST", "/rpc", `GetExtendedAgentCard`, false},
	}
	for _, test := range tests {
		t.Run(test.method+" "+test.target+" "+test.body[:min(len(test.body), 60)], func(t *testing.T) {
			agent := newRawAgent(t, "")
			card := `{"url":"http://ADDR/x","result":{"url":"http://ADDR/x"}}`
			agent.answer = agent.sized(card)
			r := newRig(t, allowHosts(t, "agent.example"), "http://"+agent.addr+"/a2a")
			tap := r.tap(0).Addr()
			got := bodyOf(cardRequestOf(t, tap, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: "+
				"close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
				test.method, test.target, tap, len(test.body), test.body)))
			want := agent.expand(card)
			switch {
			case !test.rewritten:
			case test.method == "POST":
				want = strings.Replace(want, `{"url":"http://`+agent.addr+`/x"}}`, `{"url":"http://`+tap+`/x"}}`, 1)
			default:
				want = strings.Replace(want, agent.addr, tap, 1)
			}
			expect.Equal(t, "", want, got)
			if asked := agent.asked(); strings.Contains(asked, "Accept-Encoding: identity") != (test.rewritten &&
				test.method == "GET") {
				t.Errorf("the agent was asked\n%s", asked)
			}
		})
	}
}

// An extended card is found however quickly the agent answers: the call is known before its answer is.
func TestExtendedCardFromQuickAgent(t *testing.T) {
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"url":"http://%s/"}}`, r.Host)
	})
	r := newRig(t, nil, agent.URL)
	client := newClient(t)
	for range 500 {
		_, text := fetch(t, client, "POST", r.tap(0).URL(),
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`), "Content-Type",
			"application/json")
		if !strings.Contains(text, r.tap(0).Addr()) {
			t.Fatalf("got %s", text)
		}
	}
}

// A call that is answered before it was sent whole is not held up.
func TestAnswerBeforeTheCall(t *testing.T) {
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"early":true}`)
	})
	r := newRig(t, nil, agent.URL)
	reader, writer := io.Pipe()
	request := must.Get(http.NewRequest("POST", r.tap(0).URL(), reader))(t)
	request.Header.Set("Content-Type", "application/json")
	answer := must.Get(newClient(t).Do(request))(t)
	defer answer.Body.Close()
	expect.Equal(t, answer.Status, 200, answer.StatusCode)
	writer.Close()
}

func TestFramingOfCards(t *testing.T) {
	const card = `{"url":"http://ADDR/"}`
	tests := []struct{ name, answer, want string }{
		{
			"chunks and trailer",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nTrailer: X-T, " +
				"Digest\r\n\r\n5;ext=1\r\n{\"url\r\n%x\r\n%s\r\n0\r\nX-T: 1\r\nDigest: x\r\nX-U: 2\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nTrailer: X-T, Digest\r\n\r\n%x\r\n%s\r\n0\r\nX-T: " +
				"1\r\nX-U: 2\r\n\r\n",
		},
		{
			"until close",
			"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n%s",
			"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n%s",
		},
		{
			"unknown transfer coding",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: x-odd, chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: x-odd, chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			agent := newRawAgent(t, "")
			r := newRig(t, nil, "http://"+agent.addr)
			tap := r.tap(0).Addr()
			body := agent.expand(card)
			after := strings.Replace(body, agent.addr, tap, 1)
			var answer, want string
			switch test.name {
			case "chunks and trailer":
				answer = fmt.Sprintf(test.answer, len(body)-5, body[5:])
				want = fmt.Sprintf(test.want, len(after), after)
			case "until close":
				answer, want = fmt.Sprintf(test.answer, body), fmt.Sprintf(test.want, after)
			default:
				answer = fmt.Sprintf(test.answer, len(body), body)
				want = answer
			}
			agent.answer = func(string, string) string { return answer }
			expect.Same(t, "", want, askCard(t, tap))
			if x := r.record()[0]; string(x.Response.Body.Data) != body || !x.Response.Body.Complete {
				t.Errorf("recorded %+v", x.Response.Body)
			}
		})
	}
}

func TestCompressedCard(t *testing.T) {
	var zipped bytes.Buffer
	agent := newRawAgent(t, "")
	card := agent.expand(`{"jsonrpc":"2.0","id":1,"result":{"url":"http://ADDR/"}}`)
	w := gzip.NewWriter(&zipped)
	io.WriteString(w, card)
	w.Close()
	agent.answer = func(string, string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: application/json\r\nVary: "+
			"Accept-Encoding\r\nContent-Length: %d\r\n\r\n%s", zipped.Len(), zipped.String())
	}
	r := newRig(t, nil, "http://"+agent.addr)
	tap := r.tap(0).Addr()
	call := `{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`
	got := cardRequestOf(t, tap, fmt.Sprintf("POST / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nAccept-Encoding: "+
		"gzip\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", tap, len(call), call))
	after := strings.Replace(card, agent.addr, tap, 1)
	want := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nVary: "+
		"Accept-Encoding\r\nContent-Length: %d\r\n\r\n%s", len(after), after)
	expect.Same(t, "", want, got)
	x := r.record()[0]
	if !bytes.Equal(x.Response.Body.Data, zipped.Bytes()) || x.Response.Body.Decoded {
		t.Errorf("recorded %q", x.Response.Body.Data)
	}
}

func TestCardsThatPassAsTheyCame(t *testing.T) {
	big := `{"url":"http://ADDR/","x":"` + strings.Repeat("x", 1<<20) + `"}`
	tests := []struct{ name, answer, note string }{
		{"too large", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(big)+len("127.0.0.1:65535")-4, big), "larger than 1048576 bytes"},
		{
			"unknown coding", "HTTP/1.1 200 OK\r\nContent-Encoding: x-odd\r\nContent-Length: 4\r\n\r\nodd!",
			"could not be read",
		},
		{
			"broken coding", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nodd!",
			"could not be read",
		},
		{"not found", "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: " +
			"22\r\n\r\n{\"url\":\"http://ADDR/\"}", ""},
		{"part", "HTTP/1.1 206 Partial Content\r\nContent-Type: application/json\r\nConnection: " +
			"close\r\n\r\n{\"url\":\"http://ADDR/\"}", ""},
		{
			"page", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n{\"url\":\"http://ADDR/\"}",
			"",
		},
		{"no content", "HTTP/1.1 204 No Content\r\nETag: \"x\"\r\n\r\n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			agent := newRawAgent(t, "")
			answer := test.answer
			if test.name == "too large" { // its chunk has the length of the longest address
				answer = strings.Replace(answer, "ADDR",
					agent.addr+strings.Repeat("/", len("127.0.0.1:65535")-len(agent.addr)), 1)
			}
			answer = agent.expand(answer)
			agent.answer = func(string, string) string { return answer }
			r := newRig(t, nil, "booker=http://"+agent.addr)
			expect.Equal(t, "", answer, askCard(t, r.tap(0).Addr()))
			notes := r.record()[0].Notes
			if test.note == "" && len(notes) > 0 || test.note != "" &&
				(len(notes) != 1 || !strings.Contains(notes[0], test.note)) {
				t.Errorf("got notes %q, want %q", notes, test.note)
			}
		})
	}
}

func TestNoRewrite(t *testing.T) {
	agent := newRawAgent(t, "")
	agent.answer = agent.sized(`{"url":"http://ADDR/"}`)
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.NoRewrite = true }, "http://"+agent.addr)
	expect.Equal(t, "", agent.answer("", ""), askCard(t, r.tap(0).Addr(), "Accept-Encoding: gzip"))
	expect.Contains(t, "the agent was asked", "Accept-Encoding: gzip\r\n", agent.asked())
}

// Where cards pass as they came, their addresses of gRPC are named: clients that follow them leave the tap.
func TestNoRewriteOfGRPC(t *testing.T) {
	for _, packed := range []bool{false, true} {
		agent := newRawAgent(t, "")
		card := `{"supportedInterfaces":[{"url":"http://ADDR/"},{"url":"ADDR","protocolBinding":"GRPC"}]}`
		agent.answer = agent.sized(card)
		if packed {
			var body bytes.Buffer
			w := gzip.NewWriter(&body)
			io.WriteString(w, agent.expand(card))
			w.Close()
			agent.answer = func(string, string) string {
				return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"+
					"Content-Length: %d\r\nConnection: close\r\n\r\n%s", body.Len(), &body)
			}
		}
		r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.NoRewrite = true }, "b=http://"+agent.addr)
		expect.Equal(t, "", agent.answer("", ""), askCard(t, r.tap(0).Addr(), "Accept-Encoding: gzip"))
		want := "b advertises " + agent.addr + " (gRPC), which is not tapped: traffic there is not observed"
		if x := r.record()[0]; len(x.Notes) != 1 || x.Notes[0] != want || len(x.Rewrites) > 0 {
			t.Errorf("notes %q, rewritten %v", x.Notes, x.Rewrites)
		}
		expect.Equal(t, "notice", want, r.notice())
	}
}

func TestAuthorityThatTheClientUsed(t *testing.T) {
	agent := newRawAgent(t, "")
	agent.answer = agent.sized(`{"url":"http://ADDR/"}`)
	r := newRig(t, allowHosts(t, "tap.example"), "http://"+agent.addr)
	tap := r.tap(0).Addr()
	_, port, _ := net.SplitHostPort(tap)
	for host, want := range map[string]string{
		"localhost:" + port: "localhost:" + port,
		"[::1]:" + port:     "[::1]:" + port, "tap.example:" + port: "tap.example:" + port, "localhost": tap,
	} {
		got := bodyOf(cardRequestOf(t, tap, "GET /.well-known/agent.json HTTP/1.1\r\nHost: "+host+
			"\r\nConnection: close\r\n\r\n"))
		expect.Equal(t, "for Host "+host, `{"url":"http://`+want+`/"}`, got)
	}
}
