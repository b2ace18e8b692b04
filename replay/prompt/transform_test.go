package prompt

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
)

const streamed = `/message:stream
	{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"metadata":{"n":12345678901234567890}}}
	{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"1","parts":[{"text":"a"},{"data":{"k":"<v>"}}]}}}
	{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`

func TestTransform(t *testing.T) {
	o := polls
	o.Mode = Stream
	a := must.Get(Ask(t.Context(), agent(t, fmt.Sprintf(card, true)+streamed), client.Text("x"), o))(t)
	for program, want := range map[string]string{
		`$text + "!"`:      "a!",
		`.task.id`:         "t",
		`.message`:         "null",
		`.events | length`: "3",
		`.raw | length`:    "3",
		`$result == . and $context.task == .task`: "true",
		`$context.mode`:    "stream",
		`.task.metadata.n`: "12345678901234567890",
		`.task.artifacts[0].parts[]|.data.k // .text`: "a\n<v>",
		`{a: "<&>"}`: `{"a":"<&>"}`,
		`[1, null]`:  "[1,null]",
		`{output: 5, guardrails: {flagged: true}}`: "5",
		`{output: {a: 1}}`:                         `{"a":1}`,
		`env | length`:                             "0",
		`"b", halt, "c"`:                           "b",
	} {
		transform, err := NewTransform(program)
		if err != nil {
			t.Errorf("%s: %v", program, err)
			continue
		}
		r, err := transform.Apply(t.Context(), a)
		if err != nil {
			t.Errorf("%s: %v", program, err)
		}
		expect.Equal(t, program, want, r.Text())
	}
}

func TestTransformGivesAResponse(t *testing.T) {
	a := &Answer{Mode: Send, Raw: json.RawMessage(`{"message":{}}`)}
	for program, want := range map[string]string{
		`{output: "x", guardrails: {flagged: true}, sessionId: "s", metadata: {m: 1, a2a: 2}, raw: [3]}`: `{"guardrails":{"flagged":true},` +
			`"metadata":{"a2a":{"events":[],"mode":"send"},"m":1},"output":"x","raw":[3],"sessionId":"s"}`,
		`{error: "no <good>"}`: `{"error":"no <good>","metadata":{"a2a":{"events":[],"mode":"send"}},"output":null,"raw":{"message":{}}}`,
		`$text`:                `{"metadata":{"a2a":{"events":[],"mode":"send"}},"output":"{\"message\":{}}","raw":{"message":{}}}`,
	} {
		transform := must.Get(NewTransform(program))(t)
		r := must.Get(transform.Apply(t.Context(), a))(t)
		expect.Same(t, program, want, string(must.Get(r.MarshalJSON())(t)))
	}
}

func TestTransformFails(t *testing.T) {
	for program, want := range map[string]string{
		`.[`: "parse the program", `$nobody`: "compile the program", `import "x" as x; .`: "compile the program",
		`input`: "compile the program",
	} {
		expect.ErrorHas(t, program, want, expect.Err(NewTransform(program)))
	}
	a := &Answer{Mode: Send, Raw: json.RawMessage(`{}`)}
	for program, want := range map[string]string{
		`empty`: "it has no output", `error("no")`: "run the program: error: no", `.task.id.x | keys`: "run the program",
		`{} | halt_error`: "run the program",
	} {
		expect.ErrorHas(t, program, want, expect.Err(must.Get(NewTransform(program))(t).Apply(t.Context(), a)))
	}
	endless := must.Get(NewTransform(`[repeat(1)]`))(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	expect.ErrorIs(t, "", context.DeadlineExceeded, expect.Err(endless.Apply(ctx, a)))
}
