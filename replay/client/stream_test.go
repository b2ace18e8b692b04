package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

// A stream yields each event when it arrives, ends with the answer, and is closed by leaving the loop.
func TestStreams(t *testing.T) {
	left, released := make(chan struct{}), make(chan struct{})
	step := make(chan struct{})
	a := agent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for i := range 3 {
			fmt.Fprintf(w, "data: {\"task\":\ndata: {\"id\":\"t%d\"}}\n\n", i)
			http.NewResponseController(w).Flush() // an error means that the client has left
			<-step
		}
		if strings.HasSuffix(r.URL.Path, ":subscribe") {
			<-r.Context().Done()
			close(released)
		}
	})
	c := speak(t, a, REST10, Options{})
	n := 0
	for e, err := range c.Stream(t.Context(), Text("x"), SendOptions{}) {
		if err != nil || e.Task.ID != fmt.Sprintf("t%d", n) ||
			string(e.Raw) != fmt.Sprintf("{\"task\":\n{\"id\":\"t%d\"}}", n) {
			t.Errorf("event %d: got %s, %v", n, e.Raw, err)
		}
		n++
		step <- struct{}{}
	}
	expect.Equal(t, "events", 3, n)
	go func() {
		defer close(left)
		for _, err := range c.Subscribe(t.Context(), "t") {
			expect.OK(t, err)
			break
		}
	}()
	<-left
	for range 3 {
		step <- struct{}{}
	}
	<-released
}

func TestStreamErrors(t *testing.T) {
	a := agent(t,
		reply(200, "text/event-stream",
			"data: {\"task\":{\"id\":\"t\"}}\n\ndata: {\"error\":{\"code\":500,\"message\":\"late\"}}\n\ndata: {\"task\":{\"id\":\"t\"}}\n\n"))
	var got []string
	for e, err := range speak(t, a, REST10, Options{}).Subscribe(t.Context(), "t") {
		got = append(got, fmt.Sprint(e.Task != nil, " ", err))
	}
	expect.Same(t, "", []string{"true <nil>", "false agent refused: late"}, got)
	ctx, cancel := context.WithCancel(t.Context())
	a = agent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush() // an error means that the client has left
		cancel()
		<-r.Context().Done()
	})
	expect.ErrorIs(t, "", context.Canceled, drain(speak(t, a, REST10, Options{}).Subscribe(ctx, "t")))
}
