package record_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/record"
	"a2atap/proxy/recording"
)

// A call is one exchange with an MCP server, or with another program.
type call struct {
	agent  capture.Peer
	client string
	head   string // the first line of the request and more fields, without CRLF at the end
	body   string
	answer string // JSON, or "SSE " and events that are separated by | ; a response is an event of an earlier stream with "ON n "
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`

func initialized(name string) string {
	text, _ := json.Marshal(name)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":%s}}}`, text)
}

func at(hostPort string) capture.Peer {
	return capture.Peer{Name: hostPort, Addr: hostPort, URL: "http://" + hostPort, How: capture.ByAddress}
}

// namesOf records calls, and returns the recorded name of the agent of each.
func namesOf(t *testing.T, calls ...call) (names []string) {
	t.Helper()
	memory := capture.NewMemory(capture.Info{})
	r := record.New(memory, record.Options{})
	var conns []*recording.Conn
	for _, c := range calls {
		conn := r.Recorder().Conn(c.agent, "127.0.0.1:1")
		conns = append(conns, conn)
		conn.RequestTo(0, []byte(strings.ReplaceAll(c.head, "|", "\r\n")+"\r\nHost: h\r\nContent-Type: application/json\r\n\r\n"), c.agent, c.client)
		conn.RequestBody(0, []byte(c.body))
		conn.RequestEnd(0, nil)
		on, event, elsewhere := strings.Cut(strings.TrimPrefix(c.answer, "ON "), " ")
		switch events, stream := strings.CutPrefix(c.answer, "SSE "); {
		case stream:
			conn.Answer(0, []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"))
			for _, e := range strings.Split(events, "|") {
				conn.AnswerBody(0, []byte(strings.ReplaceAll(e, "; ", "\n")+"\n\n"))
			}
			if strings.Contains(c.head, "/sse") {
				continue
			}
		case elsewhere && strings.HasPrefix(c.answer, "ON "):
			conn.Answer(0, []byte("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"))
			var n int
			must.Get(fmt.Sscan(on, &n))(t)
			conns[n].AnswerBody(0, []byte("event: message\ndata: "+event+"\n\n"))
		default:
			conn.Answer(0, []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"))
			conn.AnswerBody(0, []byte(c.answer))
		}
		conn.AnswerEnd(0, nil)
		conn.Ended(0)
	}
	must.Do(t, r.Close(context.Background()))
	for x, err := range memory.Exchanges(context.Background(), 1) {
		must.Do(t, err)
		names = append(names, x.Agent.Name)
	}
	return names
}

func TestNames(t *testing.T) {
	a, b := at("127.0.0.1:9001"), at("127.0.0.1:9002")
	post := func(agent capture.Peer, path, body, answer string) call {
		return call{agent: agent, head: "POST " + path + " HTTP/1.1", body: body, answer: answer}
	}
	weather := initialized("weather")
	other := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	tool := func(name string, byCommand bool) capture.Peer {
		p := capture.Peer{Name: name, URL: "stdio://" + name}
		if byCommand {
			p.How = capture.ByCommand
		}
		return p
	}
	for name, c := range map[string]struct {
		calls []call
		want  string
	}{
		"before and after initialize": {
			[]call{post(a, "/mcp", other, `{}`), post(a, "/mcp/?x=1", initialize, weather), post(a, "/mcp", other, `{}`)},
			"weather weather weather",
		},
		"an answer in a stream": {
			[]call{post(a, "/mcp", initialize, "SSE event: message; data: "+weather), post(a, "/mcp", other, `{}`)}, "weather weather",
		},
		"absolute form": {
			[]call{post(a, "http://127.0.0.1:9001/mcp", initialize, weather), post(a, "/mcp", other, `{}`)}, "weather weather",
		},
		"HTTP with SSE": {
			[]call{
				{agent: a, head: "GET /sse HTTP/1.1|Accept: text/event-stream", answer: "SSE event: endpoint; data: /messages/?session_id=7"},
				post(a, "/messages/?session_id=7", initialize, "ON 0 "+weather), post(a, "/messages/?session_id=7", other, "ON 0 {}"),
			}, "weather weather weather",
		},
		"only the server's exchanges": {
			[]call{
				post(a, "/v1/chat/completions", `{"model":"m"}`, `{}`), post(a, "/mcp", initialize, weather),
				{agent: a, head: "GET /.well-known/agent-card.json HTTP/1.1", answer: `{}`},
			}, "127.0.0.1:9001 weather 127.0.0.1:9001",
		},
		"two servers of one name": {
			[]call{post(a, "/mcp", initialize, weather), post(b, "/mcp", initialize, weather), post(a, "/mcp", other, `{}`)},
			"weather@127.0.0.1:9001 weather@127.0.0.1:9002 weather@127.0.0.1:9001",
		},
		"two servers at one address": {
			[]call{post(a, "/1/mcp", initialize, weather), post(a, "/2/mcp", initialize, weather)},
			"weather@127.0.0.1:9001/1/mcp weather@127.0.0.1:9001/2/mcp",
		},
		"the name of an agent": {
			[]call{post(a, "/mcp", initialize, weather), post(capture.Peer{Name: "weather"}, "/", "{}", "{}"), post(a, "/mcp", other, `{}`)},
			"weather@127.0.0.1:9001 weather weather@127.0.0.1:9001",
		},
		"the name of a client": {
			[]call{{agent: a, client: "weather", head: "POST /mcp HTTP/1.1", body: initialize, answer: weather}}, "weather@127.0.0.1:9001",
		},
		"names of the user": {
			[]call{post(capture.Peer{Name: "w", URL: "http://127.0.0.1:9001"}, "/mcp", initialize, weather)}, "w",
		},
		"tools": {
			[]call{
				post(tool("index", true), "/", initialize, initialized("maps")), post(tool("index", true), "/", initialize, weather),
				post(tool("w", false), "/", initialize, weather),
			}, "maps weather w",
		},
		"a tool that is started twice": {
			[]call{post(tool("index", true), "/", initialize, weather), post(tool("index", true), "/", initialize, weather)}, "weather weather",
		},
		"hostile names": {
			[]call{
				post(a, "/1", initialize, initialized("a\x1b[31m\u202eb\n c")), post(a, "/2", initialize, initialized("\u202e \x00")),
				post(a, "/3", initialize, initialized(strings.Repeat("x", 1000))), post(a, "/4", initialize, initialized("127.0.0.1:9002")),
			}, "a--31m-b--c 127.0.0.1:9001 " + strings.Repeat("x", 64) + " 127.0.0.1-9002",
		},
		"no name": {
			[]call{post(a, "/mcp", initialize, `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`), post(a, "/mcp", "not JSON", weather)},
			"127.0.0.1:9001 127.0.0.1:9001",
		},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, "names", c.want, strings.Join(namesOf(t, c.calls...), " "))
		})
	}
}

// A server keeps its recorded name if it cannot be named in all exchanges.
func TestNamesTooLate(t *testing.T) {
	var calls []call
	for range 257 {
		calls = append(calls, call{agent: at("h:1"), head: "POST /mcp HTTP/1.1", body: "{}", answer: "{}"})
	}
	calls = append(calls, call{agent: at("h:1"), head: "POST /mcp HTTP/1.1", body: initialize, answer: initialized("weather")})
	for _, name := range namesOf(t, calls...) {
		if name != "h:1" {
			t.Fatalf("an exchange has the name %s", name)
		}
	}
}
