package refagent

import (
	"context"
)

// Work is what an agent does with a message: it returns the text of the task's one artifact, or an error, whose text is
// why the task has failed. The context ends when the task is canceled or the agent closed. Messages are worked on by
// goroutines of their own.
type Work func(ctx context.Context, a Assignment) (text string, err error)

// An Assignment is a message that an agent works on.
type Assignment struct {
	Text        string
	Traceparent string // as its client sent it (W3C Trace Context §3.2); empty if it sent none
}

func workSkill(work Work) *skill {
	return &skill{name: "work", run: func(j *job) {
		j.status(working, "")
		result, err := work(j.ctx, Assignment{Text: j.input, Traceparent: j.traceparent})
		if err != nil {
			j.status(failed, err.Error())
			return
		}
		j.artifact(artifact{id: j.engine.newID(), name: "result", parts: text(result)})
		j.status(completed, "")
	}}
}
