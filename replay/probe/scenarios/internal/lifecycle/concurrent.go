package lifecycle

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// crowd is how many tasks are made at the same time.
const crowd = 5

// A strand is one of several tasks at the same time.
type strand struct {
	sent    client.Message
	mark    string // a word that only this strand has been told
	task    *client.Task
	message *client.Message // in place of a task
	err     error
	foreign string // the id of another task that its stream told of
}

func askAtOnce(ctx context.Context, s *probe.Session) error {
	strands := make([]*strand, crowd)
	var group sync.WaitGroup
	for i := range strands {
		x := &strand{sent: scenario.Named(s, s.Say(probe.CompletesTask)), mark: s.NewID()}
		x.sent.ID = s.NewID()
		x.sent.Parts[0].Text += " " + x.mark
		strands[i] = x
		streams := s.Card != nil && s.Card.Streaming && i%2 == 1
		group.Go(func() { x.run(ctx, s, streams) })
	}
	group.Wait()
	return apart(strands)
}

// run makes the task and reads it when it has ended.
func (x *strand) run(ctx context.Context, s *probe.Session, streams bool) {
	if streams {
		x.stream(ctx, s)
	} else if r, err := s.Client.Send(ctx, x.sent, client.SendOptions{}); err != nil {
		x.err = err
	} else {
		x.task, x.message = r.Task, r.Message
	}
	if x.err != nil || x.task == nil {
		return
	}
	x.task, x.err = s.Settle(ctx, x.task.ID)
}

// stream makes the task in a stream, and reads that until the task is settled.
func (x *strand) stream(ctx context.Context, s *probe.Session) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	id := x.sent.TaskID
	heard := false
	for e, err := range s.Client.Stream(ctx, x.sent, client.SendOptions{}) {
		if err != nil && !heard {
			return // why no stream comes is for the scenarios about streams
		}
		if err != nil {
			x.err = err
			return
		}
		heard = true
		x.message = e.Message
		of := e.TaskID()
		switch {
		case e.Message != nil || of == "":
		case id == "":
			id = of
		case id != of:
			x.foreign = of
		}
		if probe.Settled(e.State()) {
			break
		}
	}
	if heard && id != "" && x.message == nil {
		x.task = &client.Task{ID: id}
	}
}

// apart asserts that no strand shows anything of another.
func apart(strands []*strand) error {
	tasks := 0
	for _, x := range strands {
		if x.err != nil {
			return fmt.Errorf("one of %d tasks at the same time: %w", len(strands), x.err)
		}
		if x.foreign != "" {
			return probe.Fail("events of task "+x.task.ID+" in its stream", "one of task %s", x.foreign)
		}
		if x.task == nil {
			continue
		}
		tasks++
		if x.sent.TaskID != "" {
			if err := scenario.SameTask(x.task, x.sent.TaskID, x.sent.ContextID); err != nil {
				return err
			}
		}
		for _, other := range strands {
			if other == x {
				continue
			}
			if other.task != nil && other.task.ID == x.task.ID {
				return probe.Fail("a task for each message", "two of them got task %s", x.task.ID)
			}
			if other.task != nil && x.task.ContextID != "" && other.task.ContextID == x.task.ContextID {
				return probe.Fail("a context for each message that names none", "tasks %s and %s are both in context %s",
					x.task.ID, other.task.ID, x.task.ContextID)
			}
			if strings.Contains(string(x.task.Raw), other.mark) || strings.Contains(string(x.task.Raw), other.sent.ID) {
				return probe.Fail("what belongs to task "+x.task.ID, "what was said in the message of another: %s",
					probe.Excerpt(x.task.Raw))
			}
		}
	}
	if tasks < 2 {
		return probe.Unclear("%d of %d messages made a task", tasks, len(strands))
	}
	return nil
}
