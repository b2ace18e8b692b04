package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Scripted are for agents that follow a script named in the id of a message, as conformance kits use it:
// tck-NAME-SUFFIX. They send nothing to other agents.
var Scripted = []*probe.Scenario{
	scriptedTask("reject-task", "a task is rejected, not failed", client.Rejected, nil),
	scriptedTask("task-failure", "a task fails", client.Failed, nil, "acts:CORE-FAIL-001"),
	scriptedTask("input-required", "a task waits for input", client.InputRequired, nil, "acts:CORE-MULTI-001"),
	scriptedTask("artifact-text", "an artifact contains a text", client.Completed,
		func(p client.Part) bool { return strings.TrimSpace(p.Text) != "" },
		"DM-ART-001", "DM-PART-001", "acts:DM-ART-001"),
	scriptedTask("artifact-file", "an artifact contains the bytes of a file, its name and its type", client.Completed,
		func(p client.Part) bool {
			return bytes.Equal(p.Bytes, []byte("file content")) && p.Filename == "output.txt" && p.MediaType == "text/plain"
		}, "DM-ART-001", "DM-PART-001", "acts:DM-ART-003"),
	scriptedTask("artifact-file-url", "an artifact refers to a file, with its name and its type", client.Completed,
		func(p client.Part) bool {
			return strings.HasPrefix(p.URL, "https://") && p.Filename == "output.txt" && p.MediaType == "text/plain"
		}, "DM-ART-001", "DM-PART-001", "acts:DM-ART-004"),
	scriptedTask("artifact-data", "an artifact contains data", client.Completed, func(p client.Part) bool {
		var got any
		return json.Unmarshal(p.Data, &got) == nil &&
			reflect.DeepEqual(got, map[string]any{"key": "value", "count": 42.0})
	}, "DM-ART-001", "DM-PART-001", "acts:DM-ART-002"),
	{
		ID: "act-scripted-message-response", Title: "a message is answered with a message",
		Category: analysis.Lifecycle, Level: analysis.Must, Protocols: scenario.V10,
		Sections: []string{"1.0 §3.1.1", "1.0 §4.1.4"},
		Tags:     []string{"scripted", "DM-MSG-001", "DM-MSG-002", "acts:CORE-SEND-003"},
		Fix:      "Answer with a message of role ROLE_AGENT that has an id and parts.",
		Run: func(ctx context.Context, s *probe.Session) error {
			r, err := scenario.Script(ctx, s, "message-response")
			if err != nil {
				return err
			}
			if r.Message == nil {
				return probe.Unclear("the agent answered with a task")
			}
			if m := r.Message; m.ID == "" || m.Role != client.Agent || len(m.Parts) == 0 {
				return probe.Fail("a message with an id, the role of the agent, and parts", "%s", m.Raw)
			}
			return nil
		},
	},
	{
		ID: "act-scripted-chunks", Title: "an artifact that is sent in chunks is assembled from them",
		Category: analysis.Streaming, Level: analysis.Must, Protocols: scenario.V10,
		Needs:    []probe.Capability{probe.Streaming},
		Sections: []string{"1.0 §4.2.2"}, Tags: []string{
			"scripted", "stream", "acts:STREAM-SSE-002",
			"acts:STREAM-SSE-003",
		},
		Fix: "Send the first chunk with append false, and the others with append true.",
		Run: askChunks,
	},
}

// scriptedTask makes a scenario of a script that creates a task. The task must reach a state, with an artifact that
// has such a part.
func scriptedTask(name, title string, state client.State, part func(client.Part) bool, tags ...string) *probe.Scenario {
	s := &probe.Scenario{
		ID: "act-scripted-" + name, Title: title, Category: analysis.Lifecycle, Level: analysis.Must,
		Protocols: scenario.V10,
		Sections:  []string{"1.0 §3.1.1", "1.0 §4.1.3"}, Tags: append([]string{"scripted"}, tags...),
		Fix: "Set the task to the state " + string(state) + ".",
	}
	if part != nil {
		s.Sections = []string{"1.0 §4.1.6", "1.0 §4.1.7"}
		s.Fix = "Write parts with exactly one of text, raw, url and data, and with the members that describe it."
	}
	s.Run = func(ctx context.Context, s *probe.Session) error {
		task, err := scenario.Scripted(ctx, s, name)
		if err != nil {
			return err
		}
		if task.Status.State != state {
			return probe.Fail("a task that is "+string(state), "task %s is %s", task.ID, task.Status.State)
		}
		if part == nil {
			return nil
		}
		for _, a := range task.Artifacts {
			for _, p := range a.Parts {
				if a.ID != "" && part(p) {
					return nil
				}
			}
		}
		return probe.Fail("an artifact with an id, and with such a part", "%s", scenario.Brief(s.Last()))
	}
	return s
}

func askChunks(ctx context.Context, s *probe.Session) error {
	m, err := scenario.ScriptMessage(s, "stream-artifact-chunked")
	if err != nil {
		return err
	}
	events, err := s.Collect(s.Client.Stream(ctx, m, client.SendOptions{}))
	if err != nil {
		return err
	}
	text := map[string]string{}
	chunks, id := 0, ""
	for _, e := range events {
		if e.Task != nil {
			id = e.Task.ID
		}
		if e.Artifact == nil {
			continue
		}
		chunks++
		a := e.Artifact.Artifact
		if before, known := text[a.ID]; e.Artifact.Append != known {
			return probe.Fail("append true for all chunks except the first", "append %v after %q", e.Artifact.Append, before)
		}
		text[a.ID] += a.Text()
	}
	if chunks < 2 {
		return probe.Unclear("%d chunks arrived, and this scenario needs several", chunks)
	}
	task, err := s.Client.Get(ctx, id, nil)
	if scenario.Gone(err) {
		return probe.Unclear("task %s was not kept", id)
	}
	if err != nil {
		return err
	}
	for _, a := range task.Artifacts {
		if got := strings.ReplaceAll(a.Text(), "\n", ""); got != text[a.ID] {
			return probe.Fail("the artifact that was streamed: "+text[a.ID], "%q", got)
		}
	}
	return nil
}
