package fleet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A hostileServer speaks enough of NATS to be asked, and answers as an attack does.
type hostileServer struct {
	t        testing.TB
	listener net.Listener
	attack   func(w io.Writer, reply, sid string) bool // false hangs up
	sessions sync.WaitGroup
	asked    atomic.Int64
	met      atomic.Int64 // connections
}

func startHostile(t testing.TB, attack func(w io.Writer, reply, sid string) bool) *hostileServer {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := &hostileServer{t: t, listener: l, attack: attack}
	s.sessions.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.met.Add(1)
			s.sessions.Go(func() {
				defer conn.Close()
				stop := context.AfterFunc(t.Context(), func() { conn.Close() })
				defer stop()
				s.serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.sessions.Wait()
	})
	return s
}

func (s *hostileServer) url() string { return "nats://" + s.listener.Addr().String() + "/traffic" }

// serve is one connection.
func (s *hostileServer) serve(conn net.Conn) {
	fmt.Fprintf(conn, "INFO {\"server_id\":\"x\",\"version\":\"2.12.0\",\"headers\":true,\"max_payload\":1048576,"+
		"\"proto\":1,\"jetstream\":true}\r\n")
	subscribed := map[string]string{} // sid by the beginning of what was subscribed to
	for r := bufio.NewReader(conn); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "PING":
			io.WriteString(conn, "PONG\r\n") //nolint:errcheck // it has left
		case "SUB":
			subscribed[strings.TrimSuffix(words[1], "*")] = words[len(words)-1]
		case "PUB", "HPUB":
			size, err := strconv.Atoi(words[len(words)-1])
			if err != nil {
				return
			}
			if _, err := r.Discard(size + 2); err != nil {
				return
			}
			for begin, sid := range subscribed {
				if len(words) > 3 && strings.HasPrefix(words[2], begin) {
					if s.asked.Add(1); !s.attack(conn, words[2], sid) {
						return
					}
				}
			}
		}
	}
}

// say answers with a text.
func say(text string) func(io.Writer, string, string) bool {
	return func(w io.Writer, reply, sid string) bool {
		fmt.Fprintf(w, "MSG %s %s %d\r\n%s\r\n", reply, sid, len(text), text)
		return true
	}
}

// raw answers with bytes that are not NATS, in which REPLY and SID are replaced with the request's.
func raw(text string) func(io.Writer, string, string) bool {
	return func(w io.Writer, reply, sid string) bool {
		strings.NewReplacer("REPLY", reply, "SID", sid).WriteString(w, text) //nolint:errcheck // it has left
		return true
	}
}

// stream is what a server says of a stream, and more that only an attacker would.
const streamThere = `{"type":"io.nats.jetstream.api.v1.stream_info_response","config":{"name":"traffic","subjects":` +
	`["a2atap.traffic.>"]%s},"state":{"messages":%s,"bytes":1,"first_seq":1,"last_seq":%s}}`

// What hostile servers do.
var serverAttacks = map[string]func(w io.Writer, reply, sid string) bool{
	"a message without end":       raw("MSG REPLY SID 9000000000000000000\r\nabc"),
	"a message of all numbers":    raw("MSG REPLY SID 99999999999999999999999999\r\nabc"),
	"a message of 2 GB":           raw("MSG REPLY SID 2000000000\r\nabc"),
	"a message with headers":      raw("HMSG REPLY SID 12 9000000000000000000\r\nNATS/1.0\r\n\r\n"),
	"headers beyond the message":  raw("HMSG REPLY SID 100 5\r\nabcde\r\n"),
	"a message of another length": raw("MSG REPLY SID 1\r\nabcdef\r\nMSG REPLY SID x\r\n"),
	"a message that says nothing": raw("MSG\r\nHMSG REPLY\r\nMSG REPLY SID -1\r\n\r\n"),
	"broken headers":              raw("HMSG REPLY SID 26 26\r\nNATS/1.0\r\n\x00\x1b[2J: x\ny\r\n\r\n\r\n"),
	"a status that clears":        raw("HMSG REPLY SID 27 27\r\nNATS/1.0 503 \x1b[2J\u202e\r\nA:\r\n\r\n\r\n"),
	"a line without end":          raw("-ERR '" + strings.Repeat("x", 2*maxLine)),
	"INFO without end":            raw("INFO {" + strings.Repeat(" ", 2*maxLine)),
	"errors without number":       raw(strings.Repeat("-ERR 'Permissions Violation for \x1b[2J\u202e'\r\n", 10_000)),
	"pings without number":        raw(strings.Repeat("PING\r\n", 10_000)),
	"wrong subjects":              raw("MSG \x1b[2J SID 2\r\n{}\r\nMSG a.b.c 77 2\r\n{}\r\n"),
	"no answer":                   raw(""),
	"no JSON":                     say("\x00\xff{"),
	"null":                        say("null"),
	"deep JSON":                   say(strings.Repeat("[", 500_000)),
	"wrong types":                 say(`{"config":7,"state":"x","error":[]}`),
	"an error that clears":        say(`{"error":{"code":400,"err_code":1,"description":"\u001b[2J\u202e"}}`),
	"a stream of another":         say(fmt.Sprintf(streamThere, `,"max_age":-1`, "-1", "-1")),
	"a stream of all numbers":     say(fmt.Sprintf(streamThere, "", "18446744073709551615", "18446744073709551615")),
	"a stream for everything":     say(fmt.Sprintf(streamThere, "", "5", "5")),
	"hangs up":                    func(io.Writer, string, string) bool { return false },
	"a flood": func(w io.Writer, reply, sid string) bool {
		text := strings.Repeat(fmt.Sprintf("MSG %s %s 2\r\n{}\r\n", reply, sid), 20_000)
		io.WriteString(w, text) //nolint:errcheck // it has left
		return true
	},
}

// A server that demands TLS, or anything else, and then stays silent or sends what does not lead on, costs a client its
// patience and no more.
func TestSilentAtTheBeginning(t *testing.T) {
	const info = `INFO {"server_id":"x","version":"2.12.0","headers":true,"max_payload":1048576,"proto":1`
	for name, sends := range map[string]struct{ begin, again string }{
		"silent at once":        {"", ""},
		"silent in its line":    {`INFO {"server_id":"x",`, ""},
		"demands TLS":           {info + `,"tls_required":true}` + "\r\n", ""},
		"demands TLS, and more": {info + `,"tls_required":true}` + "\r\n", "\x16"},
		"never answers a ping":  {info + "}\r\n", ""},
		"a byte at a time":      {"INFO {", " "},
		"INFO without end":      {"INFO {", strings.Repeat(" ", 64<<10)},
		"INFO again and again":  {info + "}\r\n", info + "}\r\n"},
		"errors without end":    {info + "}\r\n", "-ERR 'Permissions Violation'\r\n"},
		"pings without end":     {info + "}\r\n", "PING\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			t.Cleanup(func() { l.Close() })
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					context.AfterFunc(t.Context(), func() { conn.Close() }) //nolint:errcheck // it is over
					go func() {
						_, err := io.WriteString(conn, sends.begin)
						for every := time.Tick(5 * time.Millisecond); err == nil && sends.again != ""; <-every {
							_, err = io.WriteString(conn, sends.again)
						}
					}()
				}
			}()
			a := must.Get(ParseAddress("nats://" + l.Addr().String() + "/traffic"))(t)
			ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
			defer cancel()
			c, err := Connect(ctx, a, Options{Patience: 50 * time.Millisecond})
			if err == nil {
				c.Close()
			}
			if err == nil || ctx.Err() != nil {
				t.Errorf("got error %v, and the wait ended with %v", err, ctx.Err())
			}
		})
	}
}

// Whatever a server answers, the recording continues and shipping ends when it is stopped. Asking for hosts gives an
// answer or an error, in bounded time and memory, without control characters for a terminal.
func TestHostileServer(t *testing.T) {
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	t.Cleanup(func() {
		var after runtime.MemStats
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 512<<20 {
			t.Errorf("%d MB were taken", grown>>20)
		}
	})
	for name, attack := range serverAttacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startHostile(t, attack)
			r := newRecorder(t)
			r.record(3, 100)
			shipping := ship(t, s.url(), r, func(o *ShipOptions) { o.Connect.Patience = 50 * time.Millisecond })
			eventually(t, "a question", func() bool { return s.asked.Load() > 0 })
			r.record(3, 100)
			a := must.Get(ParseAddress(s.url()))(t)
			if c, err := Connect(patient(t), a, Options{Patience: 50 * time.Millisecond}); err == nil {
				c.idle = 50 * time.Millisecond
				limit, cancel := context.WithTimeout(t.Context(), must.Patience)
				if _, err := c.Hosts(limit); limit.Err() != nil {
					t.Errorf("hosts do not end: %v", err)
				}
				cancel()
				c.Close()
			}
			shipping.stop()
			select {
			case <-shipping.done:
			case <-time.After(must.Patience):
				t.Fatal("shipping does not end")
			}
			r.record(3, 100)
			r.end()
			if told := shipping.told(); len(told) > 10 {
				t.Errorf("told %d times of trouble, such as %v", len(told), told[0])
			}
			steps := 0
			for _, err := range r.Reader.Steps(t.Context(), 1) {
				must.Do(t, err)
				steps++
			}
			expect.Equal(t, "steps are in the capture", 6*9, steps)
			if n := s.met.Load(); n > 200 {
				t.Errorf("%d connections", n)
			}
		})
	}
}
