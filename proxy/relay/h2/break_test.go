package h2_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/relay"
	"a2atap/proxy/scheme"
)

// A session is a client and an agent that the test plays, with a tap between them.
type session struct {
	*tap
	client, agent *wire
}

func newSession(t *testing.T, change func(*relay.Config)) *session {
	t.Helper()
	l := listen(t)
	defer l.Close()
	s := &session{tap: newTap(t, l.Addr().String(), change)}
	s.client = dial(t, s.addr)
	c := must.Get(l.Accept())(t)
	t.Cleanup(func() { c.Close() })
	readFull(t, c, make([]byte, len(http2.ClientPreface)))
	s.agent = newWire(t, c)
	s.agent.WriteSettings()
	return s
}

// asked waits until a request has arrived at the agent.
func (s *session) asked() {
	s.agent.t.Helper()
	if s.agent.next(isHeaders) == nil {
		s.agent.t.Fatal("no request came")
	}
}

func isHeaders(f http2.Frame) bool { _, ok := f.(*http2.MetaHeadersFrame); return ok }

// answer begins an answer of the agent.
func (s *session) answer(id uint32, ends bool) {
	s.agent.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: s.agent.block(":status", "200"), EndHeaders: true, EndStream: ends,
	})
}

// halfData is the beginning of a DATA frame of the stream 1, the rest of which does not come.
const halfData = "\x00\x00\x64\x00\x00\x00\x00\x00\x01half"

// However a connection breaks, it ends, each exchange once, with the fault that says who did it.
func TestBreaks(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(s *session)
		kind string
		side string
		text string
	}{
		"the agent closes inside a frame": {func(s *session) {
			s.answer(1, false)
			io.WriteString(s.agent.Conn, halfData)
			s.agent.Conn.Close()
		}, relay.KindTruncated, relay.SideAgent, "before the answer was complete"},
		"the agent closes": {func(s *session) { s.agent.Conn.Close() }, relay.KindTruncated, relay.SideAgent, ""},
		"the agent resets the connection": {func(s *session) {
			s.agent.Conn.(*net.TCPConn).SetLinger(0)
			s.agent.Conn.Close()
		}, relay.KindReset, relay.SideAgent, "reset"},
		"the agent resets the stream": {func(s *session) {
			s.agent.WriteRSTStream(1, http2.ErrCodeInternal)
		}, relay.KindReset, relay.SideAgent, "INTERNAL_ERROR"},
		"the agent refuses the stream": {func(s *session) {
			s.agent.WriteGoAway(0, http2.ErrCodeNo, []byte("go\x1b away"))
		}, relay.KindReset, relay.SideAgent, "not observed: GOAWAY with NO_ERROR (go? away)"},
		"the agent gives the connection up": {func(s *session) {
			s.agent.WriteGoAway(1, http2.ErrCodeEnhanceYourCalm, nil)
			s.agent.Conn.Close()
		}, relay.KindReset, relay.SideAgent, "ENHANCE_YOUR_CALM"},
		"the agent has no HTTP/2": {func(s *session) {}, "", "", ""},
		"the agent speaks TLS":    {func(s *session) {}, "", "", scheme.SpeaksTLS},
		"the agent sends what cannot be decoded": {func(s *session) {
			s.agent.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0xff}, EndHeaders: true})
		}, relay.KindRefused, relay.SideAgent, "cannot be decoded"},
		"the client closes": {func(s *session) {
			s.client.Conn.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, s.agent.Conn)
			s.agent.Conn.Close()
		}, relay.KindClientLeft, relay.SideClient, ""},
		"the client closes inside a frame of the agent": {func(s *session) {
			s.answer(1, false)
			io.WriteString(s.agent.Conn, halfData)
			s.client.next(isHeaders)
			s.client.Conn.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, s.agent.Conn)
			s.agent.Conn.Close()
		}, relay.KindClientLeft, relay.SideClient, ""},
		"the client cancels": {func(s *session) {
			s.client.WriteRSTStream(1, http2.ErrCodeCancel)
		}, relay.KindClientLeft, relay.SideClient, "CANCEL"},
		"the client resets": {func(s *session) {
			s.client.WriteRSTStream(1, http2.ErrCodeFlowControl)
		}, relay.KindReset, relay.SideClient, "FLOW_CONTROL_ERROR"},
		"the proxy stops": {func(s *session) { s.stop() }, relay.KindShutdown, relay.SideProxy, ""},
		"the proxy stops inside a frame": {func(s *session) {
			s.answer(1, false)
			io.WriteString(s.agent.Conn, halfData)
			s.client.next(isHeaders)
			s.stop()
		}, relay.KindShutdown, relay.SideProxy, ""},
		"the answer is late": {func(*session) {}, relay.KindTimeout, relay.SideAgent, "no head of an answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			switch {
			case test.kind == "" && test.text == scheme.SpeaksTLS:
				testAgentOfTLS(t)
				return
			case test.kind == "":
				testAgentOfHTTP1(t)
				return
			}
			s := newSession(t, func(c *relay.Config) {
				if test.kind == relay.KindTimeout {
					c.AnswerTimeout = 10 * time.Millisecond
				}
			})
			s.client.get(1, "/")
			s.asked()
			test.do(s)
			e := s.seen.ended(1)[0]
			if e.Fault == nil || e.Fault.Kind != test.kind || e.Fault.Side != test.side ||
				!strings.Contains(e.Fault.Detail, test.text) {
				t.Errorf("the fault is %v", e.Fault)
			}
			s.client.Conn.Close()
			s.agent.Conn.Close()
		})
	}
}

// An agent that knows HTTP/1 alone is named, and its answer goes to the client.
func testAgentOfHTTP1(t *testing.T) {
	l := listen(t)
	defer l.Close()
	p := newTap(t, l.Addr().String(), nil)
	w := dial(t, p.addr)
	w.get(1, "/")
	c := must.Get(l.Accept())(t)
	readFull(t, c, make([]byte, len(http2.ClientPreface)+9+9))
	const says = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
	io.WriteString(c, says)
	expect.Equal(t, "the client", says, readFull(t, w.Conn, make([]byte, len(says))))
	c.Close()
	e := p.seen.ended(1)[0]
	if e.Fault == nil || e.Fault.Kind != relay.KindNotHTTP || !strings.Contains(e.Fault.Detail, "does not support HTTP/2") {
		t.Errorf("the fault is %v", e.Fault)
	}
	w.Conn.Close()
}

// An agent that answers the preface with a TLS record is named, however short the record is: gRPC in the clear before an
// agent on TLS.
func testAgentOfTLS(t *testing.T) {
	l := listen(t)
	defer l.Close()
	advised := make(chan string, 1)
	p := newTap(t, l.Addr().String(), func(c *relay.Config) {
		c.Advise = func(err error, _ string) string {
			advised <- err.Error()
			return ""
		}
	})
	w := dial(t, p.addr)
	w.get(1, "/")
	c := must.Get(l.Accept())(t)
	readFull(t, c, make([]byte, len(http2.ClientPreface)+9+9))
	const alert = "\x15\x03\x03\x00\x02\x02\x46"
	io.WriteString(c, alert)
	expect.Equal(t, "the client", alert, readFull(t, w.Conn, make([]byte, len(alert))))
	expect.Contains(t, "the notice", scheme.SpeaksTLS, <-advised)
	c.Close()
	e := p.seen.ended(1)[0]
	if e.Fault == nil || e.Fault.Kind != relay.KindTLS || !strings.Contains(e.Fault.Detail, scheme.SpeaksTLS) {
		t.Errorf("the fault is %v", e.Fault)
	}
	w.Conn.Close()
}

// What is reset after an answer is complete is no fault. A call of gRPC is complete with its message.
func TestResetAfterTheAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		kind  string
		sends []string
		asked bool
	}{
		"no call":       {"text/plain", []string{"\x00\x00\x00\x00\x02", "ab"}, false},
		"nothing":       {"application/grpc", nil, false},
		"half a prefix": {"application/grpc", []string{"\x00\x00"}, false},
		"half":          {"application/grpc", []string{"\x00\x00\x00\x00\x02a"}, false},
		"an empty one":  {"application/grpc", []string{"\x00\x00\x00\x00\x00"}, true},
		"a message":     {"application/grpc+proto", []string{"\x00\x00", "\x00\x00\x02a", "b"}, true},
		"and a half":    {"application/grpc", []string{"\x00\x00\x00\x00\x00", "\x00\x00"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, nil)
			s.client.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 1, EndHeaders: true, BlockFragment: s.client.block(
					":method", "POST", ":scheme", "http", ":path", "/", ":authority", "tap", "content-type", test.kind),
			})
			s.asked()
			for _, p := range test.sends {
				s.client.WriteData(1, false, []byte(p))
				s.agent.next(isData)
			}
			s.answer(1, true)
			s.agent.WriteRSTStream(1, http2.ErrCodeNo)
			s.client.next(isReset)
			s.client.WriteData(1, true, nil) // it has not read that
			if f := s.agent.next(isData); f == nil || !f.(*http2.DataFrame).StreamEnded() {
				t.Errorf("the agent got %v", f)
			}
			e := s.seen.ended(1)[0]
			if e.Fault != nil || !e.Answered || e.Asked != test.asked || string(e.Body) != strings.Join(test.sends, "") {
				t.Errorf("%+v, %v", e, e.Fault)
			}
		})
	}
}

func isData(f http2.Frame) bool { _, ok := f.(*http2.DataFrame); return ok }

func isReset(f http2.Frame) bool { _, ok := f.(*http2.RSTStreamFrame); return ok }
