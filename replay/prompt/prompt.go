package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"a2atap/replay/client"
)

// A Mode is a way to send a message.
type Mode string

// The modes.
const (
	Auto   Mode = "auto" // Stream if the card declares streaming, else Send
	Send   Mode = "send"
	Stream Mode = "stream"
)

// Options configure how to ask. The zero value sends and polls.
type Options struct {
	Mode Mode // Send if empty
	Send client.SendOptions
	// NoPoll accepts the first answer to a send as final, and treats a cut stream as an error.
	NoPoll bool
	// Interval is the pause between two polls; PollTimeout bounds the polling of a task as a whole.
	Interval, PollTimeout time.Duration
	// OnEvent is called with each event of a stream on arrival, OnResult with the answer to a send, and OnPoll with
	// each polled task. Each may be nil. An error ends the call.
	OnEvent  func(client.Event) error
	OnResult func(*client.Result) error
	OnPoll   func(*client.Task) error
	// Patience bounds the time that a stream stays open after it has shown that a task has ended, or waits. Default 5
	// s after the end and 30 s while the task waits.
	Patience time.Duration
}

// Ask sends a message and waits for the final answer.
func Ask(ctx context.Context, c *client.Client, m client.Message, o Options) (*Answer, error) {
	a := &asker{c: c, o: o, answer: &Answer{Mode: o.ModeFor(c)}, goesOn: m.TaskID != ""}
	if a.answer.Mode == Stream {
		return a.answer, a.follow(ctx, func(ctx context.Context) iter.Seq2[client.Event, error] {
			return c.Stream(ctx, m, o.Send)
		})
	}
	return a.answer, a.send(ctx, m)
}

// Follow waits for the final state of an existing task on a separate stream.
func Follow(ctx context.Context, c *client.Client, id string, o Options) (*Answer, error) {
	a := &asker{c: c, o: o, answer: &Answer{Mode: Stream}}
	return a.answer, a.follow(ctx, func(ctx context.Context) iter.Seq2[client.Event, error] {
		return c.Subscribe(ctx, id)
	})
}

// Poll polls an existing task until it has ended or waits.
func Poll(ctx context.Context, c *client.Client, id string, o Options) (*Answer, error) {
	a := &asker{c: c, o: o, answer: &Answer{Mode: Send}}
	err := a.poll(ctx, id)
	if a.answer.Task != nil {
		a.answer.Raw = a.answer.Task.Raw
	}
	return a.answer, err
}

// ModeFor returns the mode in which messages go to an agent: Send or Stream.
func (o Options) ModeFor(c *client.Client) Mode {
	card := c.Card()
	if o.Mode == Stream || o.Mode == Auto && card != nil && card.Streaming {
		return Stream
	}
	return Send
}

// settled reports whether a task cannot proceed by itself.
func settled(s client.State) bool { return s.Terminal() || s.Interrupted() }

type asker struct {
	c      *client.Client
	o      Options
	answer *Answer
	goesOn bool // the message is to an existing task
}

func (a *asker) send(ctx context.Context, m client.Message) error {
	r, err := a.c.Send(ctx, m, a.o.Send)
	if err != nil {
		return err
	}
	a.answer.Message, a.answer.Task, a.answer.Raw = r.Message, r.Task, r.Raw
	if a.o.OnResult != nil {
		if err := a.o.OnResult(r); err != nil {
			return err
		}
	}
	if r.Task == nil || settled(r.Task.Status.State) || a.o.NoPoll {
		return nil
	}
	if err := a.poll(ctx, r.Task.ID); err != nil {
		return err
	}
	a.answer.Raw = a.answer.Task.Raw
	return nil
}

// poll polls a task until it has ended or waits, and puts it into the answer.
func (a *asker) poll(ctx context.Context, id string) error {
	timeout := time.NewTimer(a.o.PollTimeout)
	defer timeout.Stop()
	for {
		t, err := a.c.Get(ctx, id, nil)
		if err != nil {
			return fmt.Errorf("poll task %s: %w", id, err)
		}
		a.answer.Task = t
		if a.o.OnPoll != nil {
			if err := a.o.OnPoll(t); err != nil {
				return err
			}
		}
		if settled(t.Status.State) {
			return nil
		}
		pause := time.NewTimer(a.o.Interval)
		select {
		case <-pause.C:
			if a.o.Interval > 0 {
				continue
			}
			select { // a zero pause must not always win
			case <-timeout.C:
			default:
				continue
			}
		case <-timeout.C:
			pause.Stop()
		case <-ctx.Done():
			pause.Stop()
			return fmt.Errorf("poll task %s, which is %s: %w", id, stateOf(t), ctx.Err())
		}
		return fmt.Errorf("poll task %s: it is still %s after %v", id, stateOf(t), a.o.PollTimeout)
	}
}

func stateOf(t *client.Task) string {
	if t.Status.State == "" {
		return "without a state"
	}
	return string(t.Status.State)
}

// follow reads a stream until it ends, or has no more news, and polls if it broke off before that.
func (a *asker) follow(ctx context.Context, open func(context.Context) iter.Seq2[client.Event, error]) error {
	cut, err := a.read(ctx, open)
	if err != nil || cut == nil {
		return err
	}
	id := a.answer.TaskID()
	if id == "" || a.o.NoPoll {
		return cut
	}
	if err := a.poll(ctx, id); err != nil {
		return fmt.Errorf("%w; %w", cut, err)
	}
	return nil
}

// read joins the events of a stream. The first error, if any, means that the stream broke off; the second that it
// cannot be read, or was refused.
func (a *asker) read(
	ctx context.Context, open func(context.Context) iter.Seq2[client.Event, error],
) (cut, failed error) {
	reading, leave := context.WithCancel(ctx)
	defer leave()
	patience := time.AfterFunc(time.Hour, leave)
	patience.Stop() // it starts with the first event
	defer patience.Stop()
	j := joined{}
	over := false
	for e, err := range open(reading) {
		if err != nil {
			cut, failed = a.stopped(ctx, &j, err)
			break
		}
		a.answer.Events = append(a.answer.Events, json.RawMessage(e.Result))
		if failed = j.add(e); failed != nil {
			break
		}
		if a.o.OnEvent != nil {
			if failed = a.o.OnEvent(e); failed != nil {
				break
			}
		}
		if over {
			continue // events after the end do not extend its time
		}
		if j.done() == waiting && a.leavesWaiting() {
			break
		}
		over = j.done() == ended
		patience.Stop()
		if d := a.o.patience(j.done()); d > 0 {
			patience.Reset(d)
		}
	}
	if err := j.into(a.answer); err != nil && failed == nil {
		failed = fmt.Errorf("join the events of the stream: %w", err)
	}
	if cut == nil && failed == nil && j.done() == notDone {
		cut = fmt.Errorf("the stream ended while the task was %s", j.stateText())
		if len(a.answer.Events) == 0 {
			cut = errors.New("the stream ended without an event")
		}
	}
	return cut, failed
}

// leavesWaiting reports whether to leave a stream as soon as it shows that the task waits: before A2A 0.1, it stays
// open while the task waits. The first event about a task that continues may show its state before the message.
func (a *asker) leavesWaiting() bool {
	return a.c.Endpoint().Protocol == client.Early && (len(a.answer.Events) > 1 || !a.goesOn)
}

// stopped interprets an error at the end of a stream.
func (a *asker) stopped(ctx context.Context, j *joined, err error) (cut, failed error) {
	left := errors.Is(err, context.Canceled) && ctx.Err() == nil // the patience timer has expired
	switch {
	case j.done() != notDone && (left || errors.Is(err, client.ErrCut)):
		return nil, nil // everything relevant has arrived
	case errors.Is(err, client.ErrCut):
		return err, nil
	}
	return nil, err
}

func (o Options) patience(p progress) time.Duration {
	switch {
	case p == notDone:
		return 0
	case o.Patience > 0:
		return o.Patience
	case p == waiting:
		return 30 * time.Second
	}
	return 5 * time.Second
}
