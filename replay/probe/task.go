package probe

import (
	"context"
	"errors"
	"time"

	"a2atap/replay/client"
	"a2atap/replay/live"
) // Begin sends a message that should bring the agent to make a task that takes a while, and returns the task without

// waiting for its end, as far as the protocol allows: an agent that answers with a task that has ended, or waits for
// input, has been too quick, which is for the caller to see. The function that is returned is never nil, and is called
// when the task is no longer of interest.
func (s *Session) Begin(ctx context.Context, b Behavior, o client.SendOptions) (*client.Task, func(), error) {
	return s.BeginWith(ctx, s.Say(b), o)
}

// BeginWith is Begin with a message.
func (s *Session) BeginWith(ctx context.Context, m client.Message, o client.SendOptions) (*client.Task, func(), error) {
	if s.Protocol() != client.JSONRPC01 {
		o.ReturnImmediately = true
		task, err := TaskOf(s.Client.Send(ctx, m, o))
		return task, func() {}, err
	}
	// 0.1 cannot ask for an answer at once; but its client knows the id.
	ctx, cancel := context.WithCancel(ctx)
	type answer struct {
		task *client.Task
		err  error
	}
	answered := make(chan answer, 1)
	m.TaskID = s.NewID()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		task, err := TaskOf(s.Client.Send(ctx, m, o))
		answered <- answer{task, err}
	}()
	stop := func() { cancel(); <-ended }
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		var task *client.Task
		var err error
		select {
		case a := <-answered:
			task, err = a.task, a.err
		case <-time.After(pause):
			var refused *client.Error
			if task, err = s.Client.Get(ctx, m.TaskID, nil); errors.As(err, &refused) {
				continue // it is not there yet, or the answer to the message says why
			}
		}
		if err != nil {
			stop()
			return nil, func() {}, err
		}
		return task, stop, nil
	}
}

// Await polls a task, with pauses that grow, until its state is settled or the timeout is over; then it fails. It
// returns the task as last seen.
func (s *Session) Await(ctx context.Context, id string, settled func(client.State) bool) (*client.Task, error) {
	begun := time.Now()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		task, err := s.Client.Get(ctx, id, nil)
		if err != nil {
			return task, err
		}
		if settled(task.Status.State) {
			return task, nil
		}
		if waited := time.Since(begun); waited > s.Timeout {
			return task, Fail("a task that ends or waits for input", "task %s still %s after %d ms", id, task.Status.State,
				waited.Milliseconds())
		}
		if !live.Sleep(ctx, pause) {
			return task, ctx.Err()
		}
	}
}

// Settle is Await for scenarios that are about something else: where the task does not settle in time, they are
// inconclusive, and the scenario task-completes fails.
func (s *Session) Settle(ctx context.Context, id string) (*client.Task, error) {
	task, err := s.Await(ctx, id, Settled)
	if late, ok := errors.AsType[*Failure](err); ok {
		return task, Unclear("%s, and this is about what comes then", late.Seen)
	}
	return task, err
}

// AtRest returns a task that does nothing more by itself: as it is, or as it will be.
func AtRest(ctx context.Context, s *Session, task *client.Task) (*client.Task, error) {
	if Settled(task.Status.State) {
		return task, nil
	}
	return s.Settle(ctx, task.ID)
}

// Settled reports whether a task in that state does nothing more by itself.
func Settled(state client.State) bool { return state.Terminal() || state.Interrupted() }

// Task sends a message that should bring the agent to make a task, and returns the task as answered. Where the agent
// answers with a message, the case is inconclusive.
func (s *Session) Task(ctx context.Context, b Behavior, o client.SendOptions) (*client.Task, error) {
	return TaskOf(s.Client.Send(ctx, s.Say(b), o))
}

// TaskOf returns the task that came for a message. Where a message came, the case is inconclusive.
func TaskOf(r *client.Result, err error) (*client.Task, error) {
	switch {
	case err != nil:
		return nil, err
	case r.Task == nil:
		return nil, Unclear("the agent answered with a message, and this is about tasks")
	}
	return r.Task, nil
}

// Finished makes a task and waits for its end. A task that ends otherwise than completed, or asks back, makes the case
// inconclusive unless the agent is scripted.
func (s *Session) Finished(ctx context.Context, b Behavior) (*client.Task, error) {
	task, err := s.Task(ctx, b, client.SendOptions{})
	if err != nil {
		return nil, err
	}
	if task, err = AtRest(ctx, s, task); err != nil {
		return task, err
	}
	if !task.Status.State.Terminal() {
		return task, Unclear("task %s is %s, and this is about one that has ended", task.ID, task.Status.State)
	}
	return task, nil
}

// Live makes a task that is not over yet, so that something can be done to it meanwhile. Where the agent is done at
// once the case is inconclusive.
func (s *Session) Live(ctx context.Context) (*client.Task, error) {
	task, err := s.Task(ctx, WaitsForCancel, client.SendOptions{ReturnImmediately: true})
	if err == nil && task.Status.State.Terminal() {
		return task, Unclear("task %s was %s at once, and this is about one at work", task.ID, task.Status.State)
	}
	return task, err
}

// Waiting makes a task that waits for input. Where the agent does not ask back the case is inconclusive.
func (s *Session) Waiting(ctx context.Context) (*client.Task, error) {
	task, err := s.Task(ctx, AsksBack, client.SendOptions{})
	if err != nil {
		return task, err
	}
	if task, err = AtRest(ctx, s, task); err != nil {
		return task, err
	}
	if task.Status.State != client.InputRequired {
		return task, Unclear("task %s is %s, and this is about one that waits for input", task.ID, task.Status.State)
	}
	return task, nil
}
