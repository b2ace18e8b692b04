package streaming

import (
	"context"
	"errors"
	"fmt"
	"time"

	"a2atap/replay/client"
	"a2atap/replay/live"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// drop sends a message in a stream, leaves the stream as soon as it knows the task, and returns the task's id.
func drop(ctx context.Context, s *probe.Session, m client.Message) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	for e, err := range s.Client.Stream(ctx, scenario.Named(s, m), client.SendOptions{}) {
		if err != nil {
			return "", probe.Unclear("no stream was opened that could be dropped: %v", err)
		}
		if e.Message != nil {
			return "", probe.NoTask()
		}
		if id := e.TaskID(); id != "" {
			return id, nil
		}
	}
	return "", probe.Unclear("no event named its task")
}

func askDropped(ctx context.Context, s *probe.Session) error {
	id, err := drop(ctx, s, s.Say(goesOn(s)))
	if err != nil {
		return err
	}
	task, err := s.Client.Get(ctx, id, nil)
	if err != nil {
		return fmt.Errorf("after its stream was dropped: %w", err)
	}
	if err := scenario.SameTask(task, id, ""); err != nil {
		return err
	}
	// Some agents notice a client's disconnect late, and then end the work for it.
	if !live.Sleep(ctx, forgetting) {
		return ctx.Err()
	}
	task, err = s.Await(ctx, id, probe.Settled)
	late, isLate := errors.AsType[*probe.Failure](err)
	switch {
	case scenario.Gone(err) && !s.Scripted():
		return probe.Unclear("task %s existed when its stream was dropped, but not later; it may have ended", id)
	case isLate:
		scenario.Release(ctx, s, id) // to stop unnecessary work
		return undisturbed(ctx, s, probe.Fail("a task that continues without its stream", "%s", late.Seen))
	case err != nil:
		return fmt.Errorf("after its stream was dropped: %w", err)
	case task.Status.State.Terminal() && task.Status.State != client.Completed:
		return undisturbed(ctx, s, probe.Fail("a task that continues without its stream",
			"task %s is %s, and no one canceled it", id, task.Status.State))
	}
	return answers(ctx, s)
}

// goesOn returns the behavior of a task that works for a while and then completes by itself.
func goesOn(s *probe.Session) probe.Behavior {
	if s.Scripted() {
		return probe.TakesLong
	}
	return probe.StreamsChunks // a long one may wait for cancellation
}

// undisturbed returns the failure if a similar task completes while its client stays in the stream. Otherwise the
// drop may not be the cause.
func undisturbed(ctx context.Context, s *probe.Session, failure error) error {
	task, err := s.Finished(ctx, goesOn(s))
	if err == nil && task.Status.State == client.Completed {
		return failure
	}
	return probe.Unclear("%v; but a task whose client waits does not complete either", failure)
}

// forgetting bounds the time until an agent notices that a client dropped the stream.
const forgetting = 150 * time.Millisecond

// answers asserts that the agent still works, with one more message.
func answers(ctx context.Context, s *probe.Session) error {
	_, err := s.Client.Send(ctx, scenario.Named(s, s.Say(probe.CompletesTask)),
		client.SendOptions{ReturnImmediately: true})
	if err != nil {
		return fmt.Errorf("a message after a stream was dropped: %w", err)
	}
	return nil
}

func askReturn(ctx context.Context, s *probe.Session) error {
	id, err := drop(ctx, s, s.Say(probe.WaitsForCancel))
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	before := s.Asks()
	events := make(chan []client.Event, 1)
	failed := make(chan error, 1)
	go func() {
		heard, err := s.Collect(s.Client.Subscribe(within, id))
		events <- heard
		failed <- err
	}()
	// The scenario cancels the task once the agent has answered, or after a silence: in 0.1 to 0.3 no event must come
	// before the task proceeds. Over gRPC the head may come only with the first event, which gets more time.
	quiet := forgetting
	if s.Protocol().OverGRPC() || s.Protocol().Version == "1.0" {
		quiet = scenario.Patience
	}
	silence, answered := within, false
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		a := s.AnswerTo(before)
		if answered = hasAnswered(a); answered {
			break
		}
		if silence == within && (a.Status != 0 || s.Protocol().OverGRPC()) {
			var end context.CancelFunc
			silence, end = context.WithTimeout(within, quiet)
			defer end()
		}
		if !live.Sleep(silence, pause) {
			break
		}
	}
	s.Client.Cancel(ctx, id, nil) //nolint:errcheck // an agent that cancels nothing ends the task itself
	heard, err := <-events, <-failed
	var refused *client.Error
	switch {
	case errors.As(err, &refused) && len(heard) == 0:
		task, getErr := s.Client.Get(ctx, id, nil)
		if getErr != nil || task.Status.State != client.Canceled && probe.Settled(task.Status.State) {
			return probe.Unclear("task %s had ended before its client returned", id)
		}
		if !answered { // the agent may have read the request only after the cancellation
			return probe.Unclear("no event had arrived for %v when task %s was canceled, and then the client was refused: %v",
				quiet, id, err)
		}
		return err
	case err != nil && within.Err() != nil && ctx.Err() == nil:
		return probe.Unclear("task %s did not end within %v", id, s.Timeout)
	case err != nil:
		return err
	}
	for _, e := range heard {
		if of := e.TaskID(); of != "" && of != id {
			return probe.Fail("events of task "+id, "an event of task %s", of)
		}
	}
	return nil
}

// hasAnswered reports whether the agent has refused the request, or has sent the first event of its stream.
func hasAnswered(a *probe.Answer) bool {
	return a.Status != 0 && (a.GRPC != nil || !a.Exchange.Response.Stream || len(a.Events()) > 0)
}
