package probe

import (
	"context"
	"errors"
	"time"

	"a2atap/replay/client"
)

// Begin sends a message that should bring the agent to make a task that takes a while, and returns the task without
// waiting for its end, as far as the protocol allows: an agent that answers with a task that has ended, or waits for
// input, has been too quick, which is for the caller to see. The function that is returned is never nil, and is called
// when the task is no longer of interest.
func (s *Session) Begin(ctx context.Context, b Behavior, o client.SendOptions) (*client.Task, func(), error) {
	return s.begin(ctx, s.Say(b), o)
}

func (s *Session) begin(ctx context.Context, m client.Message, o client.SendOptions) (*client.Task, func(), error) {
	if s.Protocol() != client.JSONRPC01 {
		o.ReturnImmediately = true
		task, err := s.taskOf(s.Client.Send(ctx, m, o))
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
		task, err := s.taskOf(s.Client.Send(ctx, m, o))
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

// HasCredentials reports whether there are credentials to leave out.
func (s *Session) HasCredentials() bool {
	o := &s.target.opts.Client
	return o.Token != "" || o.Authorize != nil
}
