package intake

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
)

// maxGivenUp bounds the tasks whose clients' actions are remembered.
const maxGivenUp = 10_000

// givenUp records whether an agent may have canceled a task because of its client. That is the case if the client asked
// for it, disconnected before the answer, or sent the task another message, whose text is not interpreted. Tasks are
// distinguished by id alone: it is better to miss a cancellation without a reason than to report one wrongly.
type givenUp struct {
	tasks *recent.Map[analysis.TaskKey, bool] // false while the client has only named the task, with its first message
}

// asked records a request.
func (g *givenUp) asked(c *a2a.Call) {
	for i := range c.Batch {
		g.asked(&c.Batch[i])
	}
	switch continues := (a2a.Message{Value: c.Message}).TaskID() != ""; {
	case c.TaskID == "":
	case c.Operation == a2a.CancelTask, c.Operation.Sends(): // in 0.1 clients name new tasks, too
		g.named(c.TaskID, continues || !c.Operation.Sends())
	}
}

// named records that a client has named a task: certainly, or for the second time, to act on it.
func (g *givenUp) named(task string, surely bool) {
	if g.tasks == nil {
		g.tasks = analysis.RecentByTask[bool](maxGivenUp)
	}
	key := analysis.TaskKeyOf("", "", task)
	_, before := g.tasks.Get(key)
	g.tasks.Put(key, surely || before)
}

// has reports whether the client of a task may be the reason for its cancellation.
func (g *givenUp) has(task string) bool {
	if g.tasks == nil {
		return false
	}
	given, _ := g.tasks.Get(analysis.TaskKeyOf("", "", task))
	return given
}

// taskEnded records that a task is shown to have ended badly.
func (ob *observer) taskEnded(in *openExchange, id string, state a2a.State, message a2a.Message) {
	switch {
	case id == "", state != a2a.Failed && state != a2a.Rejected && state != a2a.Canceled:
	case state == a2a.Canceled && ob.givenUp.has(id):
	default:
		in.gathered.ended(summary.TaskEnd{ID: id, State: state, Text: firstText(message.Parts())})
	}
}

// maxEnded bounds the badly ended tasks in a summary: no page of a list has more (1.0 §3.1.4).
const maxEnded = 100

// ended records that a task has ended badly; the data of its first end stays.
func (g *gathering) ended(end summary.TaskEnd) {
	for i := range g.Ended {
		if e := &g.Ended[i]; e.ID == end.ID {
			if e.Text == "" && e.State == end.State {
				e.Text = end.Text
			}
			return
		}
	}
	if len(g.Ended) == maxEnded {
		g.Partial = true
		return
	}
	g.Ended = append(g.Ended, end)
}
