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

// drop has a task made in a stream, leaves it as soon as it knows the task, and returns its id.
func drop(ctx context.Context, s *probe.Session) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	for e, err := range s.Client.Stream(ctx, scenario.Named(s, s.Say(probe.WaitsForCancel)), client.SendOptions{}) {
		if err != nil {
			return "", probe.Unclear("no stream came that could be dropped: %v", err)
		}
		if e.Message != nil {
			return "", probe.Unclear("the agent answered with a message, and this is about tasks")
		}
		if id := e.TaskID(); id != "" {
			return id, nil
		}
	}
	return "", probe.Unclear("no event named its task")
}

func askDropped(ctx context.Context, s *probe.Session) error {
	id, err := drop(ctx, s)
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
	if !live.Sleep(ctx, forgetting) {
		return ctx.Err()
	}
	task, err = s.Client.Get(ctx, id, nil)
	switch {
	case scenario.Gone(err) && !s.Scripted():
		return probe.Unclear("task %s was there when its stream was dropped, and %v later it was not; it may have ended",
			id, forgetting)
	case err != nil:
		return fmt.Errorf("%v after its stream was dropped: %w", forgetting, err)
	case !task.Status.State.Terminal():
		s.Client.Cancel(ctx, id, nil) //nolint:errcheck // so that it does no work for nothing
	}
	return answers(ctx, s)
}

// forgetting is how long after its stream a task is looked for once more: some agents notice late that a client has
// left, and then end what they do for it.
const forgetting = 150 * time.Millisecond

// answers asserts that the agent still does what it is for, if only for one message more.
func answers(ctx context.Context, s *probe.Session) error {
	_, err := s.Client.Send(ctx, scenario.Named(s, s.Say(probe.CompletesTask)),
		client.SendOptions{ReturnImmediately: true})
	if err != nil {
		return fmt.Errorf("a message after a stream was dropped: %w", err)
	}
	return nil
}

func askReturn(ctx context.Context, s *probe.Session) error {
	id, err := drop(ctx, s)
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
	// The task is canceled once the agent has answered, or has been silent for a while: in 0.1 to 0.3 no event needs to
	// come before the task moves on, and over gRPC the head may come only with the first.
	silence, answered := within, false
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		a := s.AnswerTo(before)
		if answered = hasAnswered(a); answered {
			break
		}
		if silence == within && (a.Status != 0 || s.Protocol().OverGRPC()) {
			var end context.CancelFunc
			silence, end = context.WithTimeout(within, forgetting)
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
			return probe.Unclear("task %s was over before its client came back", id)
		}
		if !answered { // it may have taken the request up only when the task had been canceled
			return probe.Unclear("nothing had come for %v when task %s was canceled, and then the client was refused: %v",
				forgetting, id, err)
		}
		return err
	case err != nil && within.Err() != nil && ctx.Err() == nil:
		return probe.Unclear("task %s did not end within %v", id, s.Timeout)
	case err != nil:
		return err
	}
	for _, e := range heard {
		if of := e.TaskID(); of != "" && of != id {
			return probe.Fail("events of task "+id, "one of task %s", of)
		}
	}
	return nil
}

// hasAnswered reports whether the agent has refused the request, or has sent the first event of its stream.
func hasAnswered(a *probe.Answer) bool {
	return a.Status != 0 && (a.GRPC != nil || !a.Exchange.Response.Stream || len(a.Events()) > 0)
}
