package refagent_test

import (
	"errors"
	"iter"
	"regexp"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// skillTests list the results of each skill, regardless of dialect and binding.
var skillTests = []struct {
	name      string
	message   client.Message
	says      string // a regular expression for the message, or that of the final status
	state     client.State
	artifacts []string // "name: text" each
	events    string
}{
	{
		name: "message-only", message: client.Text("message-only hello world"),
		says: `^\[message-only\] You said: message-only hello world$`, events: "message",
	},
	{name: "help", message: client.Text("what can you do?"), says: "message-only.*", events: "message"},
	{
		name: "task-lifecycle", message: client.Text(" Task-Lifecycle process this data"), state: client.Completed,
		artifacts: []string{"result: [task-lifecycle] Processed:  Task-Lifecycle process this data"},
		events:    "task:submitted working artifact:result! completed",
	},
	{
		name: "task-failure", message: client.Text("task-failure trigger error"), state: client.Failed,
		says:   `^\[task-failure\] Simulated failure: this task was designed to fail for testing purposes\.$`,
		events: "task:submitted working failed",
	},
	{
		name: "task-cancel left alone", message: client.Text("task-cancel start"), state: client.Completed,
		says:   `^\[task-cancel\] No cancel received within timeout\. Completed normally\.$`,
		events: "task:submitted working completed",
	},
	{
		name: "multi-turn", message: client.Text("multi-turn start conversation"), state: client.InputRequired,
		says:      `^\[multi-turn\] Please send a follow-up message to continue\. Say 'done' to complete\.$`,
		artifacts: []string{"turn-1: [multi-turn] Received initial message: multi-turn start conversation"},
		events:    "task:submitted artifact:turn-1! input-required",
	},
	{
		name: "streaming", message: client.Text("streaming generate output"), state: client.Completed,
		says: `^\[streaming\] Stream complete\. 4 chunks delivered\.$`,
		artifacts: []string{strings.Join([]string{
			"Streamed Result: [streaming] Chunk 1: Processing your request...",
			"[streaming] Chunk 2: Analyzing input data...",
			"[streaming] Chunk 3: Generating results...",
			"[streaming] Chunk 4: Finalizing output...",
		}, "\n")},
		events: "task:submitted working artifact:Streamed Result artifact:Streamed Result+ " +
			"artifact:Streamed Result+ artifact:Streamed Result+! completed",
	},
	{
		name: "long-running", message: client.Text("long-running start process"), state: client.Completed,
		says: `^\[long-running\] All 5 steps complete\.$`,
		artifacts: []string{
			"step-1: [long-running] Step 1 result: completed at 2026-03-01T10:00:00Z",
			"step-2: [long-running] Step 2 result: completed at 2026-03-01T10:00:00Z",
			"step-3: [long-running] Step 3 result: completed at 2026-03-01T10:00:00Z",
			"step-4: [long-running] Step 4 result: completed at 2026-03-01T10:00:00Z",
			"step-5: [long-running] Step 5 result: completed at 2026-03-01T10:00:00Z",
		},
		events: "task:submitted working artifact:step-1! working artifact:step-2! working artifact:step-3! " +
			"working artifact:step-4! working artifact:step-5! completed",
	},
	{
		name: "data-types", message: client.Text("data-types show all"), state: client.Completed,
		says: "^\\[data-types\\] Generated 4 artifacts with different content types: text, JSON data, file \\(SVG\\), and multi-part\\.$",
		artifacts: []string{
			"text-artifact: [data-types] This is a plain text artifact.",
			`data-artifact: {"type":"test-result","timestamp":"2026-03-01T10:00:00.000Z","input":"data-types show all",` +
				`"metrics":{"latencyMs":42,"tokensProcessed":7}}`,
			"file-artifact: image/svg+xml test.svg <svg",
			`multi-part-artifact: [data-types] This artifact has multiple parts.{"multiPart":true,"partCount":2}`,
		},
		events: "task:submitted working artifact:text-artifact! artifact:data-artifact! artifact:file-artifact! " +
			"artifact:multi-part-artifact! completed",
	},
	{name: "tck message", message: scripted("message-response"), says: "^Direct message response$", events: "message"},
	{
		name: "tck complete", message: scripted("complete-task"), state: client.Completed, says: "^Hello from TCK$",
		events: "task:submitted working completed",
	},
	{
		name: "tck text", message: scripted("artifact-text"), state: client.Completed,
		artifacts: []string{"output: Generated text content"},
		events:    "task:submitted working artifact:output! completed",
	},
	{
		name: "tck file", message: scripted("artifact-file"), state: client.Completed,
		artifacts: []string{"output: text/plain output.txt file content"},
		events:    "task:submitted working artifact:output! completed",
	},
	{
		name: "tck file url", message: scripted("artifact-file-url"), state: client.Completed,
		artifacts: []string{"output: text/plain output.txt https://example.com/output.txt"},
		events:    "task:submitted working artifact:output! completed",
	},
	{
		name: "tck data", message: scripted("artifact-data"), state: client.Completed,
		artifacts: []string{`output: {"key":"value","count":42}`},
		events:    "task:submitted working artifact:output! completed",
	},
	{
		name: "tck input", message: scripted("input-required"), state: client.InputRequired,
		says: "^Please send more input$", events: "task:submitted input-required",
	},
	{
		name: "tck auth", message: client.Text("tck-auth-required now"), state: client.AuthRequired,
		says: "authenticate", events: "task:submitted auth-required",
	},
	{
		name: "tck reject", message: scripted("reject-task"), state: client.Rejected, says: "^rejected$",
		events: "task:submitted rejected",
	},
	{
		name: "tck ordering", message: scripted("stream-ordering-001"), state: client.Completed,
		artifacts: []string{"output: Ordered output"}, events: "task:submitted working artifact:output! completed",
	},
	{
		name: "tck stream text", message: scripted("stream-artifact-text"), state: client.Completed,
		artifacts: []string{"output: Streamed text content"}, events: "task:submitted artifact:output! completed",
	},
	{
		name: "tck chunked", message: scripted("stream-artifact-chunked"), state: client.Completed,
		artifacts: []string{"output: chunk-1 \nchunk-2"},
		events:    "task:submitted artifact:output artifact:output+! completed",
	},
}

// scripted returns a message that selects a script by its id.
func scripted(scenario string) client.Message {
	m := client.Text("Hello from TCK")
	m.ID = "tck-" + scenario + "-0a1b2c3d"
	return m
}

func TestSkills(t *testing.T) {
	opts := fixed()
	opts.CancelWait = time.Millisecond
	eachLink(t, opts, func(t *testing.T, l link, c *client.Client) {
		for _, tt := range skillTests {
			if l.proto() && strings.Contains(strings.Join(tt.artifacts, " "), "{") ||
				l.proto() && strings.Contains(tt.name, "file") {
				continue // its files have no names, and its data a wrapper: see olderTests
			}
			t.Run(tt.name, func(t *testing.T) {
				r := must.Get(c.Send(t.Context(), tt.message, client.SendOptions{}))(t)
				if tt.state == "" {
					checkReply(t, r, tt.says)
				} else {
					checkTask(t, r.Task, tt.state, tt.says, tt.artifacts)
				}
				events, last := collect(t, c.Stream(t.Context(), tt.message, client.SendOptions{}))
				expect.Same(t, "events", tt.events, events)
				expect.Equal(t, "stream ends with state", tt.state, last.State())
			})
		}
	})
}

func checkReply(t *testing.T, r *client.Result, says string) {
	t.Helper()
	if r.Message == nil || r.Task != nil {
		t.Fatalf("got %s, want a message", r.Raw)
	}
	if m := r.Message; m.Role != client.Agent || m.ID == "" || m.ContextID == "" || m.TaskID != "" {
		t.Errorf("got %s, want an agent's message with an id, a context and no task", m.Raw)
	}
	if !regexp.MustCompile("(?s)" + says).MatchString(r.Message.Text()) {
		t.Errorf("message says %q, want %s", r.Message.Text(), says)
	}
}

func checkTask(t *testing.T, task *client.Task, state client.State, says string, artifacts []string) {
	t.Helper()
	if task == nil {
		t.Fatal("got a message, want a task")
	}
	expect.Equal(t, "state", state, task.Status.State)
	if task.ContextID == "" || len(task.History) == 0 || task.History[0].Role != client.User {
		t.Errorf("got %s, want a context and a history that begins with the user's message", task.Raw)
	}
	switch m := task.Status.Message; {
	case says == "" && m != nil:
		t.Errorf("status says %q, want no message", m.Text())
	case says != "" && m == nil:
		t.Errorf("status says nothing, want %s", says)
	case says != "" && (!regexp.MustCompile(says).MatchString(m.Text()) || m.Role != client.Agent || m.TaskID != task.ID):
		t.Errorf("status has %s, want %s from the agent about the task", m.Raw, says)
	}
	var got []string
	for _, a := range task.Artifacts {
		got = append(got, a.Name+": "+summary(a))
	}
	expect.Same(t, "artifacts", artifacts, got)
}

func summary(a client.Artifact) string {
	var b strings.Builder
	for i, p := range a.Parts {
		if p.Filename != "" {
			b.WriteString(p.MediaType + " " + p.Filename + " " + p.URL)
		}
		if i > 0 && p.Text != "" {
			b.WriteString("\n")
		}
		content := p.Text + string(p.Data) + string(p.Bytes)
		if strings.HasPrefix(content, "<svg") {
			content = content[:4]
		}
		b.WriteString(content)
	}
	return b.String()
}

// collect reads a stream to its end and describes its events.
func collect(t *testing.T, stream iter.Seq2[client.Event, error]) (line string, last client.Event) {
	t.Helper()
	var words []string
	for e, err := range stream {
		if err != nil {
			t.Fatalf("after %v: %v", words, err)
		}
		words, last = append(words, describe(e)), e
	}
	return strings.Join(words, " "), last
}

func TestEcho(t *testing.T) {
	url := serve(t, "echo", refagent.Options{})
	for _, p := range []client.Protocol{client.JSONRPC10, client.REST10} {
		t.Run(p.String(), func(t *testing.T) {
			c := agenttest.Connect(t, url+"/echo", p, client.Options{})
			m := client.Text("hello")
			m.Parts = append(m.Parts, client.Part{Text: "world"})
			m.ContextID = "mine"
			r, err := c.Send(t.Context(), m, client.SendOptions{})
			must.Do(t, err)
			checkReply(t, r, "^Echo: hello\nworld$")
			expect.Equal(t, "context", "mine", r.Message.ContextID)
			r, err = c.Send(t.Context(), client.Message{Parts: []client.Part{{Data: []byte("1")}}}, client.SendOptions{})
			must.Do(t, err)
			checkReply(t, r, `^Echo: \(empty message\)$`)
			for _, err := range c.Stream(t.Context(), m, client.SendOptions{}) {
				checkRefusal(t, err, -32004)
			}
		})
	}
}

// checkRefusal wants an agent's error with that code.
func checkRefusal(t *testing.T, err error, code int) {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) || e.Code != code || e.Message == "" {
		t.Errorf("got %v, want a refusal with code %d", err, code)
	}
}
