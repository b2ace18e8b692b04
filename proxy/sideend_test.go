package proxy_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/relay"
)

// TestClientGivesUp lets a client give up on an agent that answers later, on every road, before the answer begins and in
// its stream. The record says that the client left, when, and where in the stream.
func TestClientGivesUp(t *testing.T) {
	t.Parallel()
	everyRoad(t, true, func(t *testing.T, r road) {
		if runtime.GOOS != "linux" && !r.http2 {
			return // nothing tells there that the client left
		}
		t.Run("before the head", func(t *testing.T) { clientGivesUp(t, r, "") })
		t.Run("in the stream", func(t *testing.T) { clientGivesUp(t, r, "data: {}\n\n") })
	})
}

func clientGivesUp(t *testing.T, r road, before string) {
	asked, left := make(chan struct{}), make(chan struct{})
	p := r.serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) //nolint:errcheck // what comes is of no interest
		w.Header().Set("Content-Type", "text/event-stream")
		if before != "" {
			io.WriteString(w, before) //nolint:errcheck // the record shows it
			w.(http.Flusher).Flush()
		}
		close(asked)
		<-left
		io.WriteString(w, "data: {}\n\n") //nolint:errcheck // the client has left
	})
	client, url := p.client()
	ctx, leave := context.WithCancel(context.Background())
	begun := time.Now()
	done := make(chan error, 1)
	read := make(chan struct{})
	go func() {
		request, _ := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader("{}"))
		answer, err := client.Do(request)
		if err == nil {
			io.ReadFull(answer.Body, make([]byte, len(before))) //nolint:errcheck // what it lacks is seen below
			close(read)
			_, err = io.Copy(io.Discard, answer.Body)
		}
		done <- err
	}()
	<-asked
	if before != "" {
		<-read
	}
	leave()
	if <-done == nil {
		t.Error("the client got its answer")
	}
	p.follow(func(s capture.Step) bool { f, is := s.What.(capture.Fact); return is && f.End.Side == relay.SideClient })
	after := time.Since(begun)
	close(left)
	p.follow(isClosed)
	x := p.record()[0]
	if x.Fault == nil || x.Fault.Side != relay.SideClient || !strings.Contains(x.Fault.Detail, "client left after ") {
		t.Errorf("fault %+v", x.Fault)
	}
	if len(x.Ends) == 0 || x.Ends[0].Side != relay.SideClient || !x.Ends[0].Left() {
		t.Fatalf("sides ended: %+v", x.Ends)
	}
	if e := x.Ends[0]; e.At <= 0 || e.At > after || e.Request != 2 || e.Response != int64(len(before)) {
		t.Errorf("the client left: %+v, want it within %v, after 2 bytes of the request and %d of the answer", e, after,
			len(before))
	}
}
