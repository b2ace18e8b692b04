package streaming

import (
	"cmp"
	"context"
	"iter"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// An eventStream is the result of a client's streaming operation.
type eventStream = iter.Seq2[client.Event, error]

// Parallel are about several streams of one task, and about dropped streams.
var Parallel = scenario.In(probe.Scenario{
	Category: analysis.Streaming, Level: analysis.Must, Protocols: scenario.V10, Needs: []probe.Capability{probe.Streaming},
}, []*probe.Scenario{
	{
		ID: "act-two-subscribers", Title: "two streams of a task have the same updates in the same order",
		Sections: []string{"1.0 §3.5.2"},
		Tags:     []string{"stream", "A19", "STREAM-ORDER-002", "STREAM-ORDER-003", "acts:STREAM-MULTI-001"},
		Fix:      "Send each event of a task to all of its streams.",
		Run:      askTwoStreams,
	},
	{
		ID: "act-close-one-stream", Title: "a stream continues when a client leaves another stream of the task",
		Sections: []string{"1.0 §3.5.2"}, Tags: []string{"stream", "A20", "STREAM-ORDER-004", "acts:STREAM-MULTI-002"},
		Fix: "When a client leaves a stream, end only that stream.",
		Run: askCloseOne,
	},
})

// twoStreams opens the stream of a new task and subscribes to the task, and returns when both have begun. The case is
// inconclusive if the agent allows no second stream, or finishes before. The caller closes both.
func twoStreams(ctx context.Context, s *probe.Session) (id string, first, second *follower, err error) {
	first = follow(ctx, func(ctx context.Context) eventStream {
		return s.Client.Stream(ctx, s.Say(probe.WaitsForCancel), client.SendOptions{})
	})
	e, ok := <-first.begun
	if !ok || e.Task == nil {
		first.close()
		if !ok && first.err != nil {
			return "", nil, nil, first.err
		}
		return "", nil, nil, probe.Unclear("the stream does not begin with a task")
	}
	id = e.Task.ID
	second = follow(ctx, func(ctx context.Context) eventStream { return s.Client.Subscribe(ctx, id) })
	if _, ok := <-second.begun; !ok {
		scenario.Release(ctx, s, id)
		first.close()
		second.close()
		return "", nil, nil, probe.Unclear("the agent allows no second stream of task %s: %v", id, second.err)
	}
	return id, first, second, nil
}

func askTwoStreams(ctx context.Context, s *probe.Session) error {
	id, first, second, err := twoStreams(ctx, s)
	if err != nil {
		return err
	}
	defer first.close()
	defer second.close()
	scenario.Release(ctx, s, id)
	if !first.finish(s.Timeout) || !second.finish(s.Timeout) {
		return probe.Unclear("task %s has not ended", id)
	}
	s.Follow(second.events)
	if first.err != nil || second.err != nil {
		return probe.Fail("two streams that end with the task", "a stream that broke off: %v", cmp.Or(first.err, second.err))
	}
	all, later := updates(first.events), updates(second.events)
	if len(later) > len(all) {
		return probe.Fail("the same updates on both streams", "%d on the first, %d on the second",
			len(all), len(later))
	}
	if len(later) == 0 && len(all) > 0 && !terminalSnapshot(second.events) {
		return probe.Fail("the same updates on both streams", "none on the second, and %s as the last on the first",
			probe.EventWords(all[len(all)-1]))
	}
	for i, e := range later {
		if want := all[len(all)-len(later)+i]; !sameEvent(e, want) {
			return probe.Fail("the same updates on both streams", "%s on the second, %s on the first", probe.EventWords(e),
				probe.EventWords(want))
		}
	}
	return nil
}

// terminalSnapshot reports whether the stream of a task began after its end.
func terminalSnapshot(events []client.Event) bool {
	return len(events) > 0 && events[0].Task != nil && events[0].Task.Status.State.Terminal()
}

func askCloseOne(ctx context.Context, s *probe.Session) error {
	id, first, second, err := twoStreams(ctx, s)
	if err != nil {
		return err
	}
	defer second.close()
	first.close()
	scenario.Release(ctx, s, id)
	if !second.finish(s.Timeout) {
		return probe.Unclear("task %s has not ended", id)
	}
	s.Follow(second.events)
	if second.err != nil {
		return probe.Fail("a stream that continues", "it broke off: %v", second.err)
	}
	for _, e := range second.events {
		if probe.Settled(e.State()) {
			return nil
		}
	}
	return probe.Fail("a stream that stays open until task "+id+" has ended", "it ended before")
}
