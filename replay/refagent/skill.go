package refagent

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// A skill is one way to behave. Either answer is set or run.
type skill struct {
	name   string
	answer func(input string) string // replies with a message; no task is made
	run    func(j *job)              // works on a task, once for each turn
}

// echoSkill repeats what it was told.
var echoSkill = &skill{name: "echo", answer: func(input string) string {
	if input == "" {
		return "Echo: (empty message)"
	}
	return "Echo: " + input
}}

// skills are those of the spec agents, in the order in which a text is compared with their names.
var skills = []*skill{
	{name: "message-only", answer: func(input string) string { return "[message-only] You said: " + input }},
	{name: "task-lifecycle", run: taskLifecycle},
	{name: "task-failure", run: taskFailure},
	{name: "task-cancel", run: taskCancel},
	{name: "multi-turn", run: multiTurn},
	{name: "streaming", run: streaming},
	{name: "long-running", run: longRunning},
	{name: "data-types", run: dataTypes},
}

// helpSkill answers what no other skill understands.
var helpSkill = &skill{name: "help", answer: func(string) string {
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

// route returns the skill that a message of a new conversation asks for.
func route(m *message) *skill {
	if s := script(m.id, m.text()); s != nil {
		return s
	}
	return keyword(m.text())
}

// keyword returns the skill whose name begins the text.
func keyword(input string) *skill {
	input = strings.ToLower(strings.TrimSpace(input))
	for _, s := range skills {
		if strings.HasPrefix(input, s.name) {
			return s
		}
	}
	return helpSkill
}

func taskLifecycle(j *job) {
	j.status(working, "")
	j.artifact(artifact{
		id: j.engine.newID(), name: "result", description: "The processed result",
		parts: text(j.tag("Processed: " + j.input)),
	})
	j.status(completed, "")
}

func taskFailure(j *job) {
	j.status(working, "")
	j.say(failed, "Simulated failure: this task was designed to fail for testing purposes.")
}

func taskCancel(j *job) {
	j.say(working, "Working... send a cancel request to this task.")
	if j.pause(j.engine.cancelWait) {
		j.say(completed, "No cancel received within timeout. Completed normally.")
	}
}

// multiTurn asks for more until the client says done. The first turn begins submitted, later ones working.
func multiTurn(j *job) {
	switch {
	case j.turn == 1:
		j.artifact(turnArtifact("turn-1", j.tag("Received initial message: "+j.input)))
		j.say(inputRequired, "Please send a follow-up message to continue. Say 'done' to complete.")
	case hasWord(j.input, "done"):
		j.artifact(turnArtifact("final", j.tag("Final message received: "+j.input)))
		j.say(completed, "Conversation complete. All turns processed successfully.")
	default:
		j.artifact(turnArtifact(fmt.Sprintf("turn-%d", j.turn), j.tag("Continuation received: "+j.input)))
		j.say(inputRequired, "Got it. Send another message, or say 'done' to complete.")
	}
}

func turnArtifact(name, words string) artifact {
	return artifact{id: name, name: name, parts: text(words)}
}

// hasWord says whether a text holds a word as a whole: "abandoned" does not hold "done".
func hasWord(text, word string) bool {
	letter := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for w := range strings.FieldsFuncSeq(text, letter) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

func streaming(j *job) {
	j.say(working, "Starting streamed response...")
	chunks := []string{
		"Processing your request...", "Analyzing input data...", "Generating results...",
		"Finalizing output...",
	}
	for i, c := range chunks {
		if i > 0 && !j.pause(j.engine.step) {
			return
		}
		j.chunk(artifactUpdate{
			artifact: artifact{
				id: "stream-result", name: "Streamed Result",
				parts: text(j.tag(fmt.Sprintf("Chunk %d: %s", i+1, c))),
			},
			append: i > 0, last: i == len(chunks)-1,
		})
	}
	j.say(completed, "Stream complete. 4 chunks delivered.")
}

func longRunning(j *job) {
	const steps = 5
	for i := 1; i <= steps; i++ {
		j.say(working, fmt.Sprintf("Step %d/%d: Processing...", i, steps))
		if !j.pause(4 * j.engine.step) {
			return
		}
		name := fmt.Sprintf("step-%d", i)
		at := j.engine.now().UTC().Format(time.RFC3339)
		j.artifact(artifact{id: name, name: name, parts: text(j.tag(fmt.Sprintf("Step %d result: completed at %s", i, at)))})
	}
	j.say(completed, fmt.Sprintf("All %d steps complete.", steps))
}

const testSVG = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><circle cx="8" cy="8" r="7"/></svg>`

func dataTypes(j *job) {
	j.status(working, "")
	j.artifact(artifact{id: "text-artifact", name: "text-artifact", parts: text(j.tag("This is a plain text artifact."))})
	j.artifact(artifact{id: "data-artifact", name: "data-artifact", parts: data(object{
		{"type", "test-result"},
		{"timestamp", timestamp(j.engine.now())},
		{"input", j.input},
		{"metrics", object{{"latencyMs", number(42)}, {"tokensProcessed", number(7)}}},
	})})
	j.artifact(artifact{id: "file-artifact", name: "file-artifact", parts: []part{
		{kind: rawPart, raw: []byte(testSVG), mediaType: "image/svg+xml", filename: "test.svg"},
	}})
	j.artifact(artifact{
		id: "multi-part-artifact", name: "multi-part-artifact",
		parts: append(text(j.tag("This artifact has multiple parts.")),
			data(object{{"multiPart", true}, {"partCount", number(2)}})...),
	})
	j.say(completed, "Generated 4 artifacts with different content types: text, JSON data, file (SVG), and multi-part.")
}

func data(v any) []part { return []part{{kind: dataPart, data: v}} }

func number(n int) json.Number { return json.Number(fmt.Sprint(n)) }

// legacyRoute is the skill that a message asks for by its first word. What no skill answers to fails.
func legacyRoute(m *message) *skill {
	s := keyword(m.text())
	if s == helpSkill {
		return unmatched(s)
	}
	return inTask(s)
}

// unmatched returns what stands in place of a skill where none fits.
func unmatched(s *skill) *skill {
	return &skill{name: s.name, run: func(j *job) { j.status(failed, "No matching skill for this request.") }}
}

// taskRoute01 is route for clients that understand tasks only: what other skills say in a message ends a task.
func taskRoute01(m *message) *skill { return inTask(route(m)) }

// inTask returns a skill that says in a task what s says in a message.
func inTask(s *skill) *skill {
	if s.answer == nil {
		return s
	}
	return &skill{name: s.name, run: func(j *job) { j.status(completed, s.answer(j.input)) }}
}
