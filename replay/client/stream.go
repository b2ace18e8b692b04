package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync/atomic"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/replay/limits"
)

// ErrCut means that a stream's connection was broken. Streams yield it, wrapped.
var ErrCut = errors.New("the stream was cut off")

// stream performs a call whose answer is a stream. Nothing is sent before the sequence is ranged over, and each
// range sends again.
func (c *Client) stream(ctx context.Context, in call) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if c.endpoint.Protocol.OverGRPC() {
			for e, err := range c.streamGRPC(ctx, cancel, in) {
				if err != nil {
					err = streamError(in.op, err)
				}
				if !yield(e, err) {
					return
				}
			}
			return
		}
		resp, err := c.open(ctx, cancel, in)
		if err != nil {
			yield(Event{}, streamError(in.op, err))
			return
		}
		defer resp.Body.Close()
		if !isEventStream(resp) {
			yield(Event{}, streamError(in.op, c.notStreamed(ctx, in, resp)))
			return
		}
		silence := newSilence(c.http.opts.Limits, cancel)
		defer silence.stop()
		for sent, err := range events(resp.Body, c.http.opts.Limits) {
			if err == nil {
				silence.end()
			} else {
				yield(Event{}, streamError(in.op, c.broken(ctx, silence, err)))
				return
			}
			if string(sent.data) == "[DONE]" {
				continue // some agents end streams as model providers do
			}
			e, err := c.event(in, resp.StatusCode, sent)
			if err != nil {
				yield(Event{}, streamError(in.op, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// broken returns why reading a stream failed. It is ErrCut only if the agent is the cause.
func (c *Client) broken(ctx context.Context, s *silence, err error) error {
	var reached *limits.ReachedError
	switch {
	case s.over():
		err = c.http.opts.Limits.Silent()
	case ctx.Err() != nil:
		err = ctx.Err() // the transport sometimes reports only that its connection is closed
	case errors.As(err, &reached):
	default:
		err = fmt.Errorf("%w: %w", ErrCut, err)
	}
	return fmt.Errorf("read the stream: %w", err)
}

// A silence ends a stream that has sent no event for too long.
type silence struct {
	timer   *time.Timer
	pause   time.Duration
	reached atomic.Bool
}

func newSilence(l limits.Limits, cancel context.CancelFunc) *silence {
	s := &silence{pause: l.Idle}
	s.timer = time.AfterFunc(s.pause, func() {
		s.reached.Store(true)
		cancel()
	})
	return s
}

// end notes that an event has come.
func (s *silence) end() { s.timer.Reset(s.pause) }

func (s *silence) stop() { s.timer.Stop() }

// over reports whether the stream was silent for too long.
func (s *silence) over() bool { return s.reached.Load() }

// open sends the request and waits for the head of the answer, no longer than the timeout.
func (c *Client) open(ctx context.Context, cancel context.CancelFunc, in call) (*http.Response, error) {
	out, err := c.outgoing(in)
	if err != nil {
		return nil, err
	}
	timer := time.AfterFunc(c.http.opts.Timeout, cancel)
	resp, err := c.http.do(ctx, out)
	if err == nil && in.op == a2a.SubscribeToTask && resp.StatusCode == http.StatusMethodNotAllowed &&
		out.Method == http.MethodPost {
		// A2A 1.0 names POST in the text and GET in the proto, and some agents serve only the latter.
		resp.Body.Close()
		in.gets = true
		timer.Stop()
		return c.open(ctx, cancel, in)
	}
	if !timer.Stop() && err != nil {
		err = limits.Late(c.http.opts.Timeout)
	}
	return resp, err
}

// notStreamed reads an answer that should have been a stream: an error, most likely.
func (c *Client) notStreamed(ctx context.Context, in call, resp *http.Response) error {
	body, err := c.http.readAll(ctx, resp)
	if err != nil {
		return err
	}
	if _, err := c.result(in, resp.StatusCode, body); err != nil {
		return err
	}
	return fmt.Errorf("read the stream: the Content-Type is %q, not text/event-stream", resp.Header.Get("Content-Type"))
}

// event reads one event.
func (c *Client) event(in call, status int, sent serverEvent) (Event, error) {
	err := c.http.opts.Limits.CheckValues(sent.data)
	if err != nil {
		return Event{}, fmt.Errorf("read an event: %w", err)
	}
	result, err := c.result(in, status, sent.data)
	if err != nil {
		return Event{}, err
	}
	e, err := c.decodeStreamed(in, result)
	if err != nil {
		return Event{}, fmt.Errorf("read an event: %w", err)
	}
	e.Name, e.Raw, e.Result = sent.name, sent.data, result
	return e, nil
}

func streamError(op a2a.Operation, err error) error {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused
	}
	return fmt.Errorf("%s: %w", op, err)
}
