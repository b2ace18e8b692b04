package judgment

import (
	"fmt"

	"a2atap/analyzer"
	"a2atap/analyzer/recent"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
)

// maxTasks bounds the tasks that are told apart. One that is shown again after as many others counts once more.
const maxTasks = 10_000

// workedOn are the tasks on which agents have worked while it was recorded: those that came of a message, of which a
// stream or a notification told, or that were at work when somebody asked for them. What a list or a poll shows of
// tasks that had ended before is history.
type workedOn struct {
	tasks  *recent.Map[analyzer.TaskKey, bool]          // whether it has ended badly
	owners *recent.Map[analyzer.TaskKey, analyzer.Link] // by id alone, for notifications: the link that showed it last
}

// take counts the tasks of an exchange, those of notifications for the link on which they were shown. It returns those
// that have ended badly, and were not known to have.
func (w *workedOn) take(s *summary.Summary) (c Calls, ended []FailedCalls) {
	if len(s.States) == 0 && len(s.Ended) == 0 && len(s.Batch) == 0 && !s.Operation.Sends() {
		return Calls{Link: s.Link}, nil
	}
	if w.tasks == nil {
		w.tasks = recent.New[analyzer.TaskKey, bool](maxTasks)
		w.owners = recent.New[analyzer.TaskKey, analyzer.Link](maxTasks)
	}
	link, happens := s.Link, s.Operation.Sends() || s.Operation == a2a.SubscribeToTask || len(s.Batch) > 0
	if s.Operation == a2a.Webhook {
		happens = true
		if owner, ok := w.owners.Get(analyzer.TaskKeyOf("", "", s.Task)); ok {
			link = owner
		}
	}
	c.Link = link
	if s.Task != "" && len(s.States) > 0 && len(s.Batch) == 0 && (happens || s.State != a2a.NoState && !s.State.Terminal()) {
		w.begin(&c, s.Task)
	}
	for _, end := range s.Ended {
		if happens {
			w.begin(&c, end.ID)
		}
		key := analyzer.TaskKeyOf(link.Agent, "", end.ID)
		if bad, known := w.tasks.Get(key); known && !bad {
			w.tasks.Put(key, true)
			c.TasksFailed++
			count(&c.Ends, end.State.String(), 1)
			ended = append(ended, FailedCalls{
				Exchange: s.Seq, Link: link, Binding: s.Binding, Operation: s.Asked, Error: "task " + end.State.String(), Text: end.Text,
				Task: true, Count: 1,
			})
		}
	}
	c.Answers = max(sent(s)-len(ended), 0)
	return c, ended
}

// begin counts a task that is not known yet.
func (w *workedOn) begin(c *Calls, id string) {
	key := analyzer.TaskKeyOf(c.Link.Agent, "", id)
	if _, known := w.tasks.Get(key); !known {
		c.Tasks++
		w.tasks.Put(key, false)
	}
	w.owners.Put(analyzer.TaskKeyOf("", "", id), c.Link)
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

// tasksFailing reports whether at least half of what was worked on has failed, and a part of it is not accepted.
func (c *Calls) tasksFailing() bool {
	return c.TasksFailed > c.TasksKnown && 2*c.TasksFailed >= c.Tasks+c.Answers
}

// taskWords says how tasks ended, as verdicts have it: "3 of 10 tasks failed: failed 2, rejected 1"; nothing if none
// ended badly.
func (c *Calls) taskWords() string {
	if c.TasksFailed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s failed: %s%s", c.TasksFailed, analyzer.Plural(c.Tasks, "task"), errorWords(c.Ends),
		acceptedWords(c.TasksKnown, c.TasksFailed))
}
