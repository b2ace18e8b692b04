package intake

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/recent"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
)

// maxGivenUp bounds the tasks of which is remembered what their clients did with them.
const maxGivenUp = 10_000

// givenUp remembers of tasks whether an agent may have canceled them because of their client: it asked for that, left
// before it had its answer, or sent another message to the task, whose words nobody here understands. Tasks are told
// apart by their ids alone: of who cancels without a reason we would rather not speak than be wrong.
type givenUp struct {
	tasks *recent.Map[analysis.TaskKey, bool] // false as long as its client has only named it, with its first message
}

// asked takes a request.
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

// named notes that a client has named a task: surely, or for the second time, to do something about it.
func (g *givenUp) named(task string, surely bool) {
	if g.tasks == nil {
		g.tasks = analysis.RecentByTask[bool](maxGivenUp)
	}
	key := analysis.TaskKeyOf("", "", task)
	_, before := g.tasks.Get(key)
	g.tasks.Put(key, surely || before)
}

// has reports whether the client of a task may be the reason if it is canceled.
func (g *givenUp) has(task string) bool {
	if g.tasks == nil {
		return false
	}
	given, _ := g.tasks.Get(analysis.TaskKeyOf("", "", task))
	return given
}

// taskEnded notes that a task is shown that has ended without having done what it was for.
func (ob *observer) taskEnded(in *openExchange, id string, state a2a.State, message a2a.Message) {
	switch {
	case id == "", state != a2a.Failed && state != a2a.Rejected && state != a2a.Canceled:
	case state == a2a.Canceled && ob.givenUp.has(id):
	default:
		in.gathered.ended(summary.TaskEnd{ID: id, State: state, Text: firstText(message.Parts())})
	}
}

// maxEnded bounds the tasks that a summary tells to have ended badly: no page of a list has more (1.0 §3.1.4).
const maxEnded = 100

// ended takes that a task has ended badly; what its first end says stays.
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
