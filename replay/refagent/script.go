package refagent

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Scripted behaviour, chosen by the prefix tck-NAME of a message's id or text, as conformance kits ask for it.
//
// The text prefixes are those of kits that cannot choose message ids; both name the same scenarios.
var scripts = map[string]*skill{
	"message-response": {answer: func(string) string { return "Direct message response" }},
	"complete-task":    {run: func(j *job) { j.status(working, ""); j.status(completed, "Hello from TCK") }},
	"artifact-text":    {run: produce(text("Generated text content"))},
	"artifact-file": {
		run: produce([]part{{kind: rawPart, raw: []byte("file content"), mediaType: "text/plain", filename: "output.txt"}}),
	},
	"artifact-file-url": {
		run: produce(
			[]part{{kind: urlPart, url: "https://example.com/output.txt", mediaType: "text/plain", filename: "output.txt"}},
		),
	},
	"artifact-data":  {run: produce(data(object{{"key", "value"}, {"count", number(42)}}))},
	"input-required": {run: interrupt(inputRequired, "Please send more input")},
	"auth-required":  {run: interrupt(authRequired, "Please authenticate out of band and send another message")},
	"reject-task":    {run: func(j *job) { j.status(rejected, "rejected") }},

	"stream-001":           {run: produce(text("Stream output"))},
	"stream-002":           {run: produce(text("Stream output"))},
	"stream-003":           {run: produce(text("Stream output"))},
	"stream-basic":         {run: produce(text("Stream output"))},
	"stream-ordering-001":  {run: produce(text("Ordered output"))},
	"stream-artifact-text": {run: produceAtOnce(text("Streamed text content"))},
	"stream-artifact-file": {
		run: produceAtOnce(
			[]part{{kind: rawPart, raw: []byte("file content"), mediaType: "text/plain", filename: "output.txt"}},
		),
	},
	"stream-artifact-chunked": {run: produceChunks},
	"stream-chunked":          {run: produceChunks},

	"task-failure": {run: taskFailure},
	"cancel":       {run: taskCancel},
	"multi-turn":   {run: multiTurn},
	"long-running": {run: longRunning},
}

// scriptNames holds the names with the longest first, so that artifact-file-url is not taken for artifact-file.
var scriptNames = slices.SortedFunc(maps.Keys(scripts), func(a, b string) int {
	return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
})

// script returns the scripted skill that a message id or else a text asks for, or nil.
func script(messageID, text string) *skill {
	for _, word := range []string{messageID, strings.TrimSpace(text)} {
		rest, ok := strings.CutPrefix(word, "tck-")
		if !ok {
			continue
		}
		for _, name := range scriptNames {
			after, ok := strings.CutPrefix(rest, name)
			if ok && (after == "" || after[0] == '-' || after[0] == ' ') {
				s := *scripts[name]
				s.name = "tck-" + name
				return &s
			}
		}
	}
	return nil
}

// produce works, delivers one artifact and completes.
func produce(parts []part) func(*job) {
	return func(j *job) {
		j.status(working, "")
		produceAtOnce(parts)(j)
	}
}

// produceAtOnce delivers one artifact and completes, without a word about working.
func produceAtOnce(parts []part) func(*job) {
	return func(j *job) {
		j.artifact(artifact{id: j.engine.newID(), name: "output", parts: parts})
		j.status(completed, "")
	}
}

func produceChunks(j *job) {
	id := j.engine.newID()
	j.chunk(artifactUpdate{artifact: artifact{id: id, name: "output", parts: text("chunk-1 ")}})
	j.chunk(artifactUpdate{artifact: artifact{id: id, name: "output", parts: text("chunk-2")}, append: true, last: true})
	j.status(completed, "")
}

// interrupt waits for the client once and completes with its next message.
func interrupt(s state, words string) func(*job) {
	return func(j *job) {
		if j.turn == 1 {
			j.status(s, words)
			return
		}
		j.status(completed, "")
	}
}
