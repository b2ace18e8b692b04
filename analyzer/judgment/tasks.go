package judgment

import (
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
)

// maxTasks bounds the tasks that are distinguished. A task that appears again after that many others counts again.
const maxTasks = 10_000

// workedOn are the tasks on which agents worked during the recording. They were created by a message, updated by a
// stream, at work when a client requested them, or the subject of a push configuration. Tasks in a list or a poll that
// had ended before are history.
type workedOn struct {
	tasks  *recent.Map[analysis.TaskKey, work]
	owners *recent.Map[analysis.TaskKey, analysis.Link] // by id alone, for notifications: the last link that showed it
	early  *recent.Map[analysis.TaskKey, early]         // by id alone: reports about tasks that have no owner yet
	keys   taskKeys
}

// A work is the known facts about a task.
type work struct {
	bad  bool   // it has ended badly
	over bool   // it has ended, or other exchanges report its progress
	at   uint64 // the last exchange that showed it active, other than streams, which LeftAtWork covers; 0 if none
	// the exchange that last showed it waiting for its client, and for what; 0 if it does not wait, or its client has
	// sent another message to it since
	waitsAt  uint64
	waitsFor a2a.State
}

// wait records whether the task waits for its client after an exchange about it.
func (t *work) wait(s *summary.Summary, id string) {
	switch {
	case id == s.Task && s.State.Interrupted():
		t.waitsAt, t.waitsFor = s.Seq, s.State
	case s.Operation.Sends(), len(s.States) > 0:
		t.waitsAt = 0
	}
}

// An early is the content of a notification that arrived before the call that created its task was over.
type early struct {
	end  *badEnd // nil if it has not ended badly
	over bool
}

// A badEnd is the end of a task, in the form of a failed call.
type badEnd struct {
	FailedCalls
	task  string
	state a2a.State
}

// take counts the tasks of an exchange; tasks of notifications count for the link that showed them. It returns the
// tasks that are newly known to have ended badly.
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

// badEndOf returns the bad end of a task that an exchange shows.
func badEndOf(s *summary.Summary, end *summary.TaskEnd) badEnd {
	return badEnd{
		FailedCalls{
			Exchange: s.Seq, Link: s.Link, Binding: s.Binding, Operation: s.Asked,
			Error: "task " + end.State.String(), Text: end.Text, Task: true, Count: 1,
		}, end.ID, end.State,
	}
}

// owned returns the link that a notification counts for. If the task was not shown yet, the notification's content is
// stored.
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

// begin counts an unknown task. It returns the task's end if it has already ended badly.
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

// end counts the end of a task once.
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

// goesOn records the progress of an exchange's tasks. An exchange with several tasks does not show which one
// progressed.
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

// unended returns gaps for tasks that were active when last shown, or waited for input or a login that their client
// has not given.
func (w *workedOn) unended() (gaps []NotSeen) {
	if w.tasks == nil {
		return nil
	}
	reasons := []string{
		"active when last shown", "waiting for input when last shown, which never came",
		"waiting for a login when last shown, which never came",
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

// sent returns how many messages were answered without a task, or in a batch, whose summary does not have the answers.
func sent(s *summary.Summary) (n int) {
	for i := range s.Batch {
		if m := &s.Batch[i]; m.Operation.Sends() && m.Outcome.Succeeded {
			n += 1 + m.Others
		}
	}
	if s.Operation.Sends() && s.Outcome.Succeeded && len(s.States) == 0 {
		n++
	}
	return n
}

// taskKeys computes the keys of tasks, and caches the last one.
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
