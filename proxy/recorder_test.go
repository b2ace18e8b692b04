package proxy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// A testSink passes steps on to a memory, unless it is set to block or to fail.
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
	all := capturetest.ReadAll(t, s)
	return all, must.Get(s.Info(context.Background()))(t)
}

func closeRecorder(t *testing.T, r *recording.Recorder) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), must.Patience)
	defer cancel()
	expect.OK(t, r.Close(ctx))
}

const requestHead = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

// observeExchange tells of one exchange with a body of n bytes in pieces of 1000.
func observeExchange(c *recording.Conn, x, n int) {
	c.Request(x, []byte(requestHead))
	c.RequestEnd(x, nil)
	c.Answer(x, []byte("HTTP/1.1 200 OK\r\n\r\n"))
	for ; n > 0; n -= 1000 {
		c.AnswerBody(x, bytes.Repeat([]byte("x"), min(n, 1000)))
	}
	c.AnswerEnd(x, nil)
	c.Ended(x)
}

// While the capture is stuck, traffic continues. Traffic without room in the queue is counted, by exchange if the
// beginning was recorded, and reported once. When the capture continues, so does the record.
func TestFullQueuePasses(t *testing.T) {
	sink := &testSink{gate: make(chan struct{}), entered: make(chan struct{}, 1000)}
	told := make(chan error, 10)
	r := recording.New(recording.Options{
		Sink: sink, QueueBytes: 10_000, OnLoss: func(err error) { told <- err },
		OnStop: func(error) { t.Error("stopped") },
	})
	c := r.Conn(capture.Peer{Name: "booker"}, "")
	observeExchange(c, 0, 0)
	<-sink.entered
	observeExchange(c, 1, 20_000) // does not fit: it is cut
	for x := 2; x < 20; x++ {
		observeExchange(c, x, 3000) // the last ones leave no trace
	}
	expect.ErrorIs(t, "", recording.ErrBehind, <-told)
	close(sink.gate)
	closeRecorder(t, r)
	all, info := sink.exchanges(t)
	stats := r.Stats()
	if len(all) < 2 || len(all) == 20 || len(all)+int(info.LostExchanges) != 20 ||
		stats.LostExchanges != info.LostExchanges || int(stats.Exchanges) != len(all) {
		t.Errorf("%d exchanges are recorded, %d are lost; stats %+v", len(all), info.LostExchanges, stats)
	}
	body := all[1].Response.Body
	if body.Size != 20_000 || body.Dropped == 0 || body.Dropped+int64(len(body.Data)) != 20_000 || !body.Complete {
		t.Errorf("the cut body: size %d, %d kept, %d dropped", body.Size, len(body.Data), body.Dropped)
	}
	var total int64
	for _, x := range all {
		expect.Equal(t, fmt.Sprintf("exchange %d", x.Seq), capture.StateClosed, x.State)
		total += int64(len(x.Request.Head) + len(x.Response.Head) + len(x.Response.Body.Data))
	}
	sent := int64(20*(len(requestHead)+len("HTTP/1.1 200 OK\r\n\r\n")) + 20_000 + 18*3000)
	if total+info.LostBytes != sent || stats.Bytes != total || stats.LostBytes != info.LostBytes {
		t.Errorf("%d bytes recorded and %d lost of %d; stats %+v", total, info.LostBytes, sent, stats)
	}
	if len(told) > 0 {
		t.Errorf("reported twice: %v", <-told)
	}
}

// A body far beyond the limit takes no room in the queue that others need, and the part beyond the limit is not a loss.
// An event stream has no such limit.
func TestLargeBodyLeavesRoom(t *testing.T) {
	sink := &testSink{gate: make(chan struct{}), entered: make(chan struct{}, 1000)}
	r := recording.New(recording.Options{
		Sink: sink, QueueBytes: 50_000, MaxBody: 10_000, OnLoss: func(err error) { t.Errorf("lost: %v", err) },
	})
	c := r.Conn(capture.Peer{Name: "booker"}, "")
	observeExchange(c, 0, 0)
	<-sink.entered
	observeExchange(c, 1, 1_000_500)
	for x := 2; x < 10; x++ {
		observeExchange(c, x, 100)
	}
	c.Request(10, []byte(requestHead))
	c.RequestEnd(10, nil)
	c.Answer(10, []byte("HTTP/1.1 200 OK\r\ncontent-type:TEXT/Event-Stream; charset=utf-8\r\n\r\n"))
	for range 15 {
		c.AnswerBody(10, []byte("data: "+strings.Repeat("x", 992)+"\n\n"))
	}
	c.AnswerEnd(10, nil)
	c.Ended(10)
	close(sink.gate)
	closeRecorder(t, r)
	all, info := sink.exchanges(t)
	if len(all) != 11 || info.LostExchanges != 0 || info.LostBytes != 0 || r.Stats().LostBytes != 0 {
		t.Fatalf("%d exchanges are recorded, lost %+v; stats %+v", len(all), info, r.Stats())
	}
	body := all[1].Response.Body
	if len(body.Data) != 10_000 || body.Dropped != 990_500 || body.Size != 1_000_500 || !body.Complete {
		t.Errorf("the large body: size %d, %d kept, %d dropped", body.Size, len(body.Data), body.Dropped)
	}
	expect.Equal(t, "events of the stream are recorded", 15, len(all[10].Response.Events))
}

func TestFullQueueWaits(t *testing.T) {
	sink := &testSink{gate: make(chan struct{}), entered: make(chan struct{}, 1000)}
	r := recording.New(recording.Options{
		Sink: sink, QueueBytes: 10_000, IfFull: recording.Wait,
		OnLoss: func(err error) { t.Error(err) },
	})
	c := r.Conn(capture.Peer{}, "")
	done := make(chan struct{})
	go func() {
		defer close(done)
		observeExchange(c, 0, 50_000)
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
	r := recording.New(recording.Options{
		Sink: sink, QueueBytes: 10_000, IfFull: recording.Stop,
		OnStop: func(err error) { stopped <- err },
	})
	c := r.Conn(capture.Peer{}, "")
	observeExchange(c, 0, 50_000)
	expect.ErrorIs(t, "", recording.ErrBehind, <-stopped)
	close(sink.gate)
	observeExchange(c, 1, 10) // after the end nothing is recorded, room or not
	closeRecorder(t, r)
	all, info := sink.exchanges(t)
	if len(all) != 1 || all[0].State != capture.StateClosed || info.LostExchanges != 1 || len(stopped) > 0 {
		t.Errorf("got %d exchanges, %+v, %d more calls", len(all), info, len(stopped))
	}
}

func TestFailingSinkStops(t *testing.T) {
	sink := new(testSink)
	sink.set(errors.New("disk is full"))
	stopped := make(chan error, 10)
	r := recording.New(recording.Options{
		Sink: sink, IfFull: recording.Stop,
		OnStop: func(err error) { stopped <- err },
	})
	observeExchange(r.Conn(capture.Peer{}, ""), 0, 10)
	expect.Equal(t, "", "disk is full", (<-stopped).Error())
	if err := r.Close(context.Background()); err == nil || err.Error() != "record: disk is full" {
		t.Errorf("Close returned %v", err)
	}
}

// A sink that fails for a while costs what passes in that time, and no more: numbers have no gap, exchanges that were
// open get their end.
func TestFailingSink(t *testing.T) {
	sink := new(testSink)
	full := errors.New("disk is full")
	told := make(chan error, 10)
	r := recording.New(recording.Options{Sink: sink, OnLoss: func(err error) { told <- err }})
	c := r.Conn(capture.Peer{}, "")
	settle := func(exchanges uint64, lost int64) { // waits for the recording goroutine
		t.Helper()
		for ctx, cancel := context.WithTimeout(context.Background(), must.Patience); ; {
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
	observeExchange(c, 1, 1000)
	lost := int64(5 + len(requestHead) + len("HTTP/1.1 200 OK\r\n\r\n") + 1000)
	settle(1, lost)
	c.RequestBody(0, []byte("and this, since a body has no gaps")) // the sink takes it or not: the body is cut
	c.Ended(0)
	sink.set(nil)
	observeExchange(c, 2, 10)
	expect.ErrorIs(t, "Close returned", full, r.Close(context.Background()))
	if err := <-told; !errors.Is(err, full) || len(told) > 0 {
		t.Errorf("got %v, and %d more", err, len(told))
	}
	all, info := sink.exchanges(t)
	if len(all) != 2 || all[0].Seq != 1 || all[1].Seq != 2 || all[0].State != capture.StateClosed ||
		all[1].State != capture.StateClosed {
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
	r := recording.New(recording.Options{Sink: sink, Seq: 41, Conn: 6})
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
	r := recording.New(recording.Options{Sink: sink})
	observeExchange(r.Conn(capture.Peer{}, ""), 0, 0)
	<-sink.entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Close(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "end the recording") {
		t.Errorf("got %v", err)
	}
	close(sink.gate)
	closeRecorder(t, r)
}
