package engine

import (
	"context"
	"mime"
	"slices"
	"strings"
	"time"

	"a2atap/replay/refagent/internal/model"
)

// A Job is the work of one turn. A skill drives it; when the task has ended meanwhile, its calls do nothing.
type Job struct {
	Ctx     context.Context // ends when the task is canceled or the agent closed
	Engine  *Engine
	record  *record
	skill   *Skill
	Input   string
	turn    int // 1 for the message that made the task
	accepts []string

	Traceparent string // that came with the message, if any did
}

// About returns the job's task, and the number of the message within it: 1 for the message that created the task.
func (j *Job) About() (taskID, contextID string, turn int) {
	return j.record.Task.ID, j.record.Task.ContextID, j.turn // which never change
}

// Status moves the task to a state; an empty words leaves the status without a message.
func (j *Job) Status(s model.State, words string) {
	var parts []model.Part
	if words != "" {
		parts = model.Text(words)
	}
	j.Engine.update(j.record, s, parts)
}

// say is status with the skill's name in brackets before the text, as all skills speak.
func (j *Job) say(s model.State, words string) { j.Status(s, j.tag(words)) }

func (j *Job) tag(words string) string { return "[" + j.skill.Name + "] " + words }

// Artifact adds a complete artifact.
func (j *Job) Artifact(a model.Artifact) { j.Chunk(model.ArtifactUpdate{Artifact: a, Last: true}) }

// Chunk adds a piece of an artifact. Parts of a media type that the client does not accept are left out, and the
// piece with them if nothing remains (A2A 1.0 §3.2.2, acceptedOutputModes).
func (j *Job) Chunk(u model.ArtifactUpdate) {
	u.Artifact.Parts = slices.DeleteFunc(slices.Clone(u.Artifact.Parts), func(p model.Part) bool {
		return p.MediaType != "" && !Accepted(j.accepts, p.MediaType)
	})
	if len(u.Artifact.Parts) > 0 {
		j.Engine.publish(j.record, u)
	}
}

// pause waits and says whether there is still work to do.
func (j *Job) pause(d time.Duration) bool { return Wait(j.Ctx, d) }

// Accepted reports whether one of the media ranges covers a media type. No ranges accept everything.
func Accepted(ranges []string, mediaType string) bool {
	if len(ranges) == 0 {
		return true
	}
	full, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		full = strings.ToLower(mediaType)
	}
	major, _, _ := strings.Cut(full, "/")
	return slices.ContainsFunc(ranges, func(r string) bool {
		if essence, _, err := mime.ParseMediaType(r); err == nil {
			r = essence
		}
		return r == "*/*" || r == "*" || r == full || r == major+"/*" || r == major
	})
}

// Wait returns after a time, or reports false when the context ends before.
func Wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
