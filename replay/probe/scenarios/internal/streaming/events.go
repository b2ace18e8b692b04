package streaming

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/jsondoc"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Events are about the contents of streams, and how they begin and end.
var Events = scenario.In(probe.Scenario{
	Category: analysis.Streaming, Level: analysis.Must, Protocols: scenario.V10, Needs: []probe.Capability{probe.Streaming},
}, []*probe.Scenario{
	{
		ID: "act-stream-task", Title: "a stream begins with the task, continues with updates, and closes at its end",
		Sections: []string{"1.0 §3.1.2", "1.0 §11.7"},
		Tags: []string{
			"stream", "CORE-STREAM-001", "CORE-STREAM-003", "acts:STREAM-SSE-001", "tck-main:message_stream_basic",
			"tck-main:sse_event_format_compliance",
		},
		Fix: "Send the task first, then its updates, and close the stream when the task has ended.",
		Run: askStream,
	},
	{
		ID: "act-stream-message-only", Title: "a stream with a message contains nothing else",
		Protocols: scenario.Since03, Sections: []string{"1.0 §3.1.2", "0.3 §7.2"},
		Tags: []string{"stream", "CORE-STREAM-002", "acts:STREAM-MSG-001"},
		Fix:  "Answer streaming calls with a stream, and close it after the message.",
		Run: func(ctx context.Context, s *probe.Session) error {
			n := 0
			for e, err := range s.Client.Stream(ctx, s.Say(probe.MessageOnly), client.SendOptions{}) {
				if err != nil {
					return err
				}
				if n++; n == 1 && e.Message == nil {
					return probe.Unclear("the agent answered with a task, and this scenario needs a message")
				}
			}
			if n != 1 {
				return probe.Fail("one message and the end", "%d events", n)
			}
			return nil
		},
	},
	{
		ID: "act-stream-order", Title: "the states in a stream never go back",
		Protocols: append(scenario.V10[:len(scenario.V10):len(scenario.V10)], client.Early),
		Sections:  []string{"1.0 §3.5.2"}, Tags: []string{"stream", "STREAM-ORDER-001"},
		Fix: "Send events in the order in which they happened, and none after the task has ended.",
		Run: askOrderOfStates,
	},
	{
		ID: "act-stream-framing", Title: "a stream has the media type and the events of its binding",
		Sections: []string{"1.0 §9.4.2", "1.0 §10.7", "1.0 §11.7"},
		Tags: []string{
			"stream", "wire-format", "GRPC-ERR-003", "JSONRPC-SSE-001", "HTTP_JSON-SSE-001", "acts:JSONRPC-SSE-001",
			"tck-main:sse_header_compliance", "tck-main:streaming_response_equivalence",
		},
		Fix: "Send events as JSON-RPC responses with the request's id, over HTTP+JSON as bare objects.",
		Run: askFraming,
	},
	{
		ID: "act-stream-invalid-params", Title: "a streaming call with an empty message is refused",
		Category: analysis.ErrorHandling, Sections: []string{"1.0 §3.3.2"},
		Tags: []string{"stream", "errors", "A4", "tck-main:message_stream_invalid_params"},
		Fix:  "Refuse an unreadable message instead of opening a stream.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.Collect(s.Edited(scenario.WithParams(s, `{}`)).Stream(ctx, s.Say(probe.Anything),
				client.SendOptions{}))
			if r := scenario.Refusal(err); r != nil && r.HTTPStatus == http.StatusOK && r.Status == "" && !scenario.Broken(err) {
				return nil // a stream whose first event refuses
			}
			return scenario.RefusedParams(s, err, "parameters {}")
		},
	},
	{
		ID: "act-subscribe-not-found", Title: "subscribing to an unknown task fails",
		Category: analysis.ErrorHandling, Sections: []string{"1.0 §3.1.6"},
		Tags: []string{"stream", "errors", "A9", "STREAM-SUB-004", "tck-main:tasks_subscribe_nonexistent"},
		Fix:  "Answer a subscription to an unknown task with TaskNotFound.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.First(s.Client.Subscribe(ctx, s.NewID()))
			return probe.Refused(err, "TASK_NOT_FOUND")
		},
	},
	{
		ID: "act-subscribe-terminal", Title: "subscribing to an ended task fails",
		Sections: []string{"1.0 §3.1.6"},
		Tags: []string{
			"stream", "errors", "A17", "STREAM-SUB-003",
			"acts:STREAM-SUB-003",
		},
		Fix: "Refuse a subscription to an ended task with UnsupportedOperation.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := s.Finished(ctx, probe.CompletesTask)
			if err != nil {
				return err
			}
			_, err = s.First(s.Client.Subscribe(ctx, task.ID))
			return probe.Refused(err, "UNSUPPORTED_OPERATION", "TASK_NOT_FOUND")
		},
	},
	{
		ID: "act-subscribe-first-task", Title: "a subscription begins with the current task",
		Sections: []string{"1.0 §3.1.6"},
		Tags:     []string{"stream", "A18", "STREAM-SUB-001", "acts:STREAM-SSE-004", "tck-main:tasks_subscribe"},
		Fix:      "Send the task first when a client subscribes to it.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := s.Live(ctx)
			if err != nil {
				return err
			}
			defer scenario.Release(ctx, s, task.ID)
			wait, stop := context.WithTimeout(ctx, s.Timeout)
			defer stop()
			first, err := s.First(s.Client.Subscribe(wait, task.ID))
			if wait.Err() != nil {
				return probe.Fail("task "+task.ID+" as the first event", "no event within %v", s.Timeout)
			}
			if err != nil {
				return late(ctx, s, task.ID, err)
			}
			if first.Task == nil || first.Task.ID != task.ID {
				return probe.Fail("task "+task.ID+" as the first event", "%s", probe.EventWords(first))
			}
			return nil
		},
	},
	{
		ID: "act-subscribe-closes", Title: "a subscription closes when the task ends", Sections: []string{"1.0 §3.1.6"},
		Tags: []string{"stream", "STREAM-SUB-002", "acts:STREAM-SUB-001", "acts:STREAM-SUB-002"},
		Fix:  "Close all streams of a task when it has ended.",
		Run:  askCloses,
	},
})

// late explains the refusal of a subscription: the task may have ended before. It leaves other errors unchanged.
func late(ctx context.Context, s *probe.Session, id string, err error) error {
	if scenario.Refusal(err) == nil {
		return err
	}
	task, read := s.Client.Get(ctx, id, nil)
	if scenario.Gone(read) || read == nil && task.Status.State.Terminal() {
		return probe.Unclear("task %s had ended before it could be subscribed to", id)
	}
	return err
}

func askStream(ctx context.Context, s *probe.Session) error {
	events, err := s.Collect(s.Client.Stream(ctx, s.Say(probe.StreamsChunks), client.SendOptions{}))
	if err != nil {
		return err
	}
	if len(events) == 0 {
		return probe.Fail("events", "a stream without an event")
	}
	if events[0].Message != nil {
		return probe.NoTask()
	}
	if events[0].Task == nil {
		return probe.Fail("the task as the first event", "%s", probe.EventWords(events[0]))
	}
	var state client.State
	for i, e := range events {
		if e.Message != nil || e.Task != nil && i > 0 && i < len(events)-1 {
			return probe.Fail("only updates after the task", "%s as event %d", probe.EventWords(e), i+1)
		}
		if e.State() != "" {
			state = e.State()
		}
	}
	if !probe.Settled(state) {
		return probe.Fail("a stream that stays open until the task has ended or waits for the client", "it ended while the task was %s", state)
	}
	return nil
}

// rank returns the progress of a task in that state.
func rank(state client.State) int {
	switch {
	case state.Terminal():
		return 2
	case state == client.Submitted:
		return 0
	}
	return 1
}

func askOrderOfStates(ctx context.Context, s *probe.Session) error {
	var events []client.Event
	var err error
	if s.Protocol() == client.Early { // before 0.1, streams stay open while the agent waits
		var h *hearing
		if h, err = hear(ctx, s, probe.StreamsChunks); err == nil {
			events = h.events
		}
	} else {
		events, err = s.Collect(s.Client.Stream(ctx, s.Say(probe.StreamsChunks), client.SendOptions{}))
	}
	if err != nil {
		return err
	}
	var last client.State
	for _, e := range events {
		state := e.State()
		if state == "" {
			continue
		}
		if last != "" && rank(state) < rank(last) {
			return probe.Fail("states that go forward", "%s after %s", state, last)
		}
		last = state
	}
	if last == "" {
		return probe.Unclear("no event shows the state of a task")
	}
	return nil
}

func askFraming(ctx context.Context, s *probe.Session) error {
	if _, err := s.Collect(s.Client.Stream(ctx, s.Say(probe.StreamsChunks),
		client.SendOptions{})); scenario.Refusal(err) != nil {
		return err
	}
	a := s.Last()
	want := "text/event-stream"
	if s.Protocol().OverGRPC() {
		want = "application/grpc"
	}
	if got := a.Header.MediaType(); got != want && got != "application/grpc+proto" {
		return probe.Fail("Content-Type "+want, "%q", a.Header.Get("Content-Type"))
	}
	asked := a2a.Parse(a.Exchange.Request.Body.Data).Root.Get("id")
	events := a.Events()
	if len(events) == 0 {
		return probe.Fail("events", "a stream without an event")
	}
	for i, data := range events {
		event := a2a.Parse(data).Root
		if s.RPC() {
			if !event.Get("jsonrpc").Is("2.0") || !jsondoc.SameID(event.Get("id"), asked) {
				return probe.Fail("JSON-RPC responses to the request", "event %d: %s", i+1, probe.Excerpt(data))
			}
			event = event.Get("result")
		}
		n := 0
		for _, name := range []string{"task", "message", "statusUpdate", "artifactUpdate"} {
			if event.Has(name) {
				n++
			}
		}
		if n != 1 {
			return probe.Fail("one of task, message, statusUpdate and artifactUpdate", "event %d: %s", i+1,
				probe.Excerpt(data))
		}
	}
	return nil
}

func askCloses(ctx context.Context, s *probe.Session) error {
	task, err := s.Live(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, s.Timeout)
	defer stop()
	n := 0
	for _, err := range s.Client.Subscribe(ctx, task.ID) {
		switch {
		case ctx.Err() != nil:
			return probe.Fail("a stream that closes when the task ends", "it is open after %d events", n)
		case err != nil:
			return late(ctx, s, task.ID, err)
		}
		if n++; n == 1 {
			scenario.Release(ctx, s, task.ID)
		}
	}
	last, err := s.Settle(ctx, task.ID)
	if scenario.Gone(err) {
		return nil
	}
	if errors.Is(err, context.DeadlineExceeded) || err == nil && !probe.Settled(last.Status.State) {
		return probe.Fail("a stream that is open until the task ends", "it ended while the task was active")
	}
	return err
}

// sameEvent reports whether two events have the same contents.
func sameEvent(a, b client.Event) bool {
	var x, y any
	return json.Unmarshal(a.Result, &x) == nil && json.Unmarshal(b.Result, &y) == nil && reflect.DeepEqual(x, y)
}

// updates omits snapshots of the task, which depend on their time.
func updates(events []client.Event) []client.Event {
	var out []client.Event
	for _, e := range events {
		if e.Task == nil {
			out = append(out, e)
		}
	}
	return out
}

// A follower reads a stream.
type follower struct {
	begun  chan client.Event // gets the first event; closed when the stream has ended
	ended  chan struct{}
	events []client.Event // set after the end
	err    error
	stop   context.CancelFunc // closes the stream
}

// follow begins to read the stream from open.
func follow(ctx context.Context, open func(context.Context) eventStream) *follower {
	ctx, stop := context.WithCancel(ctx)
	f := &follower{begun: make(chan client.Event, 1), ended: make(chan struct{}), stop: stop}
	go func() {
		defer close(f.ended)
		defer close(f.begun)
		for e, err := range open(ctx) {
			if err != nil {
				f.err = err
				return
			}
			if f.events = append(f.events, e); len(f.events) == 1 {
				f.begun <- e
			}
		}
	}()
	return f
}

// close closes the stream and waits for its end.
func (f *follower) close() {
	f.stop()
	<-f.ended
}

// finish waits for the end of the stream, up to a timeout.
func (f *follower) finish(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-f.ended:
		return true
	case <-timer.C:
		return false
	}
}
