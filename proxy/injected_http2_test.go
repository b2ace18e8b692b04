package proxy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/grpc"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// A duplex is an agent that answers over HTTP/2, in JSON as a talker does and over gRPC with a message or three. What is
// asked of /wait is answered in two pieces, the second of which comes when more is closed.
type duplex struct {
	URL   string
	asked atomic.Int64 // how many calls it got
	left  chan error   // how contexts of calls have ended that wait
	more  chan struct{}
}

const (
	sendPath   = "/lf.a2a.v1.A2AService/SendMessage"
	streamPath = "/lf.a2a.v1.A2AService/SendStreamingMessage"
)

func newDuplex(t *testing.T) *duplex {
	a := &duplex{more: make(chan struct{}), left: make(chan error, 10)}
	a.URL = newHTTP2Agent(t, false, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/wait" {
			io.WriteString(w, "1")
			w.(http.Flusher).Flush()
			select {
			case <-a.more:
				io.WriteString(w, "2")
			case <-r.Context().Done():
			}
			return
		}
		a.asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		pieces := []string{wholeAnswer}
		switch {
		case r.URL.Path == sendPath:
			w.Header().Set("Content-Type", "application/grpc")
			pieces = []string{messageText(1)}
		case r.URL.Path == streamPath:
			w.Header().Set("Content-Type", "application/grpc")
			pieces = []string{messageText(1), messageText(2), messageText(3)}
		case strings.Contains(string(body), "Stream"):
			w.Header().Set("Content-Type", "text/event-stream")
			pieces = []string{": hello\n\n", eventText(1), eventText(2), eventText(3)}
		}
		for _, piece := range pieces {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
		w.Header().Set(http.TrailerPrefix+"grpc-status", "0")
	}).URL
	return a
}

func messageText(n int) string {
	return string(grpc.AppendFrame(nil, bytes.Repeat([]byte{byte(n)}, 20_000)))
}

func messageTexts(numbers ...int) (text string) {
	for _, n := range numbers {
		text += messageText(n)
	}
	return text
}

// A result is what a client got.
type result struct {
	status int
	kind   string // its media type
	text   string
	grpc   string // its status over gRPC, by its number
	code   string // of HTTP/2, with which the stream was reset
}

// askHTTP2 posts a body, and returns the result.
func askHTTP2(t *testing.T, ctx context.Context, c *http.Client, url, kind, body string) (got result) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	must.Do(t, err)
	req.Header.Set("Content-Type", kind)
	res, err := c.Do(req)
	var all []byte
	if err == nil {
		all, err = io.ReadAll(res.Body)
		res.Body.Close()
		got = result{status: res.StatusCode, kind: res.Header.Get("Content-Type"), text: string(all)}
		got.grpc = res.Trailer.Get("Grpc-Status") + res.Header.Get("Grpc-Status")
	}
	if reset := (http2.StreamError{}); errors.As(err, &reset) {
		got.code = reset.Code.String()
	} else if err != nil {
		got.code = err.Error()
		for c := http2.ErrCodeNo; c <= http2.ErrCodeHTTP11Required; c++ {
			if strings.HasSuffix(got.code, "; "+c.String()+"; received from peer") {
				got.code = c.String()
			}
		}
	}
	return got
}

func TestFaultsOverHTTP2(t *testing.T) {
	t.Parallel()
	const jsonOnce, jsonStream, rpcOnce, rpcStream = "JSON", "JSON stream", "gRPC", "gRPC stream"
	for _, tt := range []struct {
		fault, ask string
		want       result // an empty text of a status is not compared
		broken     string // of the record
	}{
		{"status=503", jsonOnce, result{status: 503, kind: "application/json"}, ""},
		{"status=503", rpcOnce, result{status: 503, kind: "application/json"}, ""},
		{"grpc-status=UNAVAILABLE", rpcOnce, result{status: 200, kind: "application/grpc", grpc: "14"}, ""},
		{"grpc-status=resource_exhausted", rpcStream, result{status: 200, kind: "application/grpc", grpc: "8"}, ""},
		{"delay=30ms", jsonOnce, result{status: 200, kind: "application/json", text: wholeAnswer, grpc: "0"}, ""},
		{"delay=30ms", rpcStream, result{200, "application/grpc", messageTexts(1, 2, 3), "0", ""}, ""},
		{"content-type=text/html", rpcOnce, result{200, "text/html", messageText(1), "0", ""}, ""},
		{"reset", jsonOnce, result{code: "INTERNAL_ERROR"}, "injected"},
		{"reset=ENHANCE_YOUR_CALM", rpcOnce, result{code: "ENHANCE_YOUR_CALM"}, "injected"},
		{"reset-body", jsonOnce, result{200, "application/json", wholeAnswer[:len(wholeAnswer)/2], "", "INTERNAL_ERROR"}, "injected"},
		{"reset-body=CANCEL", rpcStream, result{status: 200, kind: "application/grpc", code: "CANCEL"}, "injected"},
		{"cut-stream=0", jsonStream, result{200, "text/event-stream", "", "", "INTERNAL_ERROR"}, "injected"},
		{"cut-stream=2", jsonStream, result{200, "text/event-stream", eventTexts(1, 2), "", "INTERNAL_ERROR"}, "injected"},
		{"cut-stream=0", rpcStream, result{status: 200, kind: "application/grpc"}, ""},
		{"cut-stream=2", rpcStream, result{200, "application/grpc", messageTexts(1, 2), "", ""}, ""},
		{"cut-stream=3", rpcStream, result{200, "application/grpc", messageTexts(1, 2, 3), "", ""}, ""},
		{"end-stream=1", jsonStream, result{200, "text/event-stream", eventTexts(1), "", ""}, ""},
		{"end-stream=1", rpcStream, result{200, "application/grpc", messageText(1), "0", ""}, ""},
		{"duplicate-event=2", jsonStream, result{200, "text/event-stream", eventTexts(1, 2, 2, 3), "0", ""}, ""},
		{"duplicate-event=3", rpcStream, result{200, "application/grpc", messageTexts(1, 2, 3, 3), "0", ""}, ""},
		{"delay-events=10ms", rpcStream, result{200, "application/grpc", messageTexts(1, 2, 3), "0", ""}, ""},
		{"goaway", rpcOnce, result{200, "application/grpc", messageText(1), "0", ""}, ""},
		{"goaway=ENHANCE_YOUR_CALM", jsonStream, result{200, "text/event-stream", eventTexts(1, 2, 3), "0", ""}, ""},
	} {
		for _, window := range []int{0, 1} {
			t.Run(fmt.Sprint(tt.fault, " ", tt.ask, " ", window), func(t *testing.T) {
				agent := newDuplex(t)
				r := newRig(t, withFaults(t, "a:"+tt.fault), "a="+agent.URL)
				c, url := newHTTP2Client(t), "http://"+r.tap(0).Addr()
				c.Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 5_000 * window}
				other, err := c.Get(url + "/wait") // on the same connection, from before to after
				must.Do(t, err)
				path, kind, body := "/", "application/json", askOnce
				switch tt.ask {
				case jsonStream:
					body = askStream
				case rpcOnce:
					path, kind, body = sendPath, "application/grpc", messageText(0)
				case rpcStream:
					path, kind, body = streamPath, "application/grpc", messageText(0)
				}
				begun := time.Now()
				got := askHTTP2(t, context.Background(), c, url+path, kind, body)
				want := tt.want
				if want.text == "" && want.status != 0 && !strings.HasPrefix(tt.fault, "cut") {
					want.text = got.text
				}
				if got != want {
					t.Errorf("got %.200v, want %.200v", fmt.Sprint(got), fmt.Sprint(want))
				}
				if strings.HasPrefix(tt.fault, "delay=") && time.Since(begun) < 30*time.Millisecond {
					t.Errorf("the answer came after %v", time.Since(begun))
				}
				if kept := strings.Contains(tt.fault, "status"); kept != (agent.asked.Load() == 0) {
					t.Errorf("the agent got %d calls", agent.asked.Load())
				}
				close(agent.more)
				rest, err := io.ReadAll(other.Body)
				if other.Body.Close(); err != nil || string(rest) != "12" {
					t.Errorf("another stream of the connection got %q and %v", rest, err)
				}
				xs := r.record()
				if xs[0].FaultMade() != "" || xs[0].Fault != nil {
					t.Errorf("the record has %v and %q of another stream", xs[0].Fault, xs[0].Notes)
				}
				checkFaulted(t, xs[1], tt.fault, tt.broken)
				if got.code == "" && recordedAnswer(xs[1]) != got.text {
					t.Errorf("the record has %q, the client got %q", recordedAnswer(xs[1]), got.text)
				}
			})
		}
	}
}

// checkFaulted checks that an exchange names the fault that was made, and blames no one else.
func checkFaulted(t *testing.T, x *capture.Exchange, fault, broken string) {
	t.Helper()
	if !strings.HasPrefix(strings.ToLower(x.FaultMade()), strings.ToLower(fault)) {
		t.Errorf("the record has notes %q", x.Notes)
	}
	got := ""
	if x.Fault != nil {
		if got = x.Fault.Kind; x.Fault.Side != "proxy" {
			t.Errorf("the record blames the %s: %s", x.Fault.Side, x.Fault.Detail)
		}
	}
	expect.Equal(t, fmt.Sprintf("the record has fault %+v", x.Fault), broken, got)
}

// A client that waits for what never comes gives its stream up, and no other.
func TestFaultsThatLastOverHTTP2(t *testing.T) {
	for _, tt := range []struct {
		fault, path string
		asked       int64
		text        string
	}{
		{"drop", sendPath, 0, ""},
		{"drop", streamPath, 0, ""},
		{"stall-stream=2", streamPath, 1, messageTexts(1, 2)},
	} {
		t.Run(tt.fault+tt.path, func(t *testing.T) {
			agent := newDuplex(t)
			r := newRig(t, withFaults(t, "a:"+tt.fault), "a="+agent.URL)
			c, url := newHTTP2Client(t), "http://"+r.tap(0).Addr()
			other := must.Get(c.Get(url + "/wait"))(t)
			ctx, giveUp := context.WithCancel(context.Background())
			done := make(chan result, 1)
			go func() { done <- askHTTP2(t, ctx, c, url+tt.path, "application/grpc", messageText(0)) }()
			r.follow(func(s capture.Step) bool {
				f, isFact := s.What.(capture.Fact)
				e, isEvent := s.What.(capture.ResponseEvent)
				return isFact && f.Note != "" && tt.text == "" || isEvent && e.Event.K == 2
			})
			giveUp()
			<-done
			r.follow(func(s capture.Step) bool { _, closed := s.What.(capture.Closed); return closed })
			close(agent.more)
			if rest, err := io.ReadAll(other.Body); err != nil || string(rest) != "12" {
				t.Errorf("another stream of the connection got %q and %v", rest, err)
			}
			other.Body.Close()
			if got := agent.asked.Load(); got != tt.asked {
				t.Errorf("the agent got %d calls, want %d", got, tt.asked)
			}
			x := r.record()[1]
			if x.Fault == nil || x.Fault.Kind != "client-left" || x.FaultMade() != tt.fault || recordedAnswer(x) != tt.text {
				t.Errorf("the record has fault %v and notes %q", x.Fault, x.Notes)
			}
		})
	}
}

// Faults that a call cannot have are said, and count for the calls that can.
func TestFaultsOfAnotherWire(t *testing.T) {
	agent := newDuplex(t)
	r := newRig(t, withFaults(t, "a:grpc-status=ABORTED@#1"), "a="+agent.URL)
	c, url := newHTTP2Client(t), "http://"+r.tap(0).Addr()
	expect.Equal(t, "", wholeAnswer, askHTTP2(t, context.Background(), c, url, "application/json", askOnce).text)
	want := "tap a: --fault grpc-status=ABORTED@#1 applies only to calls over gRPC; a client calls over HTTP/2"
	expect.Equal(t, "told", want, r.notice())
	for i, want := range []string{"10", "0"} {
		expect.Equal(t, fmt.Sprintf("call %d", i+1),
			want, askHTTP2(t, context.Background(), c, url+sendPath, "application/grpc", messageText(0)).grpc)
	}
}

// Many calls with faults on one connection leave nothing behind.
func TestManyFaultsOverHTTP2(t *testing.T) {
	t.Parallel()
	agent := newDuplex(t)
	r := newRig(t, func(o *proxy.Options, ro *recording.Options) {
		withFaults(t, "a:status=503@SendMessage", "a:cut-stream=1")(o, ro)
	}, "a="+agent.URL)
	c, url := newHTTP2Client(t), "http://"+r.tap(0).Addr()
	for range faultyCalls {
		if got := askHTTP2(t, context.Background(), c, url, "application/json", askOnce); got.status != 503 {
			t.Fatalf("got %v", got)
		}
		got := askHTTP2(t, context.Background(), c, url+streamPath, "application/grpc", messageText(0))
		if got.text != messageText(1) || got.grpc != "" {
			t.Fatalf("got %.100v", fmt.Sprint(got))
		}
	}
}

// An error of gRPC that is one block of fields stays one, however late it is: in two, clients would take it for broken.
func TestLateTrailersOnly(t *testing.T) {
	agent := newHTTP2Agent(t, false, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // what answers before it has the request gets no fault
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Grpc-Status", "5")
	})
	r := newRig(t, withFaults(t, "a:delay=1ms"), "a="+agent.URL)
	conn := must.Get(net.Dial("tcp", r.tap(0).Addr()))(t)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(must.Patience))
	write(t, conn, http2.ClientPreface)
	f := http2.NewFramer(conn, conn)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	f.WriteSettings()
	var block bytes.Buffer
	fields := hpack.NewEncoder(&block)
	for _, field := range []string{
		":method POST", ":scheme http", ":authority " + r.tap(0).Addr(), ":path " + sendPath, "content-type application/grpc",
	} {
		name, value, _ := strings.Cut(field, " ")
		fields.WriteField(hpack.HeaderField{Name: name, Value: value})
	}
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true})
	f.WriteData(1, true, []byte(messageText(0))[:5_000])
	for {
		frame := must.Get(f.ReadFrame())(t)
		if head, ok := frame.(*http2.MetaHeadersFrame); ok {
			if !head.StreamEnded() {
				t.Errorf("the head does not end the stream: %v", head)
			}
			break
		}
	}
	if x := r.record()[0]; x.FaultMade() == "" {
		t.Errorf("the record has notes %q", x.Notes)
	}
}
