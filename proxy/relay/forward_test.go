package relay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// forwarded returns a head as the agent is to see it.
func forwarded(head string) (string, Target, error) {
	h, err := scanRequest([]byte(head), DefaultHeadLimit)
	if err != nil {
		return "", Target{}, err
	}
	r := requests{pair: &pair{cfg: Config{Forward: &Forward{}}}}
	if err := r.route([]byte(head)); err != nil {
		return "", Target{}, err
	}
	return string(r.to.appendForwarded(nil, []byte(head), &h)), r.to.Target, nil
}

func TestForwardedHead(t *testing.T) {
	tests := map[string]struct{ head, want, target string }{
		"origin form": {
			"GET http://a/x?y HTTP/1.1\r\nHost: a\r\n\r\n",
			"GET /x?y HTTP/1.1\r\nHost: a\r\n\r\n", "http://a",
		},
		"no path": {
			"GET http://a HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
			"http://a",
		},
		"query alone": {
			"GET http://a?b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?b HTTP/1.1\r\nHost: a\r\n\r\n",
			"http://a",
		},
		"OPTIONS of the server": {
			"OPTIONS http://a:81 HTTP/1.1\r\nHost: a:81\r\n\r\n",
			"OPTIONS * HTTP/1.1\r\nHost: a:81\r\n\r\n", "http://a:81",
		},
		"OPTIONS of a path": {
			"OPTIONS http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n",
			"http://a",
		},
		"Proxy fields": {
			"GET http://a/ HTTP/1.1\r\nproxy-Connection: keep-alive\r\nHOST:a\r\nProxy-Authorization: Basic " +
				"eA==\r\nProxying: 1\r\nProxy-X:\r\n\r\n",
			"GET / HTTP/1.1\r\nHOST:a\r\nProxying: 1\r\n\r\n", "http://a",
		},
		"Host that differs": {
			"GET http://a:80/ HTTP/1.1\r\nX: y\r\nHost:  b \r\nConnection: x\r\n\r\n",
			"GET / HTTP/1.1\r\nX: y\r\nHost:  a:80 \r\nConnection: x\r\n\r\n", "http://a",
		},
		"Host that is empty": {
			"GET http://a/ HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.1\r\nHost:a\r\n\r\n",
			"http://a",
		},
		"Host spelt otherwise": {
			"GET http://A.example/ HTTP/1.1\r\nHost: a.EXAMPLE:80\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: a.EXAMPLE:80\r\n\r\n", "http://a.example",
		},
		"HTTP/1.0, no Host": {"GET http://a/ HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "http://a"},
		"bare LF": {
			"\r\nGET http://a/ HTTP/1.1\nHost: a\nProxy-A: b\n\n",
			"\r\nGET / HTTP/1.1\nHost: a\n\n", "http://a",
		},
		"https": {
			"GET HTTPS://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
			"https://a",
		},
		"IPv6": {
			"GET http://[::1]:9/ HTTP/1.1\r\nHost: [::1]:9\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: [::1]:9\r\n\r\n", "http://[::1]:9",
		},
		"target in the path": {
			"GET http://a/http://b/?http://c HTTP/1.1\r\nHost: a\r\n\r\n",
			"GET /http://b/?http://c HTTP/1.1\r\nHost: a\r\n\r\n", "http://a",
		},
		"odd bytes in a path": {
			"GET http://a/ü%zz\\ HTTP/1.1\r\nHost: a\r\n\r\n",
			"GET /ü%zz\\ HTTP/1.1\r\nHost: a\r\n\r\n", "http://a",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, target, err := forwarded(test.head)
			must.Do(t, err)
			expect.Same(t, "", test.want, got)
			expect.Equal(t, "goes to", test.target, target.String())
		})
	}
}

func TestParseAuthority(t *testing.T) {
	for s, want := range map[string]string{
		"a:443": "a 443", "A.Example.:8443": "a.example. 8443", "[::1]:1": "::1 1", "[0:0::0:1]:2": "::1 2",
		"127.0.0.1:080": "127.0.0.1 80", "a_b-c:65535": "a_b-c 65535",
	} {
		host, port, err := ParseAuthority(s)
		if got := host + " " + port; err != nil || got != want {
			t.Errorf("%s: got %q, %v", s, got, err)
		}
	}
	for _, s := range []string{
		"", "a", "a:", ":1", "a:0", "a:65536", "a:x", "a:-1", "a b:1", "u@a:1", "::1:1", "[::1]", "[::1", "[a]:1",
		"[127.0.0.1]:1",
		"[::1%25eth0]:1", "a/b:1", "a:1/", "http://a:1", "ä:1", "a%41:1", "a\x00:1", strings.Repeat("a", 256) + ":1",
	} {
		if host, port, err := ParseAuthority(s); err == nil {
			t.Errorf("%q: got %q and %q", s, host, port)
		}
	}
}

// newForward starts a forward proxy. All agents it dials are one listener; whom it dialled it says in order.
func newForward(t *testing.T, admit func([]byte) bool) (*wire, chan Target) {
	t.Helper()
	dialled := make(chan Target, 100)
	return newWire(t, false, func(c *Config) {
		dial := c.Dial
		c.Forward = &Forward{Admit: admit, Dial: func(ctx context.Context, to Target) (net.Conn, error) {
			if to.Host == "nowhere.example" {
				return nil, errors.New("no such host")
			}
			dialled <- to
			return dial(ctx)
		}}
		c.Dial, c.Authority = nil, ""
	}), dialled
}

// TestForwardByteForByte sends generated traffic for several agents, pipelined and in random pieces, on one connection.
func TestForwardByteForByte(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { forwardByteForByte(t, seed) })
	}
}

func forwardByteForByte(t *testing.T, seed uint64) {
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	var requests, answers []generated
	var hosts []string
	var seen []string // by the agent
	var asked, wanted string
	for i, n := 0, 1+g.IntN(8); i < n; i++ {
		q, a, host, atAgent := forwardGenerated(g, i == n-1)
		requests, answers, hosts, seen = append(requests, q), append(answers, a), append(hosts, host), append(seen,
			atAgent)
		asked, wanted = asked+q.wire, wanted+a.wire
	}
	w, dialled := newForward(t, nil)
	client := w.client()
	sent := make(chan error, 2)
	go func() {
		sent <- generator{rand.New(rand.NewPCG(seed, 2))}.write(client, asked)
	}()
	go func() {
		sent <- playAgents(w, generator{rand.New(rand.NewPCG(seed, 3))}, dialled, hosts, seen, answers)
	}()
	client.receive(wanted)
	client.receiveEnd()
	client.Close()
	w.passed(sent, requests, answers)
}

// forwardGenerated makes a request with its target in absolute form, its answer, the agent it is for, and the part that
// the agent must see.
func forwardGenerated(g generator, last bool) (q, a generated, host, seen string) {
	host = g.pick("a.example", "a.example", "b.example", "c.example:81")
	var method string
	for {
		q, method = g.request()
		// the targets that have both forms
		if strings.Contains(q.head, " / HTTP") || strings.Contains(q.head, " /rpc") {
			break
		}
	}
	a = g.answer(method, last)
	body := strings.TrimPrefix(q.wire, q.head)
	plain := replaceHost(q.head, host)
	head := strings.Replace(plain, method+" /", method+" http://"+host+"/", 1)
	end := strings.IndexByte(strings.TrimLeft(head, "\r\n"), '\n') + 1 + len(head) - len(strings.TrimLeft(head, "\r\n"))
	q.head = head[:end] + g.pick("", g.spell("proxy-connection")+": keep-alive\r\n") + head[end:]
	q.wire = q.head + body
	return q, a, host, plain + body
}

// playAgents plays one agent after the other: each gets a connection of its own when requests for it begin.
func playAgents(w *wire, g generator, dialled <-chan Target, hosts, seen []string, answers []generated) error {
	var agent end
	for i, host := range hosts {
		if i == 0 || host != hosts[i-1] {
			if i > 0 {
				if s, err := agent.rest(); s != "" || err != nil {
					return fmt.Errorf("the agent that was left got %q and %v, want a clean end", s, err)
				}
			}
			agent = w.accept()
			if to := <-dialled; strings.TrimSuffix(to.Authority(), ":80") != host {
				return fmt.Errorf("dialled %v for request %d, which is for %s", to, i, host)
			}
		}
		ahead := 0
		if g.IntN(3) == 0 && i == len(hosts)-1 { // the answer overtakes its request
			ahead = g.IntN(len(seen[i]) / 2)
		}
		if err := errors.Join(
			agent.expect(seen[i][:len(seen[i])-ahead]),
			g.write(agent, answers[i].wire),
			agent.expect(seen[i][len(seen[i])-ahead:]),
		); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	return agent.Close()
}

func TestForwardRefuses(t *testing.T) {
	const agent = "Host: a\r\n\r\n"
	tests := map[string]struct {
		request string
		status  int
		kind    string
	}{
		"origin form":       {"GET / HTTP/1.1\r\n" + agent, 400, KindRefused},
		"asterisk form":     {"OPTIONS * HTTP/1.1\r\n" + agent, 400, KindRefused},
		"another scheme":    {"GET ftp://a/ HTTP/1.1\r\n" + agent, 400, KindRefused},
		"user information":  {"GET http://u:p@a/ HTTP/1.1\r\n" + agent, 400, KindRefused},
		"fragment":          {"GET http://a/#b HTTP/1.1\r\n" + agent, 400, KindRefused},
		"no host":           {"GET http:///a HTTP/1.1\r\n" + agent, 400, KindRefused},
		"no port number":    {"GET http://a:b/ HTTP/1.1\r\n" + agent, 400, KindRefused},
		"CONNECT":           {"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", 501, KindRefused},
		"no credentials":    {"GET http://a/closed HTTP/1.1\r\n" + agent, 407, KindRefused},
		"cannot be reached": {"GET http://nowhere.example/ HTTP/1.1\r\n" + agent, 502, KindUnreachable},
		"ambiguous framing": {
			"POST http://a/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n" + agent, 400,
			KindRefused,
		},
		"no HTTP":             {"\x16\x03\x01\x00\x00", 400, KindNotHTTP},
		"without Host at all": {"GET http://a/ HTTP/1.1\r\n\r\n", 400, KindRefused},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := newForward(t, func(head []byte) bool { return !strings.Contains(string(head), "/closed") })
			client := w.client()
			client.send(test.request)
			raw := client.receiveBreak()
			client.Close() // else it would be waited for
			status, kind := ownAnswerOf(t, strings.NewReader(raw))
			if status != test.status || kind != test.kind {
				t.Errorf("got %d %s, want %d %s", status, kind, test.status, test.kind)
			}
			if challenged := strings.Contains(raw, "\r\nProxy-Authenticate: Basic "); challenged != (status == 407) {
				t.Errorf("challenged: %v in %q", challenged, raw)
			}
			expect.Error(t, "Serve says nothing of it", w.result())
		})
	}
}

// A request for another agent waits for the answers of those before it, and the agent that is left sees its connection
// end.
func TestForwardWaitsForAnswers(t *testing.T) {
	w, dialled := newForward(t, nil)
	client := w.client()
	client.send("GET http://a/1 HTTP/1.1\r\nHost: a\r\n\r\nGET http://b/2 HTTP/1.1\r\nHost: b\r\n\r\n")
	a := w.accept()
	a.receive("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
	a.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
	client.receive("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
	if to := <-dialled; to.Host != "a" || len(dialled) > 0 {
		t.Errorf("dialled %v and %d more", to, len(dialled))
	}
	a.send("0\r\n\r\n")
	client.receive("0\r\n\r\n")
	a.receiveEnd()
	b := w.accept()
	b.receive("GET /2 HTTP/1.1\r\nHost: b\r\n\r\n")
	b.send("HTTP/1.1 204 No Content\r\n\r\n")
	client.receive("HTTP/1.1 204 No Content\r\n\r\n")
	client.Close()
	b.receiveEnd()
	b.Close()
	if err := w.result(); err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// If an agent breaks off, the requests that wait for another agent fail as well, as they cannot be answered any more.
func TestForwardAgentBreaksWhileOthersWait(t *testing.T) {
	for name, end := range map[string]func(net.Conn) error{
		"close": net.Conn.Close,
		"reset": func(c net.Conn) error { return errors.Join(c.(*net.TCPConn).SetLinger(0), c.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := newForward(t, nil)
			client := w.client()
			client.send("GET http://a/1 HTTP/1.1\r\nHost: a\r\n\r\nGET http://b/2 HTTP/1.1\r\nHost: b\r\n\r\n")
			a := w.accept()
			a.receive("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
			a.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")
			client.receive("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")
			must.Do(t, end(a.Conn))
			client.receiveBreak()
			expect.Error(t, "Serve says nothing of it", w.result())
			first, second := w.ended(0), w.ended(1)
			if first.Fault == nil || first.Fault.Side != SideAgent || second.Fault == nil || second.Answer != "" {
				t.Errorf("got faults %v and %v", first.Fault, second.Fault)
			}
		})
	}
}

// Stopping ends a connection whose client waits for one agent and has asked another.
func TestForwardStops(t *testing.T) {
	w, _ := newForward(t, nil)
	client := w.client()
	client.send("GET http://a/1 HTTP/1.1\r\nHost: a\r\n\r\nGET http://b/2 HTTP/1.1\r\nHost: b\r\n\r\n")
	a := w.accept()
	a.receive("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
	w.stop()
	client.receiveBreak()
	a.receiveBreak()
	var f TransportError
	if err := w.result(); !errors.As(err, &f) || f.Kind != KindShutdown {
		t.Errorf("Serve: %v", err)
	}
}
