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

// crowd is the number of concurrent tasks.
const crowd = 5

// A strand is one of several concurrent tasks.
type strand struct {
	sent    client.Message
	mark    string // a word that only this strand contains
	task    *client.Task
	message *client.Message // instead of a task
	err     error
	foreign string // the id of another task in its stream
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

// run creates the task and reads it after it has ended.
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

// stream creates the task in a stream, and reads the stream until the task is settled.
func (x *strand) stream(ctx context.Context, s *probe.Session) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	id := x.sent.TaskID
	heard := false
	for e, err := range s.Client.Stream(ctx, x.sent, client.SendOptions{}) {
		if err != nil && !heard {
			return // the scenarios about streams report why no stream comes
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

// apart asserts that no strand shows data of another.
func apart(strands []*strand) error {
	tasks := 0
	for _, x := range strands {
		if x.err != nil {
			return fmt.Errorf("one of %d concurrent tasks: %w", len(strands), x.err)
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
				return probe.Fail("a task for each message", "two messages got task %s", x.task.ID)
			}
			if other.task != nil && x.task.ContextID != "" && other.task.ContextID == x.task.ContextID {
				return probe.Fail("a separate context for each message that names none", "tasks %s and %s are both in context %s",
					x.task.ID, other.task.ID, x.task.ContextID)
			}
			if strings.Contains(string(x.task.Raw), other.mark) || strings.Contains(string(x.task.Raw), other.sent.ID) {
				return probe.Fail("only content of task "+x.task.ID, "text of another task's message: %s",
					probe.Excerpt(x.task.Raw))
			}
		}
	}
	if tasks == 0 {
		return probe.NoTask()
	}
	if tasks < 2 {
		return probe.Unclear("%d of %d messages created a task", tasks, len(strands))
	}
	return nil
}
