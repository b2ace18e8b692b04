package probe

import (
	"context"
	"errors"
	"time"

	"a2atap/replay/client"
	"a2atap/replay/live"
)

// Begin sends a message that should make the agent create a task that takes a while. It returns the task without
// waiting for its end, as far as the protocol allows. If the agent answers with a task that has ended or waits for
// input, it was too quick; callers must check for that. The returned function is never nil. Call it when the task is
// no longer needed.
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
	// 0.1 cannot request an immediate answer, but its client knows the id.
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
				continue // the task does not exist yet, or the answer to the message explains the failure
			}
		}
		if err != nil {
			stop()
			return nil, func() {}, err
		}
		return task, stop, nil
	}
}

// Await polls a task at growing intervals until its state is settled. It fails after the timeout. It returns the task
// as last seen.
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

// Settle is Await for scenarios with another subject: if the task does not settle in time, they are inconclusive, and
// the scenario task-completes fails.
func (s *Session) Settle(ctx context.Context, id string) (*client.Task, error) {
	task, err := s.Await(ctx, id, Settled)
	if late, ok := errors.AsType[*Failure](err); ok {
		return task, Unclear("%s, and this scenario needs a later state", late.Seen)
	}
	return task, err
}

// AtRest returns a task that cannot proceed by itself: at once, or after waiting for that state.
func AtRest(ctx context.Context, s *Session, task *client.Task) (*client.Task, error) {
	if Settled(task.Status.State) {
		return task, nil
	}
	return s.Settle(ctx, task.ID)
}

// Settled reports whether a task in that state cannot proceed by itself.
func Settled(state client.State) bool { return state.Terminal() || state.Interrupted() }

// Task sends a message that should make the agent create a task, and returns the task as answered. If the agent
// answers with a message, the case is inconclusive.
func (s *Session) Task(ctx context.Context, b Behavior, o client.SendOptions) (*client.Task, error) {
	return TaskOf(s.Client.Send(ctx, s.Say(b), o))
}

// TaskOf returns the task in the answer to a message. If the answer is a message, the case is inconclusive.
func TaskOf(r *client.Result, err error) (*client.Task, error) {
	switch {
	case err != nil:
		return nil, err
	case r.Task == nil:
		return nil, NoTask()
	}
	return r.Task, nil
}

// Finished creates a task and waits for its end. If the task does not complete, or asks back, the case is
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
		return task, Unclear("task %s is %s, and this scenario needs an ended one", task.ID, task.Status.State)
	}
	return task, nil
}

// Live creates a task that is unfinished, so that the scenario can act on it. If the agent finishes the task at once,
// the case is inconclusive.
func (s *Session) Live(ctx context.Context) (*client.Task, error) {
	task, err := s.Task(ctx, WaitsForCancel, client.SendOptions{ReturnImmediately: true})
	if err == nil && task.Status.State.Terminal() {
		return task, Unclear("task %s was %s at once, and this scenario needs an active one", task.ID, task.Status.State)
	}
	return task, err
}

// Waiting creates a task that waits for input. If the agent does not ask back, the case is inconclusive.
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
