package injection

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/proxy/relay"
)

// A silent is a connection to an agent that has sent some bytes, in pieces, and takes all.
type silent struct {
	net.Conn
	in   []byte
	size int // of a piece
	got  bytes.Buffer
}

func (s *silent) Read(p []byte) (int, error) {
	if len(s.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.in[:min(s.size, len(s.in))])
	s.in = s.in[n:]
	return n, nil
}

func (s *silent) Write(p []byte) (int, error)     { return s.got.Write(p) }
func (s *silent) Close() error                    { return nil }
func (s *silent) SetReadDeadline(time.Time) error { return nil }

const (
	askHead = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 63\r\n\r\n"
	askBody = `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","x":{}}`
)

// play has two requests go to an agent that answers with bytes, and returns what is read.
func play(t *testing.T, fault string, agent *silent) (got []byte, notes []string, err error) {
	t.Helper()
	s := must.Get(Parse("a:" + fault))(t)
	i := New(PlanFor("a", []Spec{s}), func(_ int, f capture.Fact) { notes = append(notes, f.Note) }, nil)
	i.hang = time.Millisecond
	c := i.Wrap(agent)
	for x := range 2 {
		i.Request(x, []byte(askHead))
		i.RequestBody(x, []byte(askBody))
		c.Write([]byte(askHead))
		i.RequestEnd(x)
		c.Write([]byte(askBody))
	}
	got, err = io.ReadAll(c)
	c.Close()
	return got, notes, err
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

func TestFaultsOfStreams(t *testing.T) {
	const (
		chunked = streamHead + "Transfer-Encoding: chunked\r\n\r\n"
		first   = "data: 1\n\n"
		second  = "data: 2\n\n"
		whole   = chunked + "8\r\ndata: 1\n\r\n1\r\n\n\r\n9\r\n" + second + "\r\n0\r\nX: y\r\n\r\n"
		after   = "HTTP/1.1 204 No Content\r\n\r\n"
		closing = streamHead + "\r\n" + first + second
	)
	for _, tt := range []struct {
		name, fault, in, want string
		err                   error
	}{
		{"cut", "cut-stream=1", whole + after, chunked + "9\r\n" + first + "\r\n", io.ErrUnexpectedEOF},
		{"cut at once", "cut-stream=0", whole, chunked, io.ErrUnexpectedEOF},
		{
			"cut after the last", "cut-stream=2@1", whole + after, chunked + "9\r\n" + first + "\r\n9\r\n" + second + "\r\n",
			io.ErrUnexpectedEOF,
		},
		{"end", "end-stream=1", whole, strings.TrimSuffix(chunked, "\r\n") + "Connection: close\r\n\r\n9\r\n" + first +
			"\r\n0\r\n\r\n", nil},
		{"twice", "duplicate-event=2@1", whole + after, chunked + "9\r\n" + first + "\r\n9\r\n" + second + "\r\n9\r\n" +
			second + "\r\n0\r\nX: y\r\n\r\n" + after, nil},
		{"late", "delay-events=1ms@1", whole + after, chunked + "9\r\n" + first + "\r\n9\r\n" + second +
			"\r\n0\r\nX: y\r\n\r\n" + after, nil},
		{"stalled", "stall-stream=1", whole, chunked + "9\r\n" + first + "\r\n", io.ErrUnexpectedEOF},
		{"cut until close", "cut-stream=1", closing, streamHead + "\r\n" + first, io.ErrUnexpectedEOF},
		{"end until close", "end-stream=1", closing, streamHead + "Connection: close\r\n\r\n" + first, nil},
		{"twice until close", "duplicate-event=2", closing, closing + second, nil},
		{"broken chunk", "duplicate-event=1", chunked + "x\r\n", chunked + "x\r\n", nil},
		{"too few events", "cut-stream=9@1", closing, closing, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 7, 1000} {
				got, notes, err := play(t, tt.fault, &silent{in: []byte(tt.in), size: size})
				if string(got) != tt.want || !errors.Is(err, tt.err) || tt.err == nil && err != nil {
					t.Errorf("in pieces of %d: got %q and %v, want %q and %v", size, got, err, tt.want, tt.err)
				}
				if len(notes) == 0 || !strings.HasPrefix(notes[0], capture.FaultMadeHere+tt.fault[:7]) {
					t.Errorf("told %q", notes)
				}
			}
		})
	}
}

// What cannot have the fault passes, and is not said to have it.
func TestUntouched(t *testing.T) {
	for _, in := range []string{
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 204 No\r\n\r\n",
		streamHead + "Content-Encoding: gzip\r\n\r\n\x1f\x8b",
		streamHead + "Content-Length: 9\r\n\r\ndata: 1\n\n",
		"HTTP/1.1 503 Busy\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n\x00\x01\x02",
		"no HTTP at all\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Le", "\r\n",
	} {
		got, notes, err := play(t, "cut-stream=1", &silent{in: []byte(in), size: 5})
		if string(got) != in || err != nil || len(notes) > 0 {
			t.Errorf("got %q, %v and %q, want %q", got, err, notes, in)
		}
	}
}

// Of an agent's bytes all that is not part of an answer with a fault passes, whatever they are.
func FuzzAnswers(f *testing.F) {
	kinds := []string{
		"cut-stream=1@2", "end-stream=1@2", "duplicate-event=1@2", "delay-events=1ns@2", "reset@2", "reset-body@2",
		"content-type=a/b@2", "delay=1ns@2", "status=503@2", "stall-stream=1@2",
	}
	for k := range kinds {
		f.Add(k, 3, []byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"+streamHead+
			"Transfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n"))
		f.Add(k, 100, []byte(streamHead+"\r\ndata: 1\n\ndata: 2"))
	}
	f.Fuzz(func(t *testing.T, kind, size int, in []byte) {
		if kind < 0 || kind >= len(kinds) || size < 1 {
			return
		}
		got, _, _ := play(t, kinds[kind], &silent{in: bytes.Clone(in), size: size})
		if first := firstAnswer(in); !bytes.HasPrefix(got, in[:first]) {
			t.Errorf("%s: the first answer has no fault; got %q of %q", kinds[kind], got, in[:first])
		}
	})
}

// firstAnswer returns how many bytes the first answer has, with the interim ones before it.
func firstAnswer(in []byte) (n int) {
	var s relay.AnswerScanner
	for !s.Done() {
		k, what, err := s.Next(in[n:])
		if err != nil || k == 0 || what == relay.StretchUpgrade {
			return len(in)
		}
		n += k
	}
	return n
}

// A client that leaves as soon as its request is complete does not bring it to an agent that is not to get it.
func TestClientLeavesWhatIsDropped(t *testing.T) {
	for _, fault := range []string{"drop", "status=503"} {
		t.Run(fault, func(t *testing.T) {
			s := must.Get(Parse("a:" + fault))(t)
			i := New(PlanFor("a", []Spec{s}), func(int, capture.Fact) {}, nil)
			i.Stream(0, 1)
			i.Request(0, []byte("GET /tasks HTTP/2\r\nHost: a\r\n\r\n"))
			i.RequestEnd(0)
			i.Ended(0)
			agent, far := net.Pipe()
			c := i.WrapHTTP2(t.Context(), far)
			go func() { // as the first relay sends it on
				io.WriteString(c, http2.ClientPreface)
				f := http2.NewFramer(c, nil)
				f.WriteSettings()
				f.WriteHeaders(http2.HeadersFrameParam{
					StreamID: 1, EndStream: true, EndHeaders: true,
					BlockFragment: []byte("\x82\x86\x84\x41\x01a"), // GET http://a/
				})
				f.WriteRSTStream(1, http2.ErrCodeCancel)
				f.WritePing(false, [8]byte{})
			}()
			must.Get(io.ReadFull(agent, make([]byte, len(http2.ClientPreface))))(t)
			for f := http2.NewFramer(io.Discard, agent); ; {
				switch f := must.Get(f.ReadFrame())(t).(type) {
				case *http2.PingFrame:
					c.Close()
					if len(i.streams) > 0 {
						t.Errorf("still knows %v", i.streams)
					}
					return
				case *http2.HeadersFrame, *http2.RSTStreamFrame:
					t.Errorf("the agent got %v", f)
				}
			}
		})
	}
}
