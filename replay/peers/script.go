package peers

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A driver is one SDK's client, reduced to what the script needs. Its methods return the SDK's results; an error is
// from the agent or the SDK.
type driver interface {
	discover(ctx context.Context, agentURL, binding string) ([]Observation, error)
	send(ctx context.Context, u turn) (Observation, error)
	stream(ctx context.Context, u turn, on func(Observation)) error
	subscribe(ctx context.Context, task string, on func(Observation)) error
	get(ctx context.Context, task string) (Observation, error)
	cancel(ctx context.Context, task string) (Observation, error)
	setPush(ctx context.Context, task, url, token string) (Observation, error)
	getPush(ctx context.Context, task, config string) (Observation, error)
	listPush(ctx context.Context, task string) ([]Observation, error)
	deletePush(ctx context.Context, task, config string) error
	list(ctx context.Context, contextID string) ([]Observation, error) // errors.ErrUnsupported where the dialect has none
	code(err error) string                                             // the SDK's name for what went wrong
}

// A turn is one message of a client to an agent.
type turn struct {
	text    string
	quote   string // in a separate part after the text, unless it is empty
	task    string // the task that it continues, if any
	context string
	now     bool   // answer at once, do not wait for the task
	webhook string // where to push to, configured with the message itself
	token   string
}

// A script is one client's way through everything that the agent can do.
type script struct {
	driver  driver
	webhook string
	seen    []Observation
	ended   string // the id of a task that has ended
}

// play goes through the whole script. It fails if the agent cannot be discovered, or if a step would not end.
func (s *script) play(ctx context.Context, agentURL, binding string) ([]Observation, error) {
	card, err := s.driver.discover(ctx, agentURL, binding)
	s.note("discover", card...)
	if err != nil {
		return s.seen, fmt.Errorf("discover the agent: %w", err)
	}
	for _, step := range []func(context.Context) error{
		s.direct, s.streaming, s.polling, s.multiTurn, s.failing, s.canceling, s.pushing, s.pushingInline, s.mistakes,
	} {
		if err := step(ctx); err != nil {
			return s.seen, err
		}
		if ctx.Err() != nil {
			return s.seen, context.Cause(ctx)
		}
	}
	return s.seen, nil
}

// direct sends messages and gets the answer at once: a message, then a task that has ended.
func (s *script) direct(ctx context.Context) error {
	s.send(ctx, "message", turn{text: "hello"})
	s.ended = s.send(ctx, "task", turn{text: "work"}).Task
	return nil
}

// streaming lets the agent continue only after each chunk of the artifact has been seen.
func (s *script) streaming(ctx context.Context) error {
	s.stream(ctx, "stream", turn{text: "stream"}, func(e Observation) {
		if e.Kind == "artifact" && !e.Last {
			s.release(ctx, "stream", e.Task)
		}
	})
	return nil
}

// polling starts a task, polls until it works, releases it and polls until it has ended.
func (s *script) polling(ctx context.Context) error {
	task, err := s.start(ctx, "poll", turn{text: "poll"})
	if err != nil {
		return err
	}
	return s.finish(ctx, "poll", task)
}

// multiTurn is asked back and answers within the same task, then finds both in the list.
func (s *script) multiTurn(ctx context.Context) error {
	asked := s.send(ctx, "multi-turn", turn{text: "ask"})
	s.send(ctx, "multi-turn", turn{text: "blue", task: asked.Task, context: asked.Context})
	tasks, err := s.driver.list(ctx, asked.Context)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	s.answers("list", tasks, err)
	return nil
}

// failing watches a task that fails.
func (s *script) failing(ctx context.Context) error {
	s.stream(ctx, "fail", turn{text: "fail"}, nil)
	return nil
}

// canceling cancels a task while watching it. The answer is read before the rest of the stream, so their order is
// fixed.
func (s *script) canceling(ctx context.Context) error {
	canceled := false
	s.stream(ctx, "cancel", turn{text: "wait"}, func(e Observation) {
		if canceled || !strings.HasSuffix(strings.ToLower(e.State), "working") {
			return
		}
		canceled = true
		answer, err := s.driver.cancel(ctx, e.Task)
		s.answer("cancel answer", answer, err)
	})
	return nil
}

// pushing makes, reads, lists and deletes a push configuration, then lets the task continue: a deleted configuration
// sends no notification. The task stays at input-required meanwhile, so that none of its events come in between.
func (s *script) pushing(ctx context.Context) error {
	task := s.send(ctx, "push", turn{text: "ask"})
	made, err := s.driver.setPush(ctx, task.Task, s.webhook+"/deleted", "deleted-token")
	s.answer("push set", made, err)
	got, err := s.driver.getPush(ctx, task.Task, made.Config)
	s.answer("push get", got, err)
	configs, err := s.driver.listPush(ctx, task.Task)
	s.answers("push list", configs, err)
	err = s.driver.deletePush(ctx, task.Task, made.Config)
	s.answer("push delete", Observation{Kind: "done"}, err)
	configs, err = s.driver.listPush(ctx, task.Task)
	s.answers("push list", configs, err)
	s.send(ctx, "push", turn{text: "blue", task: task.Task, context: task.Context})
	return nil
}

// pushingInline configures the webhook with the message itself. What arrives there is noted by the receiver.
func (s *script) pushingInline(ctx context.Context) error {
	s.send(ctx, "push inline", turn{text: "work", webhook: s.webhook + "/inline", token: "inline-token"})
	return nil
}

// mistakes makes requests for missing things and impossible operations.
func (s *script) mistakes(ctx context.Context) error {
	task, err := s.driver.get(ctx, "no-such-task")
	s.answer("get unknown", task, err)
	task, err = s.driver.cancel(ctx, s.ended)
	s.answer("cancel ended", task, err)
	return nil
}
