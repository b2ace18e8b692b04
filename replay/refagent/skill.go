package refagent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// A Skill handles a message for a skill of the agent's card. It changes the task through the Turn while it runs; if it
// returns without having ended the task or asked the client for input, the task has completed. The context ends when
// the task is canceled or the agent closed. Each message is handled in a separate goroutine.
type Skill func(ctx context.Context, in Assignment, t *Turn)

// A Turn is the work on a task that a message started. It ends with a state that ends the task or waits for the client;
// calls after that are ignored.
type Turn struct {
	job   *engine.Job
	ended bool
	names map[string]bool // of the artifacts
}

// States are the states to which a skill may move its task.
func States() []string {
	var list []string
	for _, s := range model.States {
		if s != model.Submitted && s != model.Canceled {
			list = append(list, string(s))
		}
	}
	return list
}

// Status moves the task to one of the [States], with a text unless it is empty. It reports whether the turn continues.
func (t *Turn) Status(state, text string) bool {
	if !t.ended {
		t.job.Status(model.State(state), text)
		t.ended = model.State(state).TerminalOrInterrupted()
	}
	return !t.ended
}

// A Piece is an artifact, or a piece of one.
type Piece struct {
	Name string          // of the artifact; pieces of one name are of one artifact in a turn
	Text string          // its content, or
	Data json.RawMessage // JSON
	More bool            // further pieces will come
}

// Artifact adds an artifact, or a piece of one, to the task. It fails if the data is no JSON.
func (t *Turn) Artifact(p Piece) error {
	if t.ended {
		return nil
	}
	parts := model.Text(p.Text)
	if p.Data != nil {
		v, err := jsonvalue.Parse(p.Data)
		if err != nil {
			return fmt.Errorf("data of the artifact %q: %w", p.Name, err)
		}
		parts = []model.Part{{Kind: model.DataPart, Data: v}}
	}
	_, _, turn := t.job.About()
	t.job.Chunk(model.ArtifactUpdate{
		Artifact: model.Artifact{ID: fmt.Sprintf("%s-%d", p.Name, turn), Name: p.Name, Parts: parts},
		Append:   t.names[p.Name], Last: !p.More,
	})
	t.names[p.Name] = true
	return nil
}

// withSkills assigns the options' implementations to the skills of the given card. It fails if the card does not have
// them.
func (s *service) withSkills() error {
	for id, does := range s.opts.Skills {
		found := false
		for i := 0; s.given != nil && i < len(s.given.Skills); i++ {
			if known := s.given.Skills[i]; known.Does.Name == id {
				known.Does, found = &engine.Skill{Name: id, Run: does.run(id)}, true
			}
		}
		if !found {
			return fmt.Errorf("no skill %q in the card; it has %s", id, strings.Join(s.skillIDs(), ", "))
		}
	}
	return nil
}

// skillIDs returns the ids of the given card's skills.
func (s *service) skillIDs() []string {
	var ids []string
	for i := 0; s.given != nil && i < len(s.given.Skills); i++ {
		ids = append(ids, s.given.Skills[i].Does.Name)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (does Skill) run(id string) func(*engine.Job) {
	return func(j *engine.Job) {
		t := &Turn{job: j, names: map[string]bool{}}
		in := Assignment{Text: j.Input, Traceparent: j.Traceparent, Skill: id}
		in.TaskID, in.ContextID, in.Turn = j.About()
		does(j.Ctx, in, t)
		if j.Ctx.Err() == nil {
			t.Status(string(model.Completed), "")
		}
	}
}
