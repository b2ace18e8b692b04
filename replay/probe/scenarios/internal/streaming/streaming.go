// Package streaming tests streams: their events and order, how they begin and end, and the fate of a task whose
// stream the client drops.
package streaming

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/grpc"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// shouldBefore10 is the level of what 0.1 to 0.3 recommend, and earlier and later versions require.
var shouldBefore10 = scenario.Levels(analysis.Should, scenario.Old...)

// Scenarios are about streams, each about a different part.
var Scenarios = scenario.In(probe.Scenario{
	Category: analysis.Streaming, Level: analysis.Must, Needs: []probe.Capability{probe.Streaming},
}, []*probe.Scenario{
	{
		ID: "stream-content-type", Title: "a streaming call is answered with a stream of events", Levels: shouldBefore10,
		Sections: []string{"1.0 §9.4.2", "1.0 §11.7", "0.3 §3.3"},
		Tags:     []string{"core", "stream", "S0-3.1", "S0-3.2", "S0-3.6", "S0-V5", "S4-6.1b", "S4-V9", "S4-P5"},
		Fix:      "Answer streaming calls with Content-Type text/event-stream, or do not advertise streaming.",
		Run:      askStreamType,
	},
	{
		ID: "stream-first-event", Title: "a stream begins with the task", Sections: []string{"1.0 §3.1.2", "0.3 §9.3"},
		Tags: []string{"core", "stream", "S0-3.3", "S0-3.4a", "S0-P4", "S4-4.1c"},
		Fix:  "Begin each stream with the current task; before 0.1, with its status.",
		Run:  askFirstEvent,
	},
	{
		ID: "stream-middle-events", Title: "a stream has the status and the artifacts of its task",
		Sections: []string{"1.0 §3.1.2", "0.3 §7.2.1"}, Tags: []string{"stream", "S0-3.4b", "S0-3.7"},
		Fix: "Send only status and artifact updates of this task.",
		Run: askMiddleEvents,
	},
	{
		ID: "stream-last-event", Title: "a stream ends with its task", Sections: []string{"1.0 §3.1.2", "0.3 §9.3"},
		Tags: []string{"stream", "S0-3.4c", "S0-3.7"},
		Fix:  "Send the status in which the task ends or waits before you close the stream.",
		Run:  askLastEvent,
	},
	{
		ID: "sse-final-event", Title: "the last status of a stream is marked as final", Levels: shouldBefore10,
		Protocols: append(scenario.Old[:len(scenario.Old):len(scenario.Old)], client.Early),
		Sections:  []string{"0.3 §7.2.2", "0.3 §9.3"}, Tags: []string{"stream", "S0-3.4c", "S4-4.1e"},
		Fix: "Send the last status of a task with final: true.",
		Run: askFinalEvent,
	},
	{
		ID: "stream-nothing-after-end", Title: "no event follows the end of the task",
		Sections: []string{"1.0 §3.1.2", "0.3 §7.2.2"}, Tags: []string{"stream", "S0-3.4d", "S0-3.7"},
		Fix: "Close the stream after the event that ends the task.",
		Run: askNothingAfterEnd,
	},
	{
		ID: "stream-closes", Title: "a stream is closed at its end", Levels: shouldBefore10,
		Sections: []string{"1.0 §3.1.2", "0.3 §9.3"}, Tags: []string{"stream", "S0-3.8"},
		Fix: "Close the stream when its task has ended.",
		Run: askClosing,
	},
	{
		ID: "stream-dropped", Title: "a task continues when its client drops the stream",
		Sections: []string{"1.0 §3.5.2", "0.3 §7.9"},
		Tags:     []string{"stream", "S0-3.5a", "S0-3.5b", "A46", "acts:STREAM-RESUB-001", "tck-main:partial_update_recovery", "S4-4.4"},
		Fix:      "Keep the task when a client leaves its stream, and continue to answer.",
		Run:      askDropped,
	},
	{
		ID: "stream-resubscribe", Title: "a client that lost a stream can resume it",
		Sections: []string{"1.0 §3.1.6", "0.3 §7.9"}, Protocols: scenario.Since01,
		Tags: []string{"stream", "A47", "acts:STREAM-RESUB-001", "tck-main:streaming_reconnection_simulation"},
		Fix:  "Serve the stream of an active task to clients that request it again.",
		Run:  askReturn,
	},
})

// A hearing is a received stream.
type hearing struct {
	events []client.Event
	err    error // why reading stopped before the end
	open   bool  // the client left it, since it did not end
}

// hear creates a task in a stream, and reads the stream to its end, or until the timeout. It is inconclusive if no
// stream comes: stream-content-type tests that.
func hear(ctx context.Context, s *probe.Session, b probe.Behavior) (*hearing, error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	h := &hearing{}
	leave := time.AfterFunc(s.Timeout, cancel)
	defer leave.Stop()
	for e, err := range s.Client.Stream(within, scenario.Named(s, s.Say(b)), client.SendOptions{}) {
		if err != nil {
			h.err = err
			break
		}
		h.events = append(h.events, e)
		if e.State().Terminal() {
			leave.Reset(min(scenario.Patience, s.Timeout))
		}
	}
	s.Follow(h.events)
	if h.err != nil && within.Err() != nil {
		h.open, h.err = true, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var refused *client.Error
	if len(h.events) == 0 && (errors.As(h.err, &refused) || h.err != nil && !streamed(s)) {
		return nil, probe.Unclear("no stream was opened: %v", h.err)
	}
	return h, nil
}

// streamed reports whether the newest answer is declared as a stream.
func streamed(s *probe.Session) bool {
	if a := s.Last(); s.Protocol().OverGRPC() { // where streams have no media type of their own
		return len(a.Events()) > 0 || a.GRPC != nil && a.GRPC.Code == grpc.OK
	}
	return strings.Contains(strings.ToLower(s.Last().Header.Get("Content-Type")), "text/event-stream")
}

// message reports whether the stream is only a message, and thus not about a task.
func (h *hearing) message() bool { return len(h.events) > 0 && h.events[0].Message != nil }

// words lists the events in their order.
func (h *hearing) words() string {
	const most = 40
	var list []string
	for i, e := range h.events {
		if i == most {
			list = append(list, fmt.Sprintf("… and %d more", len(h.events)-most))
			break
		}
		words := probe.EventWords(e)
		if e.Status != nil && e.Status.Final {
			words += " final"
		}
		list = append(list, strings.TrimSpace(words))
	}
	if len(list) == 0 {
		return "no event"
	}
	return strings.Join(list, ", ")
}

// fail returns a failure that lists all events.
func (h *hearing) fail(expected, seen string, args ...any) error {
	return probe.Fail(expected, "%s; the events were: %s", fmt.Sprintf(seen, args...), h.words())
}

// readable returns the reason if the end of the stream, or any task in it, is inconclusive.
func (h *hearing) readable() error {
	switch {
	case h.message():
		return probe.NoTask()
	case h.err != nil && !errors.Is(h.err, client.ErrCut):
		return probe.Unclear("the stream could not be read to its end: %v", h.err)
	case h.open && h.end() < 0:
		return probe.Unclear("the stream did not end; the events were: %s", h.words())
	}
	return nil
}

// end returns the index of the event that ends the task, or -1.
func (h *hearing) end() int {
	return slices.IndexFunc(h.events, func(e client.Event) bool { return e.State().Terminal() })
}

func askStreamType(ctx context.Context, s *probe.Session) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	_, err := s.First(s.Client.Stream(ctx, scenario.Named(s, s.Say(probe.CompletesTask)), client.SendOptions{}))
	if streamed(s) {
		return nil
	}
	var refused *client.Error
	if errors.As(err, &refused) && s.Card != nil {
		return probe.Fail("a stream, as the card advertises", "%s", probe.Describe(refused))
	}
	a := s.Last()
	if err != nil && (a.Status == 0 || refused != nil || s.Protocol().OverGRPC()) {
		return err
	}
	return probe.Fail("a stream of Content-Type text/event-stream, as the card advertises",
		"HTTP %d, Content-Type %q: %s",
		a.Status, a.Header.Get("Content-Type"), probe.Excerpt(a.Body))
}

func askFirstEvent(ctx context.Context, s *probe.Session) error {
	h, err := hear(ctx, s, probe.CompletesTask)
	if err != nil {
		return err
	}
	if len(h.events) == 0 {
		if h.err != nil {
			return h.err
		}
		return probe.Fail("an event", "a stream without an event")
	}
	first := h.events[0]
	switch {
	case s.Protocol().Version == "1.0" && first.Task == nil && first.Message == nil:
		return h.fail("a task or a message as the first event", "%s", probe.EventWords(first))
	case s.Protocol() != client.Early:
		return nil // 0.1 to 0.3 specify no first event
	case first.Status == nil || first.Name != "status":
		return h.fail("a first event named status", "%q, %s", first.Name, probe.EventWords(first))
	}
	switch first.State() {
	case client.Submitted, client.Working:
		return nil
	case client.Completed:
		return probe.Unclear("the task was completed before the stream began")
	}
	return h.fail("a first event with a task that is submitted or working", "%s", probe.EventWords(first))
}

func askMiddleEvents(ctx context.Context, s *probe.Session) error {
	h, err := hear(ctx, s, probe.StreamsChunks)
	if err != nil {
		return err
	}
	if h.err != nil && !errors.Is(h.err, client.ErrCut) {
		return h.fail("events that can be read", "%v", h.err)
	}
	if h.message() {
		return probe.NoTask()
	}
	task := ""
	for i, e := range h.events {
		if of := e.TaskID(); task == "" {
			task = of
		} else if of != "" && of != task {
			return h.fail("events of task "+task, "event %d belongs to task %s", i+1, of)
		}
		switch {
		case s.Protocol() == client.Early && e.Name != "status" && e.Name != "artifact":
			return h.fail("events named status or artifact", "event %d is named %q", i+1, e.Name)
		case s.Protocol() == client.Early && e.Status == nil && e.Artifact == nil && e.Task == nil:
			return h.fail("a status or an artifact in each event", "event %d has neither", i+1)
		case s.Protocol().Version == "1.0" && i > 0 && e.Message != nil:
			return h.fail("updates of the task", "event %d is a message", i+1)
		}
	}
	return nil
}

func askLastEvent(ctx context.Context, s *probe.Session) error {
	h, err := hearReadable(ctx, s)
	if err != nil {
		return err
	}
	state := client.State("")
	for _, e := range h.events {
		if at := e.State(); at != "" {
			state = at
		}
	}
	if h.end() >= 0 || probe.Settled(state) {
		return nil // stream-nothing-after-end tests events after the end
	}
	if h.err != nil {
		return h.fail("a stream that lasts until the task has ended", "%v, while the task was %q", h.err, state)
	}
	return h.fail("a stream that lasts until the task has ended", "it was closed while the task was %q", state)
}

// hearEnd follows a task that completes to its end, and returns the end's index. Without an end it is inconclusive.
func hearEnd(ctx context.Context, s *probe.Session) (h *hearing, end int, err error) {
	if h, err = hearReadable(ctx, s); err != nil {
		return nil, 0, err
	}
	if end = h.end(); end < 0 {
		err = probe.Unclear("the task did not end in the stream; the events were: %s", h.words())
	}
	return h, end, err
}

// hearReadable follows a task that completes. It is inconclusive if the end of the task is inconclusive.
func hearReadable(ctx context.Context, s *probe.Session) (*hearing, error) {
	h, err := hear(ctx, s, probe.CompletesTask)
	if err != nil {
		return nil, err
	}
	return h, h.readable()
}

func askFinalEvent(ctx context.Context, s *probe.Session) error {
	h, end, err := hearEnd(ctx, s)
	if err != nil {
		return err
	}
	if h.events[end].Task != nil {
		return probe.Unclear("the stream ended with the task itself, which has no final flag")
	}
	for _, e := range h.events[end:] {
		if e.Status != nil && e.Status.Final {
			return nil
		}
	}
	return h.fail("final: true with the status that ends the task", "none")
}

func askNothingAfterEnd(ctx context.Context, s *probe.Session) error {
	h, end, err := hearEnd(ctx, s)
	if err != nil {
		return err
	}
	ended := h.events[end].State()
	for i, e := range h.events[end+1:] {
		again := e.Task != nil && e.State() == ended // A2A 1.0 §11.7 lets the agent show it again
		marks := e.Status != nil && e.Status.Final && e.State() == ended && !final(h.events[:end+1+i])
		if !again && !marks {
			return h.fail("nothing after the event that ends the task", "event %d is %s", end+2+i, probe.EventWords(e))
		}
	}
	return nil
}

// final reports whether one of the events has the final flag.
func final(events []client.Event) bool {
	return slices.ContainsFunc(events, func(e client.Event) bool { return e.Status != nil && e.Status.Final })
}

func askClosing(ctx context.Context, s *probe.Session) error {
	h, err := hear(ctx, s, probe.CompletesTask)
	if err != nil {
		return err
	}
	switch {
	case !h.open:
		return nil
	case h.end() >= 0:
		return h.fail("a stream that is closed when the task has ended", "it was still open %v later",
			min(scenario.Patience, s.Timeout))
	case len(h.events) > 0 && h.events[len(h.events)-1].State().Interrupted():
		return probe.Unclear("the agent waits for input, and keeps the stream open; the events were: %s", h.words())
	}
	return h.fail("a stream that ends", "timeout: it was still open after %d ms", s.Timeout.Milliseconds())
}
