package judgment

import (
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
)

// maxTasks bounds the tasks that are told apart. One that is shown again after as many others counts once more.
const maxTasks = 10_000

// workedOn are the tasks on which agents have worked while it was recorded: those that came of a message, of which a
// stream told, that were at work when somebody asked for them, or about which somebody wanted to be notified. What a
// list or a poll shows of tasks that had ended before is history.
type workedOn struct {
	tasks  *recent.Map[analysis.TaskKey, work]
	owners *recent.Map[analysis.TaskKey, analysis.Link] // by id alone, for notifications: the link that showed it last
	early  *recent.Map[analysis.TaskKey, early]         // by id alone: what was told of tasks that have no owner yet
	keys   taskKeys
}

// A work is what is known of a task.
type work struct {
	bad  bool   // it has ended badly
	over bool   // it has ended, or how it goes on is told elsewhere
	at   uint64 // the exchange that showed it at work last, and not in a stream, of which LeftAtWork tells; 0 if none did
	// the exchange that showed it last, waiting for its client, and for what; 0 if it does not wait, or its client has sent
	// another message to it since
	waitsAt  uint64
	waitsFor a2a.State
}

// wait notes whether the task waits for its client after an exchange that is about it.
func (t *work) wait(s *summary.Summary, id string) {
	switch {
	case id == s.Task && s.State.Interrupted():
		t.waitsAt, t.waitsFor = s.Seq, s.State
	case s.Operation.Sends(), len(s.States) > 0:
		t.waitsAt = 0
	}
}

// An early is what a notification has told before the call was over that its task came of.
type early struct {
	end  *badEnd // nil if it has not ended badly
	over bool
}

// A badEnd is the end of a task, as failed calls are.
type badEnd struct {
	FailedCalls
	task  string
	state a2a.State
}

// take counts the tasks of an exchange, those of notifications for the link on which they were shown. It returns those
// that have ended badly, and were not known to have.
func (w *workedOn) take(s *summary.Summary) (c Calls, ended []FailedCalls) {
	c.Link = s.Link
	asks := s.Operation == a2a.CreatePushConfig && s.Outcome.Succeeded
	if len(s.States) == 0 && len(s.Batch) == 0 && !s.Operation.Sends() && !asks {
		return c, nil
	}
	if w.tasks == nil {
		w.tasks = analysis.RecentByTask[work](maxTasks)
		w.owners = analysis.RecentByTask[analysis.Link](maxTasks)
		w.early = analysis.RecentByTask[early](maxTasks)
	}
	if s.Operation == a2a.Webhook && !w.owned(&c, s) {
		return c, nil
	}
	happens := s.Operation.Sends() || s.Operation == a2a.SubscribeToTask || len(s.Batch) > 0
	atWork := s.State != a2a.NoState && !s.State.Terminal()
	if s.Task != "" && len(s.Batch) == 0 && (asks || atWork || happens && len(s.States) > 0) {
		ended = w.begin(&c, s.Task)
	}
	for _, end := range s.Ended {
		if happens {
			ended = append(ended, w.begin(&c, end.ID)...)
		}
		ended = append(ended, w.end(&c, badEndOf(s, &end))...)
	}
	w.goesOn(c.Link.Agent, s)
	c.Answers = max(sent(s)-len(ended), 0)
	return c, ended
}

// badEndOf returns the end of a task that an exchange shows.
func badEndOf(s *summary.Summary, end *summary.TaskEnd) badEnd {
	return badEnd{
		FailedCalls{
			Exchange: s.Seq, Link: s.Link, Binding: s.Binding, Operation: s.Asked,
			Error: "task " + end.State.String(), Text: end.Text, Task: true, Count: 1,
		}, end.ID, end.State,
	}
}

// owned says for which link a notification counts. If the task was not shown yet, it keeps what it tells of it.
func (w *workedOn) owned(c *Calls, s *summary.Summary) bool {
	id := w.keys.of("", s.Task)
	owner, ok := w.owners.Get(id)
	if ok {
		c.Link = owner
		return true
	}
	told, _ := w.early.At(id)
	told.over = told.over || slices.ContainsFunc(s.States, a2a.State.Terminal)
	if len(s.Ended) > 0 && told.end == nil {
		end := badEndOf(s, &s.Ended[0])
		told.end = &end
	}
	return false
}

// begin counts a task that is not known yet. It returns how it has ended already, if it has ended badly.
func (w *workedOn) begin(c *Calls, task string) (ended []FailedCalls) {
	id := w.keys.of("", task)
	w.owners.Put(id, c.Link)
	now, known := w.tasks.At(w.keys.of(c.Link.Agent, task))
	if known {
		return nil
	}
	told, _ := w.early.Get(id)
	w.early.Delete(id)
	c.Tasks++
	if now.over = told.over; told.end != nil {
		ended = w.end(c, *told.end)
	}
	return ended
}

// end counts the end of a task that was worked on, once.
func (w *workedOn) end(c *Calls, end badEnd) []FailedCalls {
	task := w.tasks.Find(w.keys.of(c.Link.Agent, end.task))
	if task == nil || task.bad {
		return nil
	}
	*task = work{bad: true, over: true}
	c.TasksFailed++
	count(&c.Ends, end.state.String(), 1)
	end.Link = c.Link
	return []FailedCalls{end.FailedCalls}
}

// goesOn notes how far the tasks of an exchange have come. Of several it does not say which has.
func (w *workedOn) goesOn(agent string, s *summary.Summary) {
	several := s.Operation == a2a.ListTasks || len(s.Batch) > 0
	note := func(id string) {
		task := w.tasks.Find(w.keys.of(agent, id))
		if task == nil || task.over {
			return
		}
		task.over = several || slices.ContainsFunc(s.States, a2a.State.Terminal)
		if task.at = 0; s.State.Active() && !s.Stream && id == s.Task {
			task.at = s.Seq
		}
		task.wait(s, id)
	}
	for _, id := range s.Tasks {
		note(id)
	}
	if !slices.Contains(s.Tasks, s.Task) {
		note(s.Task)
	}
}

// unended returns what is not seen of tasks that were at work when they were shown last, or waited for input or a login
// that their client has not given.
func (w *workedOn) unended() (gaps []NotSeen) {
	if w.tasks == nil {
		return nil
	}
	reasons := []string{
		"at work when last shown", "waiting for input when last shown, which no one gave",
		"waiting for a login when last shown, which no one gave",
	}
	found := make([]NotSeen, len(reasons))
	for _, task := range w.tasks.All() {
		i, at := 0, task.at
		switch {
		case task.over:
			continue
		case task.waitsAt == 0:
		case task.waitsFor == a2a.AuthRequired:
			i, at = 2, task.waitsAt
		default:
			i, at = 1, task.waitsAt
		}
		if gap := &found[i]; at != 0 {
			if gap.Count++; gap.Exchange == 0 || at < gap.Exchange {
				gap.Exchange = at
			}
		}
	}
	for i, gap := range found {
		if gap.Count > 0 {
			gap.What, gap.Why = "the end of "+analysis.Plural(gap.Count, "task"), reasons[i]
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

// sent returns how many messages were answered without telling of a task, or in a batch, where the summary does not say
// with what.
func sent(s *summary.Summary) (n int) {
	for i := range s.Batch {
		if m := &s.Batch[i]; m.Operation.Sends() && m.Outcome.Succeeded {
			n++
		}
	}
	if s.Operation.Sends() && s.Outcome.Succeeded && len(s.States) == 0 {
		n++
	}
	return n
}

// taskKeys works out the keys of tasks, and that of the one that was asked for last not again.
type taskKeys struct {
	agent, id string
	key       analysis.TaskKey
}

// of returns the key of an agent's task, or of an id alone.
func (k *taskKeys) of(agent, id string) analysis.TaskKey {
	if k.key == (analysis.TaskKey{}) || k.id != id || k.agent != agent {
		*k = taskKeys{agent, id, analysis.TaskKeyOf(agent, "", id)}
	}
	return k.key
}
