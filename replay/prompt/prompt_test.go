package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An agent is a list of lines. Each line that begins with / answers a request for that path, with the lines up to the
// next such line. After its last answer, a path repeats that answer. The word CUT breaks the connection, HOLD keeps
// it open until the client leaves.
func agent(t *testing.T, script string) *client.Client {
	t.Helper()
	answers := map[string][]string{}
	path := ""
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "/") {
			path = line
			answers[path] = append(answers[path], "")
		} else if line != "" {
			last := len(answers[path]) - 1
			answers[path][last] += line + "\n"
		}
	}
	asked := make(chan map[string]int, 1)
	asked <- map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := <-asked
		said := answers[r.URL.Path]
		i := n[r.URL.Path]
		n[r.URL.Path]++
		asked <- n
		if len(said) == 0 {
			http.NotFound(w, r)
			return
		}
		say(w, r, said[min(i, len(said)-1)])
	}))
	t.Cleanup(s.Close)
	o := client.Options{Prefer: []client.Protocol{client.REST10}, Timeout: 30 * time.Second}
	var c *client.Client
	var err error
	if answers["/.well-known/agent-card.json"] == nil {
		c, err = client.New(client.Interface{URL: s.URL, Protocol: client.REST10}, o)
	} else {
		c, err = client.Connect(t.Context(), s.URL, o)
	}
	must.Do(t, err)
	t.Cleanup(c.Close)
	return c
}

func say(w http.ResponseWriter, r *http.Request, what string) {
	streams := strings.HasSuffix(r.URL.Path, ":stream") || strings.HasSuffix(r.URL.Path, ":subscribe")
	if streams {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for line := range strings.Lines(what) {
		switch line = strings.TrimSpace(line); {
		case line == "CUT":
			panic(http.ErrAbortHandler)
		case line == "HOLD":
			<-r.Context().Done()
		case streams:
			fmt.Fprintf(w, "data: %s\n\n", line)
			http.NewResponseController(w).Flush() // an error means that the client has left
		default:
			fmt.Fprint(w, line)
		}
	}
}

const card = `
/.well-known/agent-card.json
{"name":"x","capabilities":{"streaming":%v},"supportedInterfaces":[{"url":"/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}]}
`

// polls are options that poll without pauses.
var polls = Options{PollTimeout: 30 * time.Second, Patience: 30 * time.Second}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, script, text string
		mode               Mode
		state              client.State
	}{
		{
			"message", "/message:send\n" + `{"message":{"messageId":"m","parts":[{"text":"a"},{"data":{"n":1}},{"text":"b"}]}}`,
			"a\nb", Send, "",
		},
		{
			"empty text and data that is text are texts",
			"/message:send\n" +
				`{"message":{"messageId":"m","parts":[{"text":"a"},{"text":""},{"data":"b"},{"data":null},{"data":[]}]}}`,
			"a\n\nb", Send, "",
		},
		{
			"an artifact of an empty text before status",
			"/message:send\n" +
				`{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED","message":{"parts":[{"text":"done"}]}},
			"artifacts":[{"artifactId":"1","parts":[{"text":""}]}]}}`, "", Send, client.Completed,
		},
		{
			"artifacts before status",
			"/message:send\n" +
				`{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED","message":{"parts":[{"text":"done"}]}},
			"artifacts":[{"artifactId":"1","parts":[{"text":"a"}]},{"artifactId":"2","parts":[{"text":"b"}]}]}}`, "a\nb", Send,
			client.Completed,
		},
		{
			"status before artifacts of a failed task",
			"/message:send\n" + `{"task":{"id":"t","status":{"state":"TASK_STATE_FAILED","message":{"parts":[{"text":"no"}]}},
			"artifacts":[{"artifactId":"1","parts":[{"text":"a"}]}]}}`, "no", Send, client.Failed,
		},
		{
			"history of the agent", "/message:send\n" + `{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"},
			"history":[{"role":"ROLE_USER","parts":[{"text":"q"}]},{"role":"ROLE_AGENT","parts":[{"text":"a"}]}]}}`, "a", Send,
			client.Completed,
		},
		{
			"raw", "/message:send\n" + `{"task":{"id":"t","status":{"state":"TASK_STATE_REJECTED"}}}`,
			`{"task":{"id":"t","status":{"state":"TASK_STATE_REJECTED"}}}`, Send, client.Rejected,
		},
		{
			"polled", `/message:send
			{"task":{"id":"t","status":{"state":"TASK_STATE_SUBMITTED"}}}
			/tasks/t
			{"id":"t","status":{"state":"TASK_STATE_WORKING"}}
			/tasks/t
			{"id":"t","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"parts":[{"text":"where to?"}]}}}
			/tasks/t
			CUT`, "where to?", Send, client.InputRequired,
		},
		{"no card", "/message:send\n" + `{"message":{"messageId":"m","parts":[{"text":"a"}]}}`, "a", Send, ""},
		{
			"card that does not stream", fmt.Sprintf(card, false) + "/message:send\n" +
				`{"message":{"messageId":"m","parts":[{"text":"a"}]}}`, "a", Send, "",
		},
		{
			"card that streams", fmt.Sprintf(card, true) + "/message:stream\n" +
				`{"message":{"messageId":"m","parts":[{"text":"a"}]}}`, "a", Stream, "",
		},
		{
			"chunks", fmt.Sprintf(card, true) + `/message:stream
			{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED"}}}
			{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"1","parts":[{"text":"old"}]}}}
			[DONE]
			{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"1","name":"n","parts":[{"text":"Hel"}]}}}
			{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"2","parts":[{"data":1}]}}}
			{"artifactUpdate":{"taskId":"t","contextId":"c","append":true,"artifact":{"artifactId":"1","parts":[{"text":"lo"},{"text":"you"}]}}}
			{"artifactUpdate":{"taskId":"t","contextId":"c","append":true,"artifact":{"artifactId":"3","parts":[{"text":"late"}]}}}
			{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`,
			"Hello\nyou\nlate", Stream, client.Completed,
		},
		{
			"a snapshot need not repeat artifacts", fmt.Sprintf(card, true) + `/message:stream
			{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"1","parts":[{"text":"a"}]}}}
			{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`,
			"a", Stream, client.Completed,
		},
		{
			"what follows the end does not count", fmt.Sprintf(card, true) + `/message:stream
			{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED","message":{"parts":[{"text":"a"}]}}}}
			{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING","message":{"parts":[{"text":"b"}]}}}}
			CUT`,
			"a", Stream, client.Completed,
		},
		{
			"cut and polled", fmt.Sprintf(card, true) + `/message:stream
			{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}
			CUT
			/tasks/t
			{"id":"t","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"1","parts":[{"text":"a"}]}]}`,
			"a", Stream, client.Completed,
		},
		{
			"closed early and polled", fmt.Sprintf(card, true) + `/message:stream
			{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}
			/tasks/t
			{"id":"t","status":{"state":"TASK_STATE_CANCELLED","message":{"parts":[{"text":"no"}]}}}`,
			"no", Stream, client.Canceled,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := polls
			o.Mode = Auto
			a := must.Get(Ask(t.Context(), agent(t, tt.script), client.Text("x"), o))(t)
			if a.Text() != tt.text || a.Mode != tt.mode || a.State() != tt.state {
				t.Errorf("got %q by %s in state %q, want %q by %s in state %q",
					a.Text(), a.Mode, a.State(), tt.text, tt.mode, tt.state)
			}
			if !json.Valid(a.Raw) {
				t.Errorf("raw is %q", a.Raw)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	const working = `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`
	noPoll := polls
	noPoll.NoPoll = true
	soon := polls
	soon.PollTimeout = time.Millisecond
	for _, tt := range []struct {
		name, script, want string
		o                  Options
	}{
		{"cut before anything", "/message:stream\nCUT", "EOF", polls},
		{"empty", "/message:stream\n[DONE]", "the stream ended without an event", polls},
		{"cut, not polled", "/message:stream\n" + working + "\nCUT", "the stream was cut off", noPoll},
		{"closed early, not polled", "/message:stream\n" + working, "the stream ended while the task was working", noPoll},
		{"cut, and gone", "/message:stream\n" + working + "\nCUT\n/tasks/t\nCUT", "poll task t", polls},
		{"cut, and unknown", "/message:stream\n" + working + "\nCUT", "HTTP 404", polls},
		{"no JSON", "/message:stream\n" + working + "\n{", "read ", polls},
		{
			"an error", "/message:stream\n" + working + "\n" + `{"error":{"code":500,"message":"late"}}`, "agent refused: late",
			polls,
		},
		{
			"never ends", "/message:stream\n" + working + "\n/tasks/t\n" + `{"id":"t","status":{"state":"TASK_STATE_WORKING"}}`,
			"it is still working after 1ms", soon,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Mode = Stream
			a, err := Ask(t.Context(), agent(t, tt.script), client.Text("x"), tt.o)
			expect.ErrorHas(t, "", tt.want, err)
			if strings.Contains(tt.script, working) && a.TaskID() != "t" {
				t.Errorf("got %+v, want what there was", a)
			}
		})
	}
	a, err := Ask(t.Context(), agent(t, "/message:send\n"+working), client.Text("x"), noPoll)
	if err != nil || a.State() != client.Working {
		t.Errorf("got %v, %v; want the first answer as it is", a, err)
	}
}

// The client leaves a stream that stays open after its task has ended, or waits, after a while.
func TestPatience(t *testing.T) {
	for state, want := range map[string]client.State{
		"TASK_STATE_COMPLETED": client.Completed, "TASK_STATE_AUTH_REQUIRED": client.AuthRequired,
	} {
		c := agent(t, fmt.Sprintf("/tasks/t:subscribe\n"+
			`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}
			{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":%q}}}
			HOLD`, state))
		o := polls
		o.Patience = time.Millisecond
		events := 0
		o.OnEvent = func(client.Event) error { events++; return nil }
		a, err := Follow(t.Context(), c, "t", o)
		if err != nil || a.State() != want || events != 2 {
			t.Errorf("got %v, %v after %d events; want %s after 2", a.State(), err, events, want)
		}
	}
	for p, want := range map[progress]time.Duration{notDone: 0, waiting: 30 * time.Second, ended: 5 * time.Second} {
		expect.Equal(t, "patience", want, (Options{}).patience(p))
	}
}

// A canceled call returns the error of its cancellation, and does not poll.
func TestCancel(t *testing.T) {
	c := agent(t, `/message:stream
		{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}
		HOLD
		/message:send
		{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}
		/tasks/t
		{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}`)
	for _, mode := range []Mode{Stream, Send} {
		ctx, cancel := context.WithCancel(t.Context())
		o := Options{Mode: mode, Interval: time.Hour, PollTimeout: time.Hour}
		o.OnEvent = func(client.Event) error { cancel(); return nil }
		o.OnPoll = func(*client.Task) error { cancel(); return nil }
		expect.ErrorIs(t, mode, context.Canceled, expect.Err(Ask(ctx, c, client.Text("x"), o)))
		cancel()
	}
	enough := errors.New("enough")
	o := Options{Mode: Stream, OnEvent: func(client.Event) error { return enough }}
	expect.ErrorIs(t, "", enough, expect.Err(Ask(t.Context(), c, client.Text("x"), o)))
}

// Artifacts of 0.1 have no ids: their index distinguishes them, and updates name the task as id.
func TestJoinedEventsOf01(t *testing.T) {
	var j joined
	for _, text := range []string{
		`{"id":"t","artifact":{"index":0,"parts":[{"type":"text","text":"a"}]}}`,
		`{"id":"t","artifact":{"index":1,"parts":[{"type":"text","text":"b"}]}}`,
		`{"id":"t","artifact":{"parts":[{"type":"text","text":"c"}],"append":true}}`,
	} {
		update := &client.ArtifactUpdate{TaskID: "t", Append: strings.Contains(text, "append"), Raw: []byte(text)}
		must.Do(t, j.add(client.Event{Artifact: update}))
	}
	status := &client.StatusUpdate{TaskID: "t", Raw: []byte(`{"id":"t","status":{"state":"completed"},"final":true}`)}
	status.Status.State = client.Completed
	must.Do(t, j.add(client.Event{Status: status}))
	var a Answer
	if err := j.into(&a); err != nil || a.Text() != "ac\nb" || a.State() != client.Completed {
		t.Errorf("got %q in state %s, %v", a.Text(), a.State(), err)
	}
}

// Chunks are joined whatever the names of artifacts, and other values are dropped.
func TestJoinedArtifacts(t *testing.T) {
	var j joined
	add := func(artifact string, more bool) {
		t.Helper()
		raw := fmt.Appendf(nil, `{"taskId":"t","artifact":%s}`, artifact)
		must.Do(t, j.add(client.Event{Artifact: &client.ArtifactUpdate{TaskID: "t", Append: more, Raw: raw}}))
	}
	for _, id := range []string{`"a"`, `"b"`, `null`} {
		for i, text := range []string{"one ", "two ", "three"} {
			add(fmt.Sprintf(`{"artifactId":%s,"parts":[{"text":%q}]}`, id, text), i > 0)
		}
	}
	add(`null`, true)
	add(`{"parts":[{"text":"by index"}]}`, true)
	add(`{"index":0,"parts":[{"text":", the same"}]}`, true)
	add(`{"artifactId":"a","parts":[{"text":"again"}]}`, false)
	var texts []string
	var a Answer
	must.Do(t, j.into(&a))
	for _, artifact := range a.Task.Artifacts {
		texts = append(texts, artifact.Text())
	}
	const whole = "one two three"
	expect.Same(t, "", []string{"again", whole, whole, "by index, the same"}, texts)
}

func TestMetadata(t *testing.T) {
	c := agent(t, fmt.Sprintf(card, true)+`/message:stream
		{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`)
	o := polls
	o.Mode = Stream
	a := must.Get(Ask(t.Context(), c, client.Text("x"), o))(t)
	got := must.Get(json.Marshal(a.Metadata()))(t)
	const want = `{"a2a":{"contextId":"c","events":[{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}],` +
		`"mode":"stream","taskId":"t","taskState":"TASK_STATE_COMPLETED"}}`
	expect.Same(t, "", want, string(got))
	empty, err := json.Marshal((&Answer{Mode: Send, Message: &client.Message{ContextID: "c"}}).Metadata())
	if want := `{"a2a":{"contextId":"c","events":[],"mode":"send"}}`; err != nil || string(empty) != want {
		t.Errorf("got %s, %v; want %s", empty, err, want)
	}
}

func TestStableID(t *testing.T) {
	ids := map[string]bool{}
	for range 2 {
		for _, id := range []string{
			StableID(1, "a", "", "", nil), StableID(2, "a", "", "", nil), StableID(1, "b", "", "", nil),
			StableID(1, "a", "t", "", nil), StableID(1, "a", "", "t", nil), StableID(1, "a", "", "", []byte("{}")),
		} {
			ids[id] = true
		}
	}
	if len(ids) != 6 {
		t.Errorf("got %d ids, want one for each of 6 messages", len(ids))
	}
}
