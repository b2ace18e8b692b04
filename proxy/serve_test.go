package proxy_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// The events of a stream are recorded one by one while it is open, with the times at which they passed.
func TestStreamIsRecordedAsItPasses(t *testing.T) {
	gate := make(chan struct{})
	agent := newAgent(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", `Text/Event-Stream; charset="utf-8"`)
		io.WriteString(w, "data: first\n\n: comm")
		w.(http.Flusher).Flush()
		<-gate
		io.WriteString(w, "ent\r\n\r\ndata: second\n\ndata: rest")
	})
	r := newRig(t, nil, agent.URL)
	answer := must.Get(newClient(t).Get(r.tap(0).URL()))(t)
	defer answer.Body.Close()
	line, err := bufio.NewReader(io.LimitReader(answer.Body, 13)).ReadString('\n')
	if err != nil || line != "data: first\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	// The first event is in the capture before the agent continues.
	var first time.Duration
	r.follow(func(s capture.Step) bool {
		e, ok := s.What.(capture.ResponseEvent)
		first = s.Offset
		return ok && string(e.Event.Raw) == "data: first\n\n"
	})
	const pause = 30 * time.Millisecond
	time.AfterFunc(pause, func() { close(gate) })
	must.Get(io.ReadAll(answer.Body))(t)
	x := r.record()[0]
	var raw []string
	var numbers []int
	for _, e := range x.Response.Events {
		raw = append(raw, string(e.Raw))
		numbers = append(numbers, e.K)
	}
	expect.Same(t, "", []string{"data: first\n\n", ": comment\r\n\r\n", "data: second\n\n", "data: rest"}, raw)
	expect.Same(t, "numbers", []int{1, 0, 2, 3}, numbers)
	if !x.Response.Stream || !x.Response.Body.Complete || !x.Response.Events[3].Unterminated {
		t.Errorf("got %+v", x.Response)
	}
	if at := x.Response.Events[0].At; at != first || x.Response.Events[2].At-at < pause ||
		x.Ended < x.Response.Events[3].At {
		t.Errorf("first event at %v (seen %v), third at %v, ended at %v", at, first, x.Response.Events[2].At, x.Ended)
	}
	if since := time.Since(x.Started); since < x.Ended || since > time.Minute || x.Started.Location() != time.UTC {
		t.Errorf("started %v", x.Started)
	}
}

func TestStopInMidStream(t *testing.T) {
	left := make(chan struct{})
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: first\n\ndata: sec")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	})
	r := newRig(t, nil, agent.URL)
	answer := must.Get(newClient(t).Get(r.tap(0).URL()))(t)
	defer answer.Body.Close()
	r.follow(func(s capture.Step) bool { _, ok := s.What.(capture.ResponseEvent); return ok })
	r.stop()
	expect.Error(t, "the client takes the stream for complete", expect.Err(io.ReadAll(answer.Body)))
	<-left
	x := r.record()[0]
	if x.State != capture.StateClosed || x.Fault == nil || x.Fault.Kind != "shutdown" || x.Fault.Side != "proxy" {
		t.Errorf("state %v, fault %+v", x.State, x.Fault)
	}
	if n := len(x.Response.Events); n != 2 || !x.Response.Events[1].Unterminated || x.Response.Body.Complete {
		t.Errorf("got %+v", x.Response)
	}
}

// What is in flight when the proxy stops may end within the grace.
func TestGrace(t *testing.T) {
	asked, gate := make(chan struct{}), make(chan struct{})
	agent := newAgent(t, func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-gate
		io.WriteString(w, "done")
	})
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.Grace = must.Patience }, agent.URL)
	idle, err := net.Dial("tcp", r.tap(0).Addr()) // must not hold up the end
	must.Do(t, err)
	defer idle.Close()
	got := make(chan string, 1)
	client := newClient(t)
	go func() {
		answer, err := client.Get(r.tap(0).URL())
		if err != nil {
			got <- err.Error()
			return
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		got <- string(text)
	}()
	<-asked
	stopped := make(chan struct{})
	go func() { r.stop(); close(stopped) }()
	for { // until the listening address is closed
		conn, err := net.Dial("tcp", r.tap(0).Addr())
		if err != nil {
			break
		}
		conn.Close()
	}
	close(gate)
	expect.Equal(t, "", "done", <-got)
	<-stopped
	if x := r.record()[0]; x.Fault != nil || !x.Response.Body.Complete {
		t.Errorf("got %+v", x)
	}
}

func TestPanickingRecorderLeavesTrafficAlone(t *testing.T) {
	agent := newAgent(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "fine") })
	var sink panicSink
	lost := make(chan error, 1)
	r := newRig(t, func(_ *proxy.Options, o *recording.Options) {
		o.Sink = &sink
		o.OnLoss = func(err error) { lost <- err }
	}, agent.URL)
	for range 3 {
		if _, text := get(t, newClient(t), r.tap(0).URL()); text != "fine" {
			t.Errorf("got %q", text)
		}
	}
	expect.Contains(t, "", "panicked", (<-lost).Error())
}

type panicSink struct{}

func (panicSink) Append(...capture.Step) error { panic(errors.New("nobody home")) }
func (panicSink) Close() error                 { return nil }
