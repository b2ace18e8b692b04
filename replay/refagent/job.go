package refagent

import (
	"context"
	"mime"
	"slices"
	"strings"
	"time"
)

// A job is the work of one turn. A skill drives it; when the task has ended meanwhile, its calls do nothing.
type job struct {
	ctx     context.Context // ends when the task is canceled or the agent closed
	engine  *engine
	record  *record
	skill   *skill
	input   string
	turn    int // 1 for the message that made the task
	accepts []string

	traceparent string // that came with the message, if any did
}

// status moves the task to a state; an empty words leaves the status without a message.
func (j *job) status(s state, words string) {
	var parts []part
	if words != "" {
		parts = text(words)
	}
	j.engine.update(j.record, s, parts)
}

// say is status with the skill's name in brackets before the text, as all skills speak.
func (j *job) say(s state, words string) { j.status(s, j.tag(words)) }

func (j *job) tag(words string) string { return "[" + j.skill.name + "] " + words }

// artifact adds a complete artifact.
func (j *job) artifact(a artifact) { j.chunk(artifactUpdate{artifact: a, last: true}) }

// chunk adds a piece of an artifact. Parts of a media type that the client does not accept are left out, and the
// piece with them if nothing remains (A2A 1.0 §3.2.2, acceptedOutputModes).
func (j *job) chunk(u artifactUpdate) {
	u.artifact.parts = slices.DeleteFunc(slices.Clone(u.artifact.parts), func(p part) bool {
		return p.mediaType != "" && !accepted(j.accepts, p.mediaType)
	})
	if len(u.artifact.parts) > 0 {
		j.engine.publish(j.record, u)
	}
}

// pause waits and says whether there is still work to do.
func (j *job) pause(d time.Duration) bool { return wait(j.ctx, d) }

// accepted says whether one of the media ranges covers a media type. No ranges accept everything.
func accepted(ranges []string, mediaType string) bool {
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

// wait returns after a time, or reports false when the context ends before.
func wait(ctx context.Context, d time.Duration) bool {
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
