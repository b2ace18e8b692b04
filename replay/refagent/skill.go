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

// A Skill is what an agent does with a message for a skill of its card. What it does to the task it does through the
// Turn, as long as it runs; where it returns without having ended the task or asked back, the task has completed. The
// context ends when the task is canceled or the agent closed. Messages are worked on by goroutines of their own.
type Skill func(ctx context.Context, in Assignment, t *Turn)

// A Turn is the work on a task that a message has begun. It ends with a state that ends the task or waits for the
// client: what is said after that is not heard.
type Turn struct {
	job   *engine.Job
	ended bool
	names map[string]bool // of the artifacts
}

// States are those that a skill may take its task to.
func States() []string {
	var list []string
	for _, s := range model.States {
		if s != model.Submitted && s != model.Canceled {
			list = append(list, string(s))
		}
	}
	return list
}

// Status takes the task to one of the [States], with a text if it is not empty. It reports whether the turn goes on.
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

// withSkills has the skills of the given card do what the options say. It fails if the card does not have them.
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
