package proxy_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
)

func TestLimits(t *testing.T) {
	stream := "data: " + strings.Repeat("y", 100) + "\n\ndata: z\n\n"
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 3 {
				io.WriteString(w, stream)
			}
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.Write(body)
	})
	r := newRig(t, func(_ *proxy.Options, o *recording.Options) { o.MaxBody, o.MaxEvent = 100_000, 50 }, agent.URL)
	body := strings.Repeat("0123456789", 20_000)
	if _, got := fetch(t, newClient(t), "POST", r.tap(0).URL(), strings.NewReader(body)); got != body {
		t.Errorf("got %d bytes", len(got))
	}
	if _, got := get(t, newClient(t), r.tap(0).URL()+"/stream"); got != strings.Repeat(stream, 3) {
		t.Errorf("got %d bytes", len(got))
	}
	record := r.record()
	for _, b := range []capture.Body{record[0].Request.Body, record[0].Response.Body} {
		if string(b.Data) != body[:100_000] || b.Dropped != 100_000 || b.Size != 200_000 || !b.Complete {
			t.Errorf("%d bytes kept, %d dropped of %d", len(b.Data), b.Dropped, b.Size)
		}
	}
	var raw []string
	for _, e := range record[1].Response.Events {
		raw = append(raw, fmt.Sprintf("%d+%d", len(e.Raw), e.Dropped))
	}
	expect.Same(t, "events", []string{"50+58", "9+0", "50+58", "9+0", "50+58", "9+0"}, raw)
	expect.Equal(t, "limits are counted as losses", 0, r.recorder.Stats().LostBytes)
}

// The tap refuses a head beyond its limit, and reports so, whatever the agent would do. Client and record can tell the
// refusal from an answer of the agent.
func TestHugeHead(t *testing.T) {
	agent := newAgent(t, func(http.ResponseWriter, *http.Request) { t.Error("the agent was asked") })
	r := newRig(t, nil, "booker="+agent.URL)
	request := must.Get(http.NewRequest(http.MethodGet, r.tap(0).URL(), nil))(t)
	for i := range 40 {
		request.Header.Set(fmt.Sprintf("X-Large-%d", i), strings.Repeat("y", 1<<20))
	}
	answer := must.Get(newClient(t).Do(request))(t)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 431 || answer.Header.Get("X-A2atap") != relay.KindRefused ||
		answer.Header.Get("Server") != "a2atap" || !strings.Contains(string(text), "than this proxy accepts") ||
		strings.Contains(string(text), "correct the client") {
		t.Errorf("got %s, %v, %s, %v", answer.Status, answer.Header, text, err)
	}
	x := r.record()[0]
	if x.Response != nil || x.Fault == nil || x.Fault.Kind != relay.KindRefused {
		t.Errorf("recorded is %v, %v", x.Response, x.Fault)
	}
}

func TestCompressedStream(t *testing.T) {
	zip := func(texts ...string) (pieces [][]byte) {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		for _, text := range texts {
			io.WriteString(w, text)
			w.Flush()
			pieces = append(pieces, bytes.Clone(out.Bytes()))
			out.Reset()
		}
		w.Close()
		return append(pieces, out.Bytes())
	}
	sink := new(testSink)
	r := recording.New(recording.Options{Sink: sink})
	c := r.Conn(capture.Peer{}, "")
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: %s\r\n\r\n"
	begin := func(x int, coding string) {
		c.Request(x, []byte(requestHead))
		c.RequestEnd(x, nil)
		c.Answer(x, fmt.Appendf(nil, head, coding))
	}
	begin(0, "gzip")
	var size int64
	for _, p := range zip("data: 1\n\n", "data: 2\n\ndata:", " 3\n\n") {
		c.AnswerBody(0, p)
		size += int64(len(p))
	}
	c.AnswerEnd(0, nil)
	c.Ended(0)
	begin(1, "gzip")
	c.AnswerBody(1, zip("data: 1\n\ndata: not the agent's e")[0])
	c.AnswerBody(1, []byte("\xff\xff\xff\xff no deflate"))
	c.AnswerBody(1, []byte("more"))
	c.AnswerEnd(1, nil)
	c.Ended(1)
	begin(2, "x-odd")
	c.AnswerBody(2, []byte("odd"))
	c.AnswerEnd(2, nil)
	c.Ended(2)
	closeRecorder(t, r)
	all, _ := sink.exchanges(t)
	var raw []string
	for _, e := range all[0].Response.Events {
		raw = append(raw, string(e.Raw))
	}
	if diff := cmp.Diff([]string{"data: 1\n\n", "data: 2\n\n", "data: 3\n\n"}, raw); diff != "" ||
		all[0].Response.Body.Size != size {
		t.Errorf("size %d, want %d; want -, got +:\n%s", all[0].Response.Body.Size, size, diff)
	}
	if x := all[1]; len(x.Response.Events) != 1 || len(x.Notes) != 1 || x.Response.Body.Dropped != 19 {
		t.Errorf("broken coding: got %+v, notes %q", x.Response, x.Notes)
	}
	if x := all[2]; x.Response.Stream || string(x.Response.Body.Data) != "odd" {
		t.Errorf("unknown coding: got %+v", x.Response)
	}
}

// A stream that decodes to gigabytes, or to millions of events, is let go: what came before is recorded, the rest
// counted.
func TestDecompressionBomb(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]string{"bytes": ": " + strings.Repeat("x", 4094) + "\n", "events": "\n\n\n\n"} {
		t.Run(name, func(t *testing.T) {
			var wire bytes.Buffer
			w := gzip.NewWriter(&wire)
			io.WriteString(w, "data: 1\n\n")
			w.Flush()
			first := wire.Len()
			piece := strings.Repeat(block, (1<<20)/len(block))
			for range 20 {
				io.WriteString(w, piece)
			}
			w.Close()
			sink := new(testSink)
			r := recording.New(recording.Options{Sink: sink})
			c := r.Conn(capture.Peer{}, "")
			c.Request(0, []byte(requestHead))
			c.RequestEnd(0, nil)
			c.Answer(0, []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"))
			c.AnswerBody(0, wire.Bytes()[:first])
			c.AnswerBody(0, wire.Bytes()[first:])
			c.AnswerEnd(0, nil)
			c.Ended(0)
			closeRecorder(t, r)
			all, _ := sink.exchanges(t)
			x := all[0]
			if len(x.Response.Events) == 0 || string(x.Response.Events[0].Raw) != "data: 1\n\n" {
				t.Fatalf("the first event is not recorded")
			}
			if len(x.Response.Events) > 300_000 || x.Response.Body.Dropped != int64(wire.Len()-first) ||
				len(x.Notes) != 1 {
				t.Errorf("%d events, %d bytes dropped, notes %q", len(x.Response.Events), x.Response.Body.Dropped,
					x.Notes)
			}
		})
	}
}

func TestTrailersAndInterimAnswers(t *testing.T) {
	sink := new(testSink)
	r := recording.New(recording.Options{Sink: sink})
	c := r.Conn(capture.Peer{}, "10.0.0.1:5")
	c.Request(0, []byte(requestHead))
	c.Informational(0, []byte("HTTP/1.1 103 Early Hints\r\n\r\n"))
	c.Answer(0, []byte("HTTP/1.1 200 OK\r\n\r\n")) // it overtakes its request
	c.RequestBody(0, []byte("a"))
	c.AnswerBody(0, []byte("b"))
	c.RequestEnd(0, []byte("X-Q: 1\r\n"))
	c.AnswerEnd(0, []byte("X-A: 1\r\n"))
	c.Fault(0, relay.TransportError{Kind: relay.KindReset, Side: relay.SideAgent, Detail: "first"})
	c.Fault(0, relay.TransportError{Kind: relay.KindTimeout, Side: relay.SideProxy})
	c.Ended(0)
	c.Fault(-1, relay.TransportError{Kind: relay.KindUnsolicited, Side: relay.SideAgent, Bytes: []byte("what?")})
	c.Request(1, []byte("GET / HTTP/1.1\r\nUpgrade: odd\r\n\r\n"))
	c.RequestEnd(1, nil)
	c.Answer(1, []byte("HTTP/1.1 101 Switching Protocols\r\n\r\n"))
	c.Upgraded(1)
	c.RequestBody(1, []byte("raw"))
	c.AnswerBody(1, []byte("bytes"))
	c.AnswerEnd(1, nil)
	c.Ended(1)
	closeRecorder(t, r)
	all, _ := sink.exchanges(t)
	x := all[0]
	if len(x.Response.Informational) != 1 || string(x.Request.Trailer) != "X-Q: 1\r\n" ||
		string(x.Response.Trailer) != "X-A: 1\r\n" || x.Fault.Detail != "first" || x.Client.Addr != "10.0.0.1:5" {
		t.Errorf("got %+v", x)
	}
	if x := all[1]; len(x.Request.Head) != 0 || string(x.Response.Body.Data) != "what?" ||
		x.Fault.Kind != relay.KindUnsolicited || x.Response.Body.Complete {
		t.Errorf("unsolicited bytes: got %+v", x)
	}
	if x := all[2]; x.Request.Body.Dropped != 3 || x.Response.Body.Dropped != 5 || x.Response.Body.Size != 5 {
		t.Errorf("upgraded: got %+v and %+v", x.Request.Body, x.Response.Body)
	}
}
