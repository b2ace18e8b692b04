package streaming

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/jsondoc"
	"a2atap/replay/client"
	"a2atap/replay/live"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Early are about the streams of the path /subscribe, before 0.1.
var Early = scenario.In(probe.Scenario{
	Category: analysis.Streaming, Level: analysis.Must, Protocols: []client.Protocol{client.Early},
	Needs: []probe.Capability{probe.Streaming}, Sections: []string{"0.1 §7.2"},
}, []*probe.Scenario{
	{
		ID: "legacy-stream-moves", Title: "the states of a task in a stream follow each other as allowed",
		Tags: []string{"stream", "S4-2.2", "S4-4.3", "K12"},
		Fix:  "Send an event for each status of a task: working before completed.",
		Run:  askMoves,
	},
	{
		ID: "legacy-stream-artifacts", Title: "a stream has all artifacts of its task",
		Tags: []string{"stream", "S4-4.1d", "S4-4.3"}, Fix: "Send an event for each artifact.",
		Run: askArtifacts,
	},
	{
		ID: "legacy-stream-input", Title: "a stream reports that its task waits for input",
		Tags: []string{"stream", "S4-4.3"}, Fix: "Send an event for each status of a task, including input-required.",
		Run: askInput,
	},
	{
		ID: "legacy-stream-envelope", Title: "an event is a JSON-RPC 2.0 response to the request", Level: analysis.Should,
		Tags: []string{"stream", "rpc", "S4-V10", "K1", "S4-4.1g"},
		Fix:  `Put "jsonrpc":"2.0" and the request's id into the data of each event.`,
		Run:  askEarlyEnvelope,
	},
	{
		ID: "legacy-stream-cache", Title: "a stream must not be cached", Level: analysis.Should,
		Tags: []string{"stream", "S4-4.1b"}, Fix: "Send Cache-Control: no-cache with each stream.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if _, err := hear(ctx, s, probe.CompletesTask); err != nil {
				return err
			}
			got := s.Last().Header.Get("Cache-Control")
			if !strings.Contains(got, "no-cache") && !strings.Contains(got, "no-store") {
				return probe.Fail("Cache-Control: no-cache", "%q", got)
			}
			return nil
		},
	},
	{
		ID: "legacy-stream-method", Title: "the path of streams accepts only one method", Level: analysis.Should,
		Category: analysis.ErrorHandling, Tags: []string{"stream", "errors", "S4-4.1a"},
		Fix: "Refuse methods other than tasks/sendSubscribe at this path, with HTTP 400.",
		Run: askOtherMethod,
	},
})

func askMoves(ctx context.Context, s *probe.Session) error {
	h, err := hearReadable(ctx, s)
	if err != nil {
		return err
	}
	var last client.State
	for _, e := range h.events {
		state := e.State()
		if last == client.Submitted && (state == client.Completed || state == client.InputRequired) ||
			last == client.InputRequired && state == client.Completed {
			return h.fail("the state working between", "%s follows %s", state, last)
		}
		if state != "" {
			last = state
		}
	}
	return nil
}

func askArtifacts(ctx context.Context, s *probe.Session) error {
	h, end, err := hearEnd(ctx, s)
	if err != nil {
		return err
	}
	task, err := s.Client.Get(ctx, h.events[end].TaskID(), nil)
	if err != nil {
		return probe.Unclear("the task could not be read after the stream")
	}
	isArtifact := func(e client.Event) bool { return e.Artifact != nil }
	if len(task.Artifacts) > 0 && !slices.ContainsFunc(h.events, isArtifact) {
		return h.fail("an event for each artifact of task "+task.ID, "the task has %d, and one has no event",
			len(task.Artifacts))
	}
	return nil
}

func askInput(ctx context.Context, s *probe.Session) error {
	within, leave := context.WithCancel(ctx)
	defer leave()
	m := scenario.Named(s, s.Say(probe.AsksBack))
	defer scenario.Release(ctx, s, m.TaskID)
	var polling sync.WaitGroup
	var polled *client.Task
	var unread error = probe.Unclear("no stream was opened")
	poll := func() { // ends the stream some time after the task has settled
		defer leave()
		if polled, unread = s.Settle(within, m.TaskID); unread == nil {
			live.Sleep(within, min(scenario.Patience, s.Timeout))
		}
	}
	var state client.State
	for e, err := range s.Client.Stream(within, m, client.SendOptions{}) {
		if err != nil {
			break
		}
		if state == "" {
			polling.Go(poll)
		}
		if state = cmp.Or(e.State(), state, client.Working); state == client.InputRequired {
			break
		}
	}
	leave()
	polling.Wait()
	switch {
	case state == client.InputRequired:
		return nil
	case state.Terminal():
		return &probe.Skip{Why: "the task did not wait for input: it was " + string(state)}
	case unread != nil:
		return probe.Unclear("the task could not be read while it streamed: %v", unread)
	case polled.Status.State != client.InputRequired:
		return probe.Unclear("task %s is %s, and this scenario needs one that waits for input", m.TaskID, polled.Status.State)
	}
	return probe.Fail("an event with input-required", "none, and task %s waits for input", m.TaskID)
}

func askEarlyEnvelope(ctx context.Context, s *probe.Session) error {
	if _, err := hear(ctx, s, probe.CompletesTask); err != nil {
		return err
	}
	a := s.Last()
	asked := a2a.Parse(a.Exchange.Request.Body.Data).Root.Get("id")
	for i, data := range a.Events() {
		if event := a2a.Parse(data).Root; !event.Get("jsonrpc").Is("2.0") || !jsondoc.SameID(event.Get("id"), asked) {
			return probe.Fail("JSON-RPC 2.0 responses to the request", "event %d: %s", i+1, probe.Excerpt(data))
		}
	}
	return nil
}

func askOtherMethod(ctx context.Context, s *probe.Session) error {
	at := strings.TrimSuffix(s.Endpoint().URL, "/") + "/subscribe"
	a, err := s.Ask(ctx, http.MethodPost, at, http.Header{"Content-Type": {"application/json"}},
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"`+s.NewID()+`","message":{"role":"user",`+
			`"parts":[{"type":"text","text":"hello"}]}}}`))
	switch {
	case err != nil:
		return err
	case a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed:
		return probe.Unclear("streams have no separate path: HTTP %d", a.Status)
	case a.Status != http.StatusBadRequest && !a.JSON().Has("error"):
		return probe.Fail("HTTP 400, or an error", "%s", scenario.Brief(a))
	}
	return nil
}
