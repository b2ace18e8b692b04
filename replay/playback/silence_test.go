package playback_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/playback"
)

const (
	streamCall = `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m-1",` +
		`"role":"ROLE_USER","parts":[{"text":"hello"}]}}}`
	workingEvent = `data: {"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t-1","contextId":"c-1",` +
		`"status":{"state":"TASK_STATE_WORKING"}}}}` + "\n\n"
	completedEvent = `data: {"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t-1","contextId":"c-1",` +
		`"status":{"state":"TASK_STATE_COMPLETED"}}}}` + "\n\n"
)

// streamed returns a stream with these events at intervals of 10 ms.
func streamed(complete bool, fault *capture.TransportFault, ends []capture.SideEnd, events ...string) *capture.Exchange {
	x := recorded(1, 0, rpcHead, streamCall, "")
	x.Fault, x.Ends, x.Ended = fault, ends, time.Second
	x.Response = &capture.Response{
		Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), Stream: true,
		Body: capture.Body{Complete: complete, Size: capture.NotKnown},
	}
	for i, e := range events {
		x.Response.Events = append(x.Response.Events, capture.Event{
			K: i + 1, Raw: []byte(e), At: time.Duration(i+1) * 10 * time.Millisecond,
		})
	}
	return x
}

// A stream that the agent kept open stays open, a completed one ends, and a broken one breaks off, whatever the
// recorded client did.
func TestSilenceIsPlayed(t *testing.T) {
	left := &capture.TransportFault{Kind: "client-left", Side: "client"}
	reset := &capture.TransportFault{Kind: "reset", Side: "client"}
	cut := &capture.TransportFault{Kind: "truncated", Side: "agent"}
	stopped := &capture.TransportFault{Kind: "shutdown", Side: "proxy"}
	closed := func(at time.Duration) []capture.SideEnd {
		return []capture.SideEnd{{Side: "client", How: capture.EndClose, At: at}}
	}
	halfClosed := []capture.SideEnd{{Side: "client", How: capture.EndHalfClose, At: 5 * time.Millisecond}}
	unanswered := func(fault *capture.TransportFault) *capture.Exchange {
		x := streamed(false, fault, nil)
		x.Response = nil
		return x
	}
	const stays, ends, breaks = "stays", "ends", "breaks"
	for _, test := range []struct {
		name string
		x    *capture.Exchange
		body string
		want string
	}{
		{"silent until the client left", streamed(false, left, closed(time.Second)), "", stays},
		{"silent until the recording ended", streamed(false, stopped, nil), "", stays},
		{"silent, and ended because the client left", streamed(true, left, closed(time.Second)), "", stays},
		{"ended without an event", streamed(true, nil, nil), "", ends},
		{"left at work", streamed(false, left, closed(time.Second), workingEvent), workingEvent, stays},
		{"reset at work", streamed(false, reset, closed(time.Second), workingEvent), workingEvent, stays},
		{"left at work, and ended for that", streamed(true, left, closed(time.Second), workingEvent), workingEvent, stays},
		{
			"left at work, and went on to the end", streamed(true, left, closed(15*time.Millisecond), workingEvent, completedEvent),
			workingEvent + completedEvent, ends,
		},
		{"left when the task had ended", streamed(false, left, closed(time.Second), workingEvent, completedEvent), workingEvent + completedEvent, ends},
		{"half-closed", streamed(true, nil, halfClosed, workingEvent), workingEvent, ends},
		{"ended at work", streamed(true, nil, nil, workingEvent), workingEvent, ends},
		{"broken off", streamed(false, cut, nil, workingEvent), workingEvent, breaks},
		{"no answer until the client left", unanswered(left), "", stays},
		{"no answer until the client reset", unanswered(reset), "", stays},
		{"broken off before the answer", unanswered(cut), "", breaks},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := capture.NewMemory(capture.Info{})
			must.Do(t, m.Append(capture.Steps(test.x)...))
			_, origin := perform(t, m, playback.Options{})
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			request := must.Get(http.NewRequestWithContext(ctx, "POST", origin+"/rpc", strings.NewReader(streamCall)))(t)
			request.Header.Set("Content-Type", "application/json")
			transport := &http.Transport{DisableKeepAlives: true}
			if test.x.Response == nil && test.want == stays {
				time.AfterFunc(50*time.Millisecond, leave)
			}
			answer, err := transport.RoundTrip(request)
			if test.x.Response == nil {
				expect.Error(t, "the call was answered", err)
				if gaveUp := ctx.Err() != nil; gaveUp != (test.want == stays) {
					t.Errorf("the client gave up: %t, with %v", gaveUp, err)
				}
				return
			}
			must.Do(t, err)
			defer answer.Body.Close()
			body := make([]byte, len(test.body))
			must.Get(io.ReadFull(answer.Body, body))(t)
			expect.Equal(t, "the events", test.body, string(body))
			if test.want == stays {
				time.AfterFunc(50*time.Millisecond, leave)
			}
			rest, err := io.ReadAll(answer.Body)
			got := ends
			switch {
			case ctx.Err() != nil:
				got = stays
			case err != nil:
				got = breaks
			}
			if got != test.want || len(rest) > 0 {
				t.Errorf("it %s with %q, %v; want it %s", got, rest, err, test.want)
			}
		})
	}
}

// A notification has exactly the recorded header fields: none that a library adds, and no token that the recorded
// agent did not send.
func TestNotificationHasItsFields(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	got := make(chan []string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		r := bufio.NewReader(c)
		var fields []string
		for line, err := r.ReadString('\n'); err == nil && line != "\r\n"; line, err = r.ReadString('\n') {
			name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			fields = append(fields, name)
		}
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		got <- fields[1:]
	}()
	const task = `{"id":"task-1","contextId":"context-1","status":{"state":"TASK_STATE_WORKING"}}`
	send := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m-1","role":"ROLE_USER",` +
		`"parts":[{"text":"hello"}]},"configuration":{"taskPushNotificationConfig":{"url":"http://was.example/one","token":"t"}}}}`
	post := recorded(2, 10*time.Millisecond, "POST /one HTTP/1.1\r\nHost: was.example\r\nContent-Type: application/json\r\nX-Own: 1\r\n\r\n",
		`{"statusUpdate":{"taskId":"task-1","contextId":"context-1","status":{"state":"TASK_STATE_WORKING"}}}`, "")
	post.Agent = capture.Peer{Name: "client", URL: "http://was.example/one"}
	m := capture.NewMemory(capture.Info{})
	must.Do(t, m.Append(capture.Steps(recorded(1, 0, rpcHead, send, `{"jsonrpc":"2.0","id":1,"result":{"task":`+task+`}}`))...))
	must.Do(t, m.Append(capture.Steps(post)...))
	_, origin := perform(t, m, playback.Options{})
	c := must.Get(client.New(client.Interface{URL: origin + "/rpc", Protocol: client.JSONRPC10}, client.Options{}))(t)
	defer c.Close()
	push := client.PushConfig{URL: "http://" + l.Addr().String() + "/hook", Token: "live-token", Scheme: "Bearer", Credentials: "live-secret"}
	must.Get(c.Send(t.Context(), client.Text("hello"), client.SendOptions{Push: &push}))(t)
	select {
	case fields := <-got:
		slices.Sort(fields)
		expect.Same(t, "the fields", []string{"Content-Length", "Content-Type", "Host", "X-Own"}, fields)
	case <-time.After(must.Patience):
		t.Fatal("no notification came")
	}
}
