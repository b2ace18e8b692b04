package proxy_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/relay"
)

// A testSink passes steps on to a memory, unless it is told to block or to fail.
type testSink struct {
	capture.Memory
	mu      sync.Mutex
	err     error
	gate    chan struct{} // Append waits for it, if not nil
	entered chan struct{}
}

func (s *testSink) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *testSink) Append(steps ...capture.Step) error {
	if s.gate != nil {
		s.entered <- struct{}{}
		<-s.gate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	return s.Memory.Append(steps...)
}

// exchanges returns what is in the sink, and what it says was lost.
func (s *testSink) exchanges(t *testing.T) ([]*capture.Exchange, capture.Info) {
	t.Helper()
	var all []*capture.Exchange
	for x, err := range s.Exchanges(context.Background(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	info, err := s.Info(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return all, info
}

func closeRecorder(t *testing.T, r *proxy.Recorder) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
}

const requestHead = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

// say tells of one exchange with a body of n bytes in pieces of 1000.
func say(c *proxy.Conn, x, n int) {
	c.Request(x, []byte(requestHead))
	c.RequestEnd(x, nil)
	c.Answer(x, []byte("HTTP/1.1 200 OK\r\n\r\n"))
	for ; n > 0; n -= 1000 {
		c.AnswerBody(x, bytes.Repeat([]byte("x"), min(n, 1000)))
	}
	c.AnswerEnd(x, nil)
	c.Ended(x)
}

// While the capture is stuck traffic goes on; what finds no room is counted, by exchange where its beginning was
// recorded, and told once. When the capture goes on, so does the record.
func TestFullQueuePasses(t *testing.T) {
	sink := &testSink{gate: make(chan struct{}), entered: make(chan struct{}, 1000)}
	told := make(chan error, 10)
	r := proxy.NewRecorder(proxy.RecorderOptions{
		Sink: sink, QueueBytes: 10_000, OnLoss: func(err error) { told <- err }, OnStop: func(error) { t.Error("stopped") },
	})
	c := r.Conn(capture.Peer{Name: "booker"}, "")
	say(c, 0, 0)
	<-sink.entered
	say(c, 1, 20_000) // does not fit: it is cut
	for x := 2; x < 20; x++ {
		say(c, x, 3000) // the last ones leave no trace
	}
	if err := <-told; !errors.Is(err, proxy.ErrBehind) {
		t.Errorf("got %v", err)
	}
	close(sink.gate)
	closeRecorder(t, r)
	all, info := sink.exchanges(t)
	stats := r.Stats()
	if len(all) < 2 || len(all) == 20 || len(all)+int(info.LostExchanges) != 20 || stats.LostExchanges != info.LostExchanges || int(stats.Exchanges) != len(all) {
		t.Errorf("%d exchanges are recorded, %d are lost; stats %+v", len(all), info.LostExchanges, stats)
	}
	body := all[1].Response.Body
	if body.Size != 20_000 || body.Dropped == 0 || body.Dropped+int64(len(body.Data)) != 20_000 || !body.Complete {
		t.Errorf("the cut body: size %d, %d kept, %d dropped", body.Size, len(body.Data), body.Dropped)
	}
	var total int64
	for _, x := range all {
		if x.State != capture.StateClosed {
			t.Errorf("exchange %d is %v", x.Seq, x.State)
		}
		total += int64(len(x.Request.Head) + len(x.Response.Head) + len(x.Response.Body.Data))
	}
	sent := int64(20*(len(requestHead)+len("HTTP/1.1 200 OK\r\n\r\n")) + 20_000 + 18*3000)
	if total+info.LostBytes != sent || stats.Bytes != total || stats.LostBytes != info.LostBytes {
		t.Errorf("%d bytes recorded and %d lost of %d; stats %+v", total, info.LostBytes, sent, stats)
	}
	if len(told) > 0 {
		t.Errorf("told twice: %v", <-told)
	}
}

func TestFullQueueWaits(t *testing.T) {
	sink := &testSink{gate: make(chan struct{}), entered: make(chan struct{}, 1000)}
	r := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink, QueueBytes: 10_000, IfFull: proxy.Wait, OnLoss: func(err error) { t.Error(err) }})
	c := r.Conn(capture.Peer{}, "")
	done := make(chan struct{})
	go func() {
		defer close(done)
		say(c, 0, 50_000)
	}()
	<-sink.entered
	select {
	case <-done:
		t.Error("the traffic did not wait")
	default:
	}
	close(sink.gate)
	<-done
	closeRecorder(t, r)
	all, info := sink.exchanges(t)
	if len(all) != 1 || len(all[0].Response.Body.Data) != 50_000 || info.LostBytes != 0 {
		t.Errorf("got %d exchanges, %+v", len(all), info)
	}
}

func TestFullQueueStops(t *testing.T) {
	sink := &testSink{gate: make(chan struct{}), entered: make(chan struct{}, 1000)}
	stopped := make(chan error, 10)
	r := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink, QueueBytes: 10_000, IfFull: proxy.Stop, OnStop: func(err error) { stopped <- err }})
	c := r.Conn(capture.Peer{}, "")
	say(c, 0, 50_000)
	if err := <-stopped; !errors.Is(err, proxy.ErrBehind) {
		t.Errorf("got %v", err)
	}
	close(sink.gate)
	say(c, 1, 10) // after the end nothing is recorded, room or not
	closeRecorder(t, r)
	all, info := sink.exchanges(t)
	if len(all) != 1 || all[0].State != capture.StateClosed || info.LostExchanges != 1 || len(stopped) > 0 {
		t.Errorf("got %d exchanges, %+v, %d more calls", len(all), info, len(stopped))
	}
}

// A sink that fails for a while costs what passes in that time, and no more: numbers have no gap, exchanges that were
// open get their end.
func TestFailingSink(t *testing.T) {
	sink := new(testSink)
	full := errors.New("disk is full")
	told := make(chan error, 10)
	r := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink, OnLoss: func(err error) { told <- err }})
	c := r.Conn(capture.Peer{}, "")
	settle := func(exchanges uint64, lost int64) { // waits for the recording goroutine
		t.Helper()
		for ctx, cancel := context.WithTimeout(context.Background(), patience); ; {
			s := r.Stats()
			if s.Exchanges == exchanges && s.LostBytes == lost {
				cancel()
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("got %+v, want %d exchanges and %d bytes lost", s, exchanges, lost)
			}
		}
	}
	c.Request(0, []byte(requestHead))
	settle(1, 0)
	sink.set(full)
	c.RequestBody(0, []byte("lost!"))
	settle(1, 5)
	say(c, 1, 1000)
	lost := int64(5 + len(requestHead) + len("HTTP/1.1 200 OK\r\n\r\n") + 1000)
	settle(1, lost)
	c.RequestBody(0, []byte("and this, since a body has no holes")) // the sink takes it or not: the body is cut
	c.Ended(0)
	sink.set(nil)
	say(c, 2, 10)
	ctx := context.Background()
	if err := r.Close(ctx); !errors.Is(err, full) {
		t.Errorf("Close returned %v", err)
	}
	if err := <-told; !errors.Is(err, full) || len(told) > 0 {
		t.Errorf("told %v, and %d more", err, len(told))
	}
	all, info := sink.exchanges(t)
	if len(all) != 2 || all[0].Seq != 1 || all[1].Seq != 2 || all[0].State != capture.StateClosed || all[1].State != capture.StateClosed {
		t.Fatalf("got %+v", all)
	}
	if len(all[0].Request.Body.Data) != 0 || string(all[1].Response.Body.Data) != strings.Repeat("x", 10) {
		t.Errorf("got bodies %q and %q", all[0].Request.Body.Data, all[1].Response.Body.Data)
	}
	if info.LostExchanges != 1 || info.LostBytes < lost {
		t.Errorf("the capture says %+v, want at least %d bytes", info, lost)
	}
}

// What is open when the recording ends is interrupted, and what comes later is nothing.
func TestCloseInterruptsWhatIsOpen(t *testing.T) {
	sink := new(testSink)
	r := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink, Seq: 41, Conn: 6})
	c := r.Conn(capture.Peer{}, "")
	c.Request(0, []byte(requestHead))
	c.Answer(0, []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"))
	closeRecorder(t, r)
	c.AnswerBody(0, []byte("late"))
	c.Ended(0)
	c.Request(1, []byte(requestHead))
	x, err := sink.Exchange(context.Background(), 42)
	if err != nil || x.State != capture.StateInterrupted || x.Conn != 7 {
		t.Errorf("got %+v, %v", x, err)
	}
	if stats := r.Stats(); stats.Exchanges != 1 || stats.Open != 0 {
		t.Errorf("got %+v", stats)
	}
}

func TestCloseIsBounded(t *testing.T) {
	sink := &testSink{gate: make(chan struct{}), entered: make(chan struct{}, 1000)}
	r := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink})
	say(r.Conn(capture.Peer{}, ""), 0, 0)
	<-sink.entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Close(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "end the recording") {
		t.Errorf("got %v", err)
	}
	close(sink.gate)
	closeRecorder(t, r)
}

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
	r := newRig(t, func(_ *proxy.Options, o *proxy.RecorderOptions) { o.MaxBody, o.MaxEvent = 100_000, 50 }, agent.URL)
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
	if diff := cmp.Diff([]string{"50+58", "9+0", "50+58", "9+0", "50+58", "9+0"}, raw); diff != "" {
		t.Errorf("events: want -, got +:\n%s", diff)
	}
	if stats := r.recorder.Stats(); stats.LostBytes != 0 {
		t.Errorf("limits are counted as losses: %+v", stats)
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
	r := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink})
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
	c.AnswerBody(1, zip("data: 1\n\n")[0])
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
	if diff := cmp.Diff([]string{"data: 1\n\n", "data: 2\n\n", "data: 3\n\n"}, raw); diff != "" || all[0].Response.Body.Size != size {
		t.Errorf("size %d, want %d; want -, got +:\n%s", all[0].Response.Body.Size, size, diff)
	}
	if x := all[1]; len(x.Response.Events) != 1 || len(x.Notes) != 1 || x.Response.Body.Dropped != 4 {
		t.Errorf("broken coding: got %+v, notes %q", x.Response, x.Notes)
	}
	if x := all[2]; x.Response.Stream || string(x.Response.Body.Data) != "odd" {
		t.Errorf("unknown coding: got %+v", x.Response)
	}
}

func TestTrailersAndInterimAnswers(t *testing.T) {
	sink := new(testSink)
	r := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink})
	c := r.Conn(capture.Peer{}, "10.0.0.1:5")
	c.Request(0, []byte(requestHead))
	c.Informational(0, []byte("HTTP/1.1 103 Early Hints\r\n\r\n"))
	c.Answer(0, []byte("HTTP/1.1 200 OK\r\n\r\n")) // it overtakes its request
	c.RequestBody(0, []byte("a"))
	c.AnswerBody(0, []byte("b"))
	c.RequestEnd(0, []byte("X-Q: 1\r\n"))
	c.AnswerEnd(0, []byte("X-A: 1\r\n"))
	c.Fault(0, relay.Fault{Kind: relay.KindReset, Side: relay.SideAgent, Detail: "first"})
	c.Fault(0, relay.Fault{Kind: relay.KindTimeout, Side: relay.SideProxy})
	c.Ended(0)
	c.Fault(-1, relay.Fault{Kind: relay.KindUnsolicited, Side: relay.SideAgent, Bytes: []byte("what?")})
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
	if len(x.Response.Informational) != 1 || string(x.Request.Trailer) != "X-Q: 1\r\n" || string(x.Response.Trailer) != "X-A: 1\r\n" || x.Fault.Detail != "first" || x.Client.Addr != "10.0.0.1:5" {
		t.Errorf("got %+v", x)
	}
	if x := all[1]; len(x.Request.Head) != 0 || string(x.Response.Body.Data) != "what?" || x.Fault.Kind != relay.KindUnsolicited || x.Response.Body.Complete {
		t.Errorf("unsolicited bytes: got %+v", x)
	}
	if x := all[2]; x.Request.Body.Dropped != 3 || x.Response.Body.Dropped != 5 || x.Response.Body.Size != 5 {
		t.Errorf("upgraded: got %+v and %+v", x.Request.Body, x.Response.Body)
	}
}
