package relay

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"testing"

	"a2atap/proxy/expect"
)

// answerMoments are the moments at which a side ends its part: what has arrived of the answer, and what the agent sends
// after that.
var answerMoments = []struct{ name, before, after string }{
	{"before the head", "", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
	{"between head and body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello"},
	{"inside the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", "llo"},
	{"in the stream", silentStream + "5\r\nhello\r\n", "5\r\nagain\r\n0\r\n\r\n"},
	{"in the silent stream", silentStream, "0\r\n\r\n"},
	{"after the answer", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", ""},
}

var endings = map[string]func(net.Conn){
	"closing alert": func(c net.Conn) { c.(interface{ CloseWrite() error }).CloseWrite() },
	EndHalfClose:    CloseWrite,
	EndClose:        func(c net.Conn) { c.Close() },
	EndReset:        Reset,
}

// newSideWire is newWire for clients on plain TCP or on TLS. Tickets would lie unread in a client that closes early, whose
// system would reset the connection for that.
func newSideWire(t *testing.T, secure bool) *wire {
	if !secure {
		return newWire(t, false, nil)
	}
	agent, tap := listen(t), listen(t)
	front := tls.NewListener(tap, &tls.Config{
		Certificates: []tls.Certificate{testCert()}, SessionTicketsDisabled: true,
	})
	connect := func() (net.Conn, error) { return tls.Dial("tcp", tap.Addr().String(), trustTestCert(t)) }
	return startWire(t, front, agent, connect, Config{
		Dial: func(ctx context.Context) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", agent.Addr().String())
		},
	}, nil)
}

// eachEnding runs a test for each way in which a side ends its part, at each moment.
func eachEnding(t *testing.T, test func(t *testing.T, secure bool, how, when, before, after string)) {
	for _, secure := range []bool{false, true} {
		for how := range endings {
			if how == "closing alert" && !secure {
				continue
			}
			for _, m := range answerMoments {
				t.Run(fmt.Sprintf("tls %t/%s/%s", secure, how, m.name), func(t *testing.T) {
					t.Parallel()
					test(t, secure, how, m.name, m.before, m.after)
				})
			}
		}
	}
}

// TestClientEnds lets the client end its part in each way at each moment, while the agent still answers. A client that
// only ends its sending gets its answer, and has not left.
func TestClientEnds(t *testing.T) {
	eachEnding(t, func(t *testing.T, secure bool, how, when, before, after string) {
		w := newSideWire(t, secure)
		client, agent := w.begin(post)
		if before != "" {
			agent.tells(client, before)
		}
		if when == "after the answer" { // while the connection is idle
			w.ended(0)
		}
		endings[how](client.Conn)
		if how == EndReset {
			agent.receiveBreak()
		} else {
			agent.receiveEnd()
			agent.send(after)
		}
		agent.Close()
		if how == EndHalfClose || how == "closing alert" {
			client.receive(after)
			client.receiveEnd()
		}
		e := w.ended(0)
		switch {
		case when == "after the answer":
			expect.Same(t, "what is reported of the sides", []string(nil), e.Sides)
			expect.Equal(t, "fault", nil, e.Fault)
		case how == EndReset:
			expect.Same(t, "what is reported of the sides", []string{"client reset"}, e.Sides)
			wantFault(t, e.Fault, KindReset, SideClient)
		case runtime.GOOS != "linux":
			expect.Same(t, "what is reported of the sides", []string{"client fin"}, e.Sides)
		case how == EndClose:
			expect.Same(t, "what is reported of the sides", []string{"client fin", "client close"}, e.Sides)
			wantFault(t, e.Fault, KindClientLeft, SideClient)
		default:
			expect.Same(t, "what is reported of the sides", []string{"client fin", "client half-close"}, e.Sides)
			expect.Equal(t, "fault", nil, e.Fault)
		}
	})
}

// TestAgentEnds lets the agent end its part in each way at each moment.
func TestAgentEnds(t *testing.T) {
	eachEnding(t, func(t *testing.T, secure bool, how, when, before, _ string) {
		w := newSideWire(t, secure)
		client, agent := w.begin(post)
		if before != "" {
			agent.tells(client, before)
		}
		endings[how](agent.Conn)
		client.receiveBreak()
		client.Close()
		e := w.ended(0)
		switch {
		case when == "after the answer":
			expect.Same(t, "what is reported of the sides", []string(nil), e.Sides)
			expect.Equal(t, "fault", nil, e.Fault)
		case how == EndReset:
			expect.Same(t, "what is reported of the sides", []string{"agent reset"}, e.Sides)
			wantFault(t, e.Fault, KindReset, SideAgent)
		default:
			expect.Same(t, "what is reported of the sides", []string{"agent fin"}, e.Sides)
			wantFault(t, e.Fault, KindTruncated, SideAgent)
		}
	})
}

// TestClientEndsBeforeStop lets a client end its sending on a stream that stays silent until the proxy stops. Nothing
// tells a close from a half-close then. A client that took an event after its half-close had not left.
func TestClientEndsBeforeStop(t *testing.T) {
	for _, test := range []struct {
		name, how, event, kind, side string
	}{
		{"closed", EndClose, "", KindClientLeft, SideClient},
		{"half-closed", EndHalfClose, "", KindClientLeft, SideClient},
		{"half-closed, and took an event", EndHalfClose, "5\r\nhello\r\n", KindShutdown, SideProxy},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWire(t, false, nil)
			client, agent := w.stream()
			endings[test.how](client.Conn)
			agent.receiveEnd()
			if test.event != "" {
				if runtime.GOOS != "linux" {
					return // nothing tells there that it took it
				}
				agent.tells(client, test.event)
			}
			w.stop()
			e := w.ended(0)
			wantFault(t, e.Fault, test.kind, test.side)
			expect.Same(t, "what is reported first of the sides", []string{"client fin"}, e.Sides[:1])
		})
	}
}

// TestHalfClosedPipeline sends three requests and ends the sending. All three answers come, and the client has not left.
func TestHalfClosedPipeline(t *testing.T) {
	w := newWire(t, false, nil)
	client, agent := w.begin(get + get + get)
	CloseWrite(client.Conn)
	agent.receiveEnd()
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for range 3 {
		agent.tells(client, answer)
	}
	client.receiveEnd()
	for x := range 3 {
		expect.Equal(t, "fault", nil, w.ended(x).Fault)
	}
}

// TestClosedBetweenWrites writes the answer in two pieces to a client that has closed. The second write fails.
func TestClosedBetweenWrites(t *testing.T) {
	for _, answer := range [][2]string{
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "hello"},
		{silentStream, "0\r\n\r\n"},
		{silentStream, "5\r\nhello\r\n"},
	} {
		w := newWire(t, false, nil)
		client, agent := w.begin(post)
		client.Close()
		agent.receiveEnd()
		agent.send(answer[0])
		w.until("the head passes", func() bool { return w.exchanges[0].Answer != "" })
		agent.send(answer[1])
		agent.Close()
		wantFault(t, w.ended(0).Fault, KindClientLeft, SideClient)
	}
}
