package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// Scripted behavior, chosen by the prefix tck-NAME of a message's id or text, as conformance kits request it.
//
// The text prefixes are for kits that cannot choose message ids; both name the same scenarios.
var Scripts = map[string]*Skill{
	"message-response": {Answer: func(string) string { return "Direct message response" }},
	"complete-task":    {Run: func(j *Job) { j.Status(model.Working, ""); j.Status(model.Completed, "Hello from TCK") }},
	"artifact-text":    {Run: produce(model.Text("Generated text content"))},
	"artifact-file": {
		Run: produce([]model.Part{{
			Kind: model.RawPart, Raw: []byte("file content"), MediaType: "text/plain",
			Filename: "output.txt",
		}}),
	},
	"artifact-file-url": {
		Run: produce(
			[]model.Part{{
				Kind: model.URLPart, URL: "https://example.com/output.txt", MediaType: "text/plain",
				Filename: "output.txt",
			}},
		),
	},
	"artifact-data":  {Run: produce(data(jsonvalue.Object{{"key", "value"}, {"count", number(42)}}))},
	"input-required": {Run: interrupt(model.InputRequired, "Please send more input")},
	"auth-required":  {Run: interrupt(model.AuthRequired, "Please authenticate out of band and send another message")},
	"reject-task":    {Run: func(j *Job) { j.Status(model.Rejected, "rejected") }},

	"stream-001":           {Run: produce(model.Text("Stream output"))},
	"stream-002":           {Run: produce(model.Text("Stream output"))},
	"stream-003":           {Run: produce(model.Text("Stream output"))},
	"stream-basic":         {Run: produce(model.Text("Stream output"))},
	"stream-ordering-001":  {Run: produce(model.Text("Ordered output"))},
	"stream-artifact-text": {Run: produceAtOnce(model.Text("Streamed text content"))},
	"stream-artifact-file": {
		Run: produceAtOnce(
			[]model.Part{{Kind: model.RawPart, Raw: []byte("file content"), MediaType: "text/plain", Filename: "output.txt"}},
		),
	},
	"stream-artifact-chunked": {Run: produceChunks},
	"stream-chunked":          {Run: produceChunks},

	"task-failure": {Run: taskFailure},
	"cancel":       {Run: taskCancel},
	"multi-turn":   {Run: multiTurn},
	"long-running": {Run: longRunning},
}

// scriptNames has the names, longest first, so that artifact-file-url is not mistaken for artifact-file.
var scriptNames = slices.SortedFunc(maps.Keys(Scripts), func(a, b string) int {
	return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
})

// script returns the scripted skill that a message id or else a text asks for, or nil.
func script(messageID, text string) *Skill {
	for _, word := range []string{messageID, strings.TrimSpace(text)} {
		rest, ok := strings.CutPrefix(word, "tck-")
		if !ok {
			continue
		}
		for _, name := range scriptNames {
			after, ok := strings.CutPrefix(rest, name)
			if ok && (after == "" || after[0] == '-' || after[0] == ' ') {
				s := *Scripts[name]
				s.Name = "tck-" + name
				return &s
			}
		}
	}
	return nil
}

// produce works, delivers one artifact and completes.
func produce(parts []model.Part) func(*Job) {
	return func(j *Job) {
		j.Status(model.Working, "")
		produceAtOnce(parts)(j)
	}
}

// produceAtOnce delivers one artifact and completes, without a word about working.
func produceAtOnce(parts []model.Part) func(*Job) {
	return func(j *Job) {
		j.Artifact(model.Artifact{ID: j.Engine.NewID(), Name: "output", Parts: parts})
		j.Status(model.Completed, "")
	}
}

func produceChunks(j *Job) {
	id := j.Engine.NewID()
	j.Chunk(model.ArtifactUpdate{Artifact: model.Artifact{ID: id, Name: "output", Parts: model.Text("chunk-1 ")}})
	j.Chunk(model.ArtifactUpdate{
		Artifact: model.Artifact{ID: id, Name: "output", Parts: model.Text("chunk-2")},
		Append:   true, Last: true,
	})
	j.Status(model.Completed, "")
}

// interrupt waits for the client once and completes with its next message.
func interrupt(s model.State, words string) func(*Job) {
	return func(j *Job) {
		if j.turn == 1 {
			j.Status(s, words)
			return
		}
		j.Status(model.Completed, "")
	}
}
