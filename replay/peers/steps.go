package peers

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// pollEvery is how long the script waits between two requests for the same task.
const pollEvery = 10 * time.Millisecond

// send sends a message, waits for the answer and notes it.
func (s *script) send(ctx context.Context, step string, u turn) Observation {
	answer, err := s.driver.send(ctx, u)
	s.answer(step, answer, err)
	return answer
}

// stream sends a message and notes every event, calling on (which may be nil) after each, and how the stream ended.
func (s *script) stream(ctx context.Context, step string, u turn, on func(Observation)) {
	err := s.driver.stream(ctx, u, func(e Observation) {
		s.answer(step, e, nil)
		if on != nil {
			on(e)
		}
	})
	s.answer(step, Observation{Kind: "done"}, err)
}

// release opens the gate of a task that waits.
func (s *script) release(ctx context.Context, step, task string) {
	answer, err := s.driver.send(ctx, turn{text: "release " + task})
	s.answer(step+" release", answer, err)
}

// start sends a message that creates a task, and does not wait for the task. The task's progress when the response is
// written varies, so only the task is noted.
func (s *script) start(ctx context.Context, step string, u turn) (task string, err error) {
	u.now = true
	answer, err := s.driver.send(ctx, u)
	if err == nil && answer.Task == "" {
		err = fmt.Errorf("step %s: the agent answered a %s, not a task", step, answer.Kind)
	}
	if err != nil {
		return "", err
	}
	s.answer(step, Observation{Kind: "task", Task: answer.Task, Context: answer.Context}, nil)
	return answer.Task, nil
}

// finish asks for a started task until it works, releases it, and asks until it has ended.
func (s *script) finish(ctx context.Context, step, task string) error {
	if err := s.poll(ctx, step, task, "working"); err != nil {
		return err
	}
	s.release(ctx, step, task)
	return s.poll(ctx, step, task, "completed")
}

// poll asks for a task until its state is the wanted one. The number of polls varies, so only the last is noted.
func (s *script) poll(ctx context.Context, step, task, state string) error {
	for {
		answer, err := s.driver.get(ctx, task)
		if err != nil || strings.HasSuffix(strings.ToLower(answer.State), state) {
			s.answer(step, answer, err)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("step %s: task %s is still %s, wanted %s: %w", step, task, answer.State, state, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}

// note appends observations, as part of a step.
func (s *script) note(step string, seen ...Observation) {
	for _, one := range seen {
		one.Step = step
		s.seen = append(s.seen, one)
	}
}

// answer notes an answer, or the error that came instead.
func (s *script) answer(step string, answer Observation, err error) {
	if err != nil {
		answer = Observation{Kind: "error", Code: s.driver.code(err), Text: err.Error()}
	}
	s.note(step, answer)
}

// answers notes a list and its length, or the error that came instead.
func (s *script) answers(step string, list []Observation, err error) {
	if err != nil {
		s.answer(step, Observation{}, err)
		return
	}
	s.note(step, Observation{Kind: "list", Note: fmt.Sprintf("of %d", len(list))})
	s.note(step, list...)
}
