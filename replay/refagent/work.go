package refagent

import (
	"context"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/model"
)

// Work handles a message: it returns the text of the task's only artifact, or an error, whose text becomes the reason
// of the task's failure. The context ends when the task is canceled or the agent closed. Each message is handled in a
// separate goroutine.
type Work func(ctx context.Context, a Assignment) (text string, err error)

// An Assignment is a message that an agent works on.
type Assignment struct {
	Text        string
	Traceparent string // as its client sent it (W3C Trace Context §3.2), or empty

	// For a [Skill]: its id, the ids of task and context, and the number of the message in its task, from 1.
	Skill, TaskID, ContextID string
	Turn                     int
}

func workSkill(work Work) *engine.Skill {
	return &engine.Skill{Name: "work", Run: func(j *engine.Job) {
		j.Status(model.Working, "")
		result, err := work(j.Ctx, Assignment{Text: j.Input, Traceparent: j.Traceparent})
		if err != nil {
			j.Status(model.Failed, err.Error())
			return
		}
		j.Artifact(model.Artifact{ID: j.Engine.NewID(), Name: "result", Parts: model.Text(result)})
		j.Status(model.Completed, "")
	}}
}
