package peers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Converse plays a conversation that can be replayed: unlike the script of Run, it puts no id into a text and leaves
// nothing to chance. Its tasks, in order, are: a message; a task that is read once; a failing one in a stream; one
// that asks back and gets a webhook; one that is followed in two streams and canceled; and an unknown task. It fails
// for clients that are separate programs.
func (c Client) Converse(ctx context.Context, t testing.TB, agentURL, binding string) error {
	if c.driver == nil {
		return fmt.Errorf("%s is a program of its own, which plays its script only", c.Name)
	}
	h := newHTTPClient(t)
	heads := &streamHeads{RoundTripper: h.Transport}
	h.Transport = heads
	v := &conversation{driver: c.driver(h), heads: heads}
	if _, err := v.driver.discover(ctx, agentURL, binding); err != nil {
		return fmt.Errorf("discover the agent: %w", err)
	}
	for _, part := range []func(context.Context) error{v.messages, v.pushing, v.following} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A conversation is a conversation in progress.
type conversation struct {
	driver driver
	heads  *streamHeads
}

func (v *conversation) messages(ctx context.Context) error {
	if _, err := v.driver.send(ctx, turn{text: "hello"}); err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	var tasks []string
	for range 2 {
		task, err := v.driver.send(ctx, turn{text: "work"})
		if err != nil {
			return fmt.Errorf("ask for work: %w", err)
		}
		tasks = append(tasks, task.Task)
	}
	for _, task := range tasks {
		if _, err := v.driver.get(ctx, task); err != nil {
			return fmt.Errorf("get task %s: %w", task, err)
		}
	}
	if _, err := v.driver.get(ctx, "no-such-task"); err == nil {
		return errors.New("an unknown task was found")
	}
	if err := v.driver.stream(ctx, turn{text: "fail"}, func(Observation) {}); err != nil {
		return fmt.Errorf("stream a failure: %w", err)
	}
	return nil
}

func (v *conversation) pushing(ctx context.Context) error {
	asked, err := v.driver.send(ctx, turn{text: "ask"})
	if err != nil {
		return fmt.Errorf("be asked back: %w", err)
	}
	// A webhook operation that an agent does not support fails again on replay.
	config, err := v.driver.setPush(ctx, asked.Task, "http://127.0.0.1:9/hook", "known-to-both")
	if err != nil {
		config.Config = "no-such-config"
	}
	v.driver.getPush(ctx, asked.Task, config.Config)    //nolint:errcheck // see above
	v.driver.listPush(ctx, asked.Task)                  //nolint:errcheck // see above
	v.driver.deletePush(ctx, asked.Task, config.Config) //nolint:errcheck // see above
	if _, err := v.driver.send(ctx, turn{text: "blue", task: asked.Task, context: asked.Context}); err != nil {
		return fmt.Errorf("answer the agent: %w", err)
	}
	return nil
}

// following reads a task in the stream that began it, subscribes to it when it works, and cancels it when both streams
// are open. Not every agent sends an event at once to a subscriber, so the header of the response must suffice.
func (v *conversation) following(ctx context.Context) error {
	subscribed := make(chan error, 1)
	begun := false
	err := v.driver.stream(ctx, turn{text: "wait"}, func(e Observation) {
		if begun || !strings.HasSuffix(strings.ToLower(e.State), "working") {
			return
		}
		begun = true
		stands := v.heads.next()
		go func() { subscribed <- v.driver.subscribe(ctx, e.Task, func(Observation) {}) }()
		select {
		case <-stands:
		case err := <-subscribed:
			subscribed <- err
		case <-ctx.Done():
		}
		v.driver.cancel(ctx, e.Task) //nolint:errcheck // the streams show the result
	})
	if err != nil {
		return fmt.Errorf("stream a task: %w", err)
	}
	if !begun {
		return errors.New("the task never worked")
	}
	if err := <-subscribed; err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("subscribe to a task: %w", err)
	}
	return nil
}

// streamHeads tells when the head of an event stream has come.
type streamHeads struct {
	http.RoundTripper
	mu      sync.Mutex
	waiting []chan struct{}
}

// next returns a channel that is closed with the next head.
func (h *streamHeads) next() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	came := make(chan struct{})
	h.waiting = append(h.waiting, came)
	return came
}

// RoundTrip implements http.RoundTripper.
func (h *streamHeads) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := h.RoundTripper.RoundTrip(r)
	if err == nil && strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, came := range h.waiting {
			close(came)
		}
		h.waiting = nil
	}
	return res, err
}
