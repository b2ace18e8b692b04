package main

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// A waiting source tells when its reader waits for more, and from which step on.
type waiting struct {
	capture.Source
	waits chan uint64
}

// Wait implements capture.Source.
func (w waiting) Wait(ctx context.Context, from uint64) error {
	w.waits <- from
	return w.Source.Wait(ctx, from)
}

// until returns when the reader has read all up to a step.
func (w waiting) until(arrival uint64) {
	for from := range w.waits {
		if from > arrival {
			return
		}
	}
}

// TestEachTextIsParsedOnce takes exchanges from the relay to the findings: bodies, and the data of events.
func TestEachTextIsParsedOnce(t *testing.T) {
	store := must.Get(bolt.Open(filepath.Join(t.TempDir(), "c.a2atap"), bolt.Options{}))(t)
	sink := (&redacted.Options{}).Sink(store)
	recorder := recording.New(recording.Options{Sink: sink, IfFull: recording.Wait})
	source := waiting{store, make(chan uint64, 1000)}
	judged := make(chan *judgment.Result, 1)
	go func() {
		result, err := engine.Follow(context.Background(), rules.All, source, nil)
		if err != nil {
			t.Error(err)
		}
		judged <- result
	}()
	source.until(0) // so that the store knows that it is followed

	const exchanges, events = 50, 20
	before := jsondoc.Texts()
	for n := range exchanges {
		passExchange(recorder, n)
	}
	passStream(recorder, events)
	must.Do(t, recorder.Close(context.Background()))
	store.Flush()
	source.until(store.Committed().Arrival) // a reader that is late, when the store is closed, reads the file
	must.Do(t, sink.Close())
	result := <-judged
	if c := result.Counts; c.Judged != exchanges+1 || c.Events != events || c.Lost != 0 {
		t.Fatalf("judged %+v", c)
	}
	if got, want := jsondoc.Texts()-before, uint64(2*exchanges+1+events); got != want {
		t.Errorf("%d texts were parsed, want %d: two for each of %d exchanges, one and %d events for the stream", got, want,
			exchanges, events)
	}
}

// passStream tells a recorder of a streaming call, as a relay would.
func passStream(r *recording.Recorder, events int) {
	c := r.Conn(capture.Peer{Name: "booker", URL: "http://127.0.0.1:9001/rpc"}, "127.0.0.1:40000")
	body := `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m-s","role":"ROLE_USER","parts":[{"text":"go"}]}}}`
	c.Request(0,
		fmt.Appendf(nil,
			"POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:9001\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body)))
	c.RequestBody(0, []byte(body))
	c.RequestEnd(0, nil)
	c.Answer(0, []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"))
	for n := range events {
		event := `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t-s","contextId":"c-s","status":{"state":"TASK_STATE_WORKING"}}}}`
		if n == 0 {
			event = `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t-s","contextId":"c-s","status":{"state":"TASK_STATE_SUBMITTED"}}}}`
		}
		c.AnswerBody(0, []byte("data: "+event+"\n\n"))
	}
	c.AnswerEnd(0, nil)
	c.Ended(0)
}
