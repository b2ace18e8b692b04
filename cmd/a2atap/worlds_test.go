package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A world is a way in which calls go wrong, or are not seen. Its answer takes the place of the right one; meta says what
// HTTP cannot.
type world struct {
	name    string
	answer  string // head and body; %d is the number of the call
	meta    string
	request string // instead of the right one, if not empty
	shares  []int  // broken ones out of ten; nil means one, half of them and all
}

const (
	worldSend = "POST /rpc HTTP/1.1\nHost: booker.example:9001\nContent-Type: application/json\nA2A-Version: 1.0\n\n" +
		`{"jsonrpc":"2.0","id":"r%[1]d","method":"SendMessage","params":{"message":{"messageId":"m%[1]d","role":"ROLE_USER",` +
		`"parts":[{"text":"Two tickets to Kyoto"}]}}}` + "\n"
	worldGet = "POST /rpc HTTP/1.1\nHost: booker.example:9001\nContent-Type: application/json\nA2A-Version: 1.0\n\n" +
		`{"jsonrpc":"2.0","id":"r%[1]d","method":"GetTask","params":{"id":"t0%[1]d"}}` + "\n"
	worldStream = "POST /rpc HTTP/1.1\nHost: booker.example:9001\nContent-Type: application/json\nA2A-Version: 1.0\n\n" +
		`{"jsonrpc":"2.0","id":"r%[1]d","method":"SendStreamingMessage","params":{"message":{"messageId":"m%[1]d",` +
		`"role":"ROLE_USER","parts":[{"text":"Two tickets to Kyoto"}]}}}` + "\n"
	worldDone = "HTTP/1.1 200 OK\nContent-Type: application/json\n\n" +
		`{"jsonrpc":"2.0","id":"r%[1]d","result":{"task":{"id":"t%[1]d","contextId":"c%[1]d",` +
		`"status":{"state":"TASK_STATE_COMPLETED"}}}}` + "\n"
	worldTask    = "HTTP/1.1 200 OK\nContent-Type: application/json\n\n" + `{"task":{"id":"t%[1]d","contextId":"c%[1]d"}}` + "\n"
	worldWorking = "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n" +
		`data: {"jsonrpc":"2.0","id":"r%[1]d","result":{"task":{"id":"t%[1]d","contextId":"c%[1]d",` +
		`"status":{"state":"TASK_STATE_WORKING"}}}}` + "\n\n"
)

// worldEnded is an answer with a task that has ended, and why.
func worldEnded(state, why string) string {
	return worldResult(`{"task":{"id":"t%[1]d","contextId":"c%[1]d","status":{"state":"` + state +
		`","message":{"messageId":"a%[1]d","role":"ROLE_AGENT","parts":[{"text":"` + why + `"}]}}}}`)
}

// worldResult is an answer with a result.
func worldResult(result string) string {
	return "HTTP/1.1 200 OK\nContent-Type: application/json\n\n" + `{"jsonrpc":"2.0","id":"r%[1]d","result":` + result + "}\n"
}

// onlyCard is an answer with a card that offers 1.0 alone.
const onlyCard = "HTTP/1.1 200 OK\nContent-Type: application/json\nCache-Control: max-age=60\nETag: \"1\"\n\n" +
	`{"name":"Booker","description":"Books tickets","version":"1.0.0","capabilities":{"streaming":true},` +
	`"supportedInterfaces":[{"url":"http://booker.example:9001/rpc","protocolBinding":"JSONRPC",` +
	`"protocolVersion":"1.0"}],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],` +
	`"skills":[{"id":"book","name":"Book","description":"Books a ticket","tags":["tickets"]}]}` + "\n"

// tunnel is a connection that was passed on unopened, for a reason.
func tunnel(name, why string) world {
	return world{
		name: name, request: "CONNECT booker.example:443 HTTP/1.1\nHost: booker.example:443\n\n",
		answer: "HTTP/1.1 200 Connection established\n\n", meta: fmt.Sprintf("response.body: missing\nnote: %q\n", capture.Tunnelled+why),
	}
}

func worlds() []world {
	bare := func(status string) world {
		return world{name: "a bare " + status, answer: "HTTP/1.1 " + status + "\nContent-Length: 0\n\n"}
	}
	failed := func(code int, words string) world {
		return world{name: fmt.Sprintf("error %d", code), answer: "HTTP/1.1 200 OK\nContent-Type: application/json\n\n" +
			fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%%[1]d","error":{"code":%d,"message":%q}}`, code, words) + "\n"}
	}
	fault := func(kind, side, detail string) world {
		return world{name: kind + " by " + side, meta: fmt.Sprintf("fault: %s %s %q\n", kind, side, detail)}
	}
	list := []world{{name: "as it should be", answer: worldDone}}
	for _, status := range []string{
		"400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "405 Method Not Allowed",
		"408 Request Timeout", "413 Content Too Large", "415 Unsupported Media Type", "421 Misdirected Request",
		"422 Unprocessable Content", "429 Too Many Requests", "500 Internal Server Error", "502 Bad Gateway",
		"503 Service Unavailable", "504 Gateway Timeout", "302 Found", "204 No Content",
	} {
		list = append(list, bare(status))
	}
	for _, f := range []struct {
		code  int
		words string
	}{
		{-32700, "parse error"},
		{-32600, "invalid request"},
		{-32601, "no such method"},
		{-32602, "invalid params"},
		{-32603, "boom, database is down"},
		{-32000, "overloaded"},
		{-32001, "no such task"},
		{-32002, "cannot be canceled"},
		{-32003, "no push notifications"},
		{-32004, "not supported"},
		{-32005, "no such content type"},
		{-32006, "invalid answer"},
		{-32009, "version not supported"},
		{7, "seven"},
	} {
		list = append(list, failed(f.code, f.words))
	}
	missing := failed(-32001, "no such task")
	missing.name, missing.request = "a task that is not there", worldGet
	list = append(list, missing,
		fault("unreachable", "agent", "connection refused"), fault("reset", "agent", "connection reset by peer"),
		fault("timeout", "agent", "no answer within 30s"), fault("tls", "agent", "certificate expired"),
		fault("not-http", "agent", "SSH-2.0"), fault("client-left", "client", "connection closed"),
		world{name: "HTML", answer: "HTTP/1.1 200 OK\nContent-Type: text/html\n\n<html>It works</html>\n"},
		world{name: "an empty body", answer: "HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 0\n\n"},
		world{name: "no JSON", answer: "HTTP/1.1 200 OK\nContent-Type: application/json\n\n{\n"},
		world{name: "a result that is null", answer: worldResult("null")},
		world{name: "a result that is empty", answer: worldResult("{}")},
		world{name: "an error that is a text", answer: "HTTP/1.1 200 OK\nContent-Type: application/json\n\n" +
			`{"jsonrpc":"2.0","id":"r%[1]d","error":"boom, database is down"}` + "\n"},
		world{name: "a task that failed", answer: worldEnded("TASK_STATE_FAILED", "no seats left on train %[1]d")},
		world{name: "a task that was rejected", answer: worldEnded("TASK_STATE_REJECTED", "we book no flights")},
		world{name: "a task that its agent canceled", answer: worldEnded("TASK_STATE_CANCELED", "out of time")},
		world{
			name: "a task that its client canceled", request: strings.Replace(worldGet, "GetTask", "CancelTask", 1),
			answer: worldResult(`{"id":"t0%[1]d","contextId":"c%[1]d","status":{"state":"TASK_STATE_CANCELED"}}`),
		},
		world{name: "a task that asks for more", answer: worldEnded("TASK_STATE_INPUT_REQUIRED", "which train?")},
		world{
			name: "a task that had failed before", request: worldGet,
			answer: worldResult(`{"id":"t0%[1]d","contextId":"c%[1]d","status":{"state":"TASK_STATE_FAILED"}}`),
		},
		world{name: "a message in place of a task", answer: worldResult(
			`{"message":{"messageId":"a%[1]d","role":"ROLE_AGENT","parts":[{"text":"Booked"}]}}`)},
		world{
			name: "a stream whose task failed", request: worldStream, answer: worldWorking +
				`data: {"jsonrpc":"2.0","id":"r%[1]d","result":{"statusUpdate":{"taskId":"t%[1]d","contextId":"c%[1]d",` +
				`"status":{"state":"TASK_STATE_FAILED","message":{"messageId":"a%[1]d","role":"ROLE_AGENT",` +
				`"parts":[{"text":"boom"}]}}}}}` + "\n\n",
		},
		world{name: "an answer with another id", answer: strings.Replace(worldDone, `"r%[1]d"`, "7", 1)},
		world{name: "an answer with a null id", answer: strings.Replace(worldDone, `"r%[1]d"`, "null", 1)},
		world{name: "an answer without an id", answer: strings.Replace(worldDone, `"id":"r%[1]d",`, "", 1)},
		world{name: "a result without an envelope", answer: "HTTP/1.1 200 OK\nContent-Type: application/json\n\n" +
			`{"task":{"id":"t%[1]d","contextId":"c%[1]d","status":{"state":"TASK_STATE_COMPLETED"}}}` + "\n"},
		world{name: "a task that stays at work", answer: worldEnded("TASK_STATE_WORKING", "soon")},
		world{
			name: "the same task that is not there", request: strings.ReplaceAll(worldGet, "t0%[1]d", "t0"),
			answer: missing.answer,
		},
		world{name: "a redirect", answer: "HTTP/1.1 307 Temporary Redirect\nLocation: https://elsewhere.example/a2a?key=1\n" +
			"Content-Length: 0\n\n"},
		world{
			name: "half a request", answer: "HTTP/1.1 400 Bad Request\nContent-Length: 0\n\n",
			meta: "request.body: incomplete\nfault: truncated client \"connection closed inside the request\"\n",
		},
		world{name: "no task that was asked for", request: worldGet, answer: worldResult("null")},
		world{name: "a call that was open at the end", meta: "fault: shutdown proxy \"the proxy was stopped\"\n"},
		world{
			name: "a stream that was open at the end", request: worldStream, answer: worldWorking,
			meta: "fault: shutdown proxy \"the proxy was stopped\"\n",
		},
		world{name: "an unknown coding", answer: strings.Replace(worldDone, "\n\n", "\nContent-Encoding: lzfse\n\n", 1)},
		world{name: "a body that was not kept", answer: "HTTP/1.1 200 OK\nContent-Type: application/json\n\n", meta: "response.body: missing\n"},
		world{name: "an unknown version", request: strings.Replace(worldSend, ": 1.0", ": 9.0", 1), answer: worldDone},
		world{name: "a stream that ends at work", request: worldStream, answer: worldWorking},
		world{
			name: "a stream without events", request: worldStream,
			answer: "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n",
		},
		world{
			name: "of no known protocol", request: "GET /metrics HTTP/1.1\nHost: booker.example:9001\n\n",
			answer: "HTTP/1.1 200 OK\nContent-Type: text/plain\n\nup 1\n", shares: []int{1, 4, 5, 6, 9, 10},
		},
		world{
			name: "an upgrade", request: "GET /ws HTTP/1.1\nHost: booker.example:9001\nUpgrade: websocket\n\n",
			answer: "HTTP/1.1 101 Switching Protocols\nUpgrade: websocket\n\n",
		},
		world{
			name: "only the card", request: "GET /.well-known/agent-card.json HTTP/1.1\nHost: booker.example:9001\n\n",
			answer: onlyCard,
		},
		world{
			name: "an undecided dialect", answer: worldTask, request: "POST /message:send HTTP/1.1\nHost: booker.example:9001\n" +
				"Content-Type: application/json\n\n" + `{"message":{"messageId":"m%[1]d","role":"user","parts":[{"text":"Hello"}]}}` + "\n",
		},
		world{
			name: "HTTP/2 at a tap", request: "PRI * HTTP/2.0\n\nSM\n\n",
			meta: "fault: not-http client \"HTTP/2 connection preface; this listener speaks HTTP/1.1\"\n",
		},
		tunnel("HTTP/2 in a tunnel", "HTTP/2, not decoded"),
		tunnel("HTTP/2 by ALPN", "HTTP/2, not decoded: the client uses h2 instead of HTTP/1.1"),
		tunnel("a tunnel that was asked for", "as --tunnel asks"),
		world{
			name: "a certificate that the client does not take", request: "CONNECT booker.example:443 HTTP/1.1\nHost: booker.example:443\n\n",
			meta: "fault: tls client \"the client rejected a2atap's certificate: unknown certificate authority\"\n" +
				"note: \"not observed: the client did not accept a2atap's certificate\"\n",
		},
		world{
			name: "a host that the tap refuses", request: "POST /rpc HTTP/1.1\nHost: evil.example\nContent-Length: 9\n\n",
			meta: "request.body: incomplete missing\nfault: refused client \"the request names the host evil.example, which is " +
				"not one of this tap; if clients are to use it, start a2atap with --allow-host evil.example\"\n",
		},
		world{
			name: "only a card of 1.0, by a client of 0.3", answer: onlyCard, request: "GET /.well-known/agent-card.json HTTP/1.1\n" +
				"Host: booker.example:9001\nUser-Agent: a2a-sdk/0.3.26\n\n",
		},
		world{
			name: "only a card of 1.0, by a client that asks for 0.3", answer: onlyCard,
			request: "GET /.well-known/agent-card.json HTTP/1.1\nHost: booker.example:9001\nA2A-Version: 0.3\n\n",
		})
	return list
}

// What check says, and exits with, where one of ten exchanges, half of them or all are broken, lost or of no known kind.
// An answer in a form that breaks the protocol is a finding besides.
func TestBrokenWorlds(t *testing.T) {
	golden := must.Get(filepath.Abs(filepath.Join("testdata", "worlds.txt")))(t)
	s := newShell(t)
	var got strings.Builder
	list := worlds()
	for _, w := range list {
		fmt.Fprintf(&got, "# %s\n", w.name)
		shares := w.shares
		if shares == nil {
			shares = []int{1, 5, 10}
		}
		for _, share := range shares {
			must.Do(t, os.WriteFile("w.txtar", []byte(w.transcript(share)), 0o644))
			_, errs, code := s.execute("a2atap check w.txtar")
			fmt.Fprintf(&got, "%2d of 10  %d  %s", share, code, errs)
		}
	}
	if len(list) < 40 {
		t.Errorf("there are only %d worlds", len(list))
	}
	expect.Golden(t, *update, golden, got.String())
}

// transcript returns ten exchanges of which the last ones are broken.
func (w *world) transcript(broken int) string {
	var b strings.Builder
	for n := 1; n <= 10; n++ {
		request, answer, meta := worldSend, worldDone, ""
		if n > 10-broken {
			answer, meta = w.answer, w.meta
			if w.request != "" {
				request = w.request
			}
		}
		fmt.Fprintf(&b, "-- %d.request --\n%s", n, numbered(request, n))
		if answer != "" {
			fmt.Fprintf(&b, "-- %d.response --\n%s", n, numbered(answer, n))
		}
		fmt.Fprintf(&b, "-- %d.meta --\nclient: planner\n%s", n, meta)
	}
	return b.String()
}

func numbered(text string, n int) string { return strings.ReplaceAll(text, "%[1]d", fmt.Sprint(n)) }
