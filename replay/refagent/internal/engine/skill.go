package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// EchoSkill repeats its input.
var EchoSkill = &Skill{Name: "echo", Answer: func(input string) string {
	if input == "" {
		return "Echo: (empty message)"
	}
	return "Echo: " + input
}}

// Skills are the spec agents' skills, in the order in which a text is compared with their names.
var Skills = []*Skill{
	{Name: "message-only", Answer: func(input string) string { return "[message-only] You said: " + input }},
	{Name: "task-lifecycle", Run: TaskLifecycle},
	{Name: "task-failure", Run: taskFailure},
	{Name: "task-cancel", Run: taskCancel},
	{Name: "multi-turn", Run: multiTurn},
	{Name: "streaming", Run: streaming},
	{Name: "long-running", Run: longRunning},
	{Name: "data-types", Run: dataTypes},
}

// HelpSkill answers messages that no other skill understands.
var HelpSkill = &Skill{Name: "help", Answer: func(string) string {
	return `Begin a message with one of these words:
message-only: answers with a message and no task
task-lifecycle: a task that is submitted, worked on and completed with an artifact
task-failure: a task that fails
task-cancel: a task that waits to be canceled
multi-turn: a task that asks for more input until you say done
streaming: a task that delivers its artifact in four chunks
long-running: a task of five slow steps
data-types: a task with text, data and file artifacts`
}}

// Route returns the skill that a message of a new conversation selects.
func Route(m *model.Message) *Skill {
	if s := script(m.ID, m.Text()); s != nil {
		return s
	}
	return keyword(m.Text())
}

// keyword returns the skill whose name begins the text.
func keyword(input string) *Skill {
	input = strings.ToLower(strings.TrimSpace(input))
	for _, s := range Skills {
		if strings.HasPrefix(input, s.Name) {
			return s
		}
	}
	return HelpSkill
}

// TaskLifecycle moves a task from submitted to completed, with an artifact.
func TaskLifecycle(j *Job) {
	j.Status(model.Working, "")
	j.Artifact(model.Artifact{
		ID: j.Engine.NewID(), Name: "result", Description: "The processed result",
		Parts: model.Text(j.tag("Processed: " + j.Input)),
	})
	j.Status(model.Completed, "")
}

func taskFailure(j *Job) {
	j.Status(model.Working, "")
	j.say(model.Failed, "Simulated failure: this task was designed to fail for testing purposes.")
}

func taskCancel(j *Job) {
	j.say(model.Working, "Working... send a cancel request to this task.")
	if j.pause(j.Engine.cancelWait) {
		j.say(model.Completed, "No cancel received within timeout. Completed normally.")
	}
}

// multiTurn asks for more until the client says done. The first turn begins submitted, later ones working.
func multiTurn(j *Job) {
	switch {
	case j.turn == 1:
		j.Artifact(turnArtifact("turn-1", j.tag("Received initial message: "+j.Input)))
		j.say(model.InputRequired, "Please send a follow-up message to continue. Say 'done' to complete.")
	case hasWord(j.Input, "done"):
		j.Artifact(turnArtifact("final", j.tag("Final message received: "+j.Input)))
		j.say(model.Completed, "Conversation complete. All turns processed successfully.")
	default:
		j.Artifact(turnArtifact(fmt.Sprintf("turn-%d", j.turn), j.tag("Continuation received: "+j.Input)))
		j.say(model.InputRequired, "Got it. Send another message, or say 'done' to complete.")
	}
}

func turnArtifact(name, words string) model.Artifact {
	return model.Artifact{ID: name, Name: name, Parts: model.Text(words)}
}

// hasWord reports whether a text has a complete word: "abandoned" does not have "done".
func hasWord(text, word string) bool {
	letter := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for w := range strings.FieldsFuncSeq(text, letter) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

func streaming(j *Job) {
	j.say(model.Working, "Starting streamed response...")
	chunks := []string{
		"Processing your request...", "Analyzing input data...", "Generating results...",
		"Finalizing output...",
	}
	for i, c := range chunks {
		if i > 0 && !j.pause(j.Engine.step) {
			return
		}
		j.Chunk(model.ArtifactUpdate{
			Artifact: model.Artifact{
				ID: "stream-result", Name: "Streamed Result",
				Parts: model.Text(j.tag(fmt.Sprintf("Chunk %d: %s", i+1, c))),
			},
			Append: i > 0, Last: i == len(chunks)-1,
		})
	}
	j.say(model.Completed, "Stream complete. 4 chunks delivered.")
}

func longRunning(j *Job) {
	const steps = 5
	for i := 1; i <= steps; i++ {
		j.say(model.Working, fmt.Sprintf("Step %d/%d: Processing...", i, steps))
		if !j.pause(4 * j.Engine.step) {
			return
		}
		name := fmt.Sprintf("step-%d", i)
		at := j.Engine.now().UTC().Format(time.RFC3339)
		j.Artifact(model.Artifact{
			ID: name, Name: name,
			Parts: model.Text(j.tag(fmt.Sprintf("Step %d result: completed at %s", i, at))),
		})
	}
	j.say(model.Completed, fmt.Sprintf("All %d steps complete.", steps))
}

const testSVG = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><circle cx="8" cy="8" r="7"/></svg>`

func dataTypes(j *Job) {
	j.Status(model.Working, "")
	j.Artifact(model.Artifact{
		ID: "text-artifact", Name: "text-artifact",
		Parts: model.Text(j.tag("This is a plain text artifact.")),
	})
	j.Artifact(model.Artifact{ID: "data-artifact", Name: "data-artifact", Parts: data(jsonvalue.Object{
		{"type", "test-result"},
		{"timestamp", model.Timestamp(j.Engine.now())},
		{"input", j.Input},
		{"metrics", jsonvalue.Object{{"latencyMs", number(42)}, {"tokensProcessed", number(7)}}},
	})})
	j.Artifact(model.Artifact{ID: "file-artifact", Name: "file-artifact", Parts: []model.Part{
		{Kind: model.RawPart, Raw: []byte(testSVG), MediaType: "image/svg+xml", Filename: "test.svg"},
	}})
	j.Artifact(model.Artifact{
		ID: "multi-part-artifact", Name: "multi-part-artifact",
		Parts: append(model.Text(j.tag("This artifact has multiple parts.")),
			data(jsonvalue.Object{{"multiPart", true}, {"partCount", number(2)}})...),
	})
	j.say(model.Completed,
		"Generated 4 artifacts with different content types: text, JSON data, file (SVG), and multi-part.")
}

func data(v any) []model.Part { return []model.Part{{Kind: model.DataPart, Data: v}} }

func number(n int) json.Number { return json.Number(fmt.Sprint(n)) }

// LegacyRoute returns the skill that the first word of a message selects. Messages without a skill fail.
func LegacyRoute(m *model.Message) *Skill {
	s := keyword(m.Text())
	if s == HelpSkill {
		return Unmatched(s)
	}
	return InTask(s)
}

// Unmatched returns the fallback if no skill matches.
func Unmatched(s *Skill) *Skill {
	return &Skill{Name: s.Name, Run: func(j *Job) { j.Status(model.Failed, "No matching skill for this request.") }}
}

// TaskRoute01 is route for clients that understand tasks only: the answers of other skills end a task instead of being
// a message.
func TaskRoute01(m *model.Message) *Skill { return InTask(Route(m)) }

// InTask returns a skill that answers with a task where s answers with a message.
func InTask(s *Skill) *Skill {
	if s.Answer == nil {
		return s
	}
	return &Skill{Name: s.Name, Run: func(j *Job) { j.Status(model.Completed, s.Answer(j.Input)) }}
}
