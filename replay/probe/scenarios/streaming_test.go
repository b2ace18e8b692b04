package scenarios_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/probe/scenarios/internal/streaming"
	"a2atap/replay/refagent"
)

func TestStreamScenariosFail(t *testing.T) {
	testWrong(t, streaming.Events, []wrong{
		{name: "stream-first-event", fails: []string{"act-stream-task"}},
		{name: "stream-message-only", fails: []string{"act-stream-message-only"}},
		{name: "stream-closed-on-terminal", fails: []string{"act-stream-order", "act-stream-task"}},
		{name: "stream-truncated", fails: []string{"act-stream-task"}},
		{name: "stream-rpc-id", fails: []string{"jsonrpc/act-stream-framing"}},
		{name: "stream-rpc-envelope", fails: []string{
			"jsonrpc/act-stream-framing", "jsonrpc/act-stream-message-only", "jsonrpc/act-stream-order",
			"jsonrpc/act-stream-task", "jsonrpc/act-subscribe-closes", "jsonrpc/act-subscribe-first-task",
		}},
		{name: "stream-rest-bare", fails: []string{
			"rest/act-stream-framing", "rest/act-stream-message-only", "rest/act-stream-order",
			"rest/act-stream-task", "rest/act-subscribe-closes", "rest/act-subscribe-first-task",
		}},
		{
			name: "stream-subscribe-first-task", only: "act-subscribe-first-task", patience: 100 * time.Millisecond,
			client: client.Options{Timeout: 5 * time.Second}, fails: []string{"act-subscribe-first-task"},
		},
		{name: "stream-no-message-in-task-stream", fails: []string{"act-stream-task"}},
		{name: "stream-content-type", only: "act-stream-framing", fails: []string{"act-stream-framing"}},
		{name: "stream-response-oneof", fails: []string{
			"act-stream-framing", "act-stream-order", "act-stream-task", "act-subscribe-closes",
		}},
		{name: "id-subscribe-match", fails: []string{"act-subscribe-first-task"}},
		{name: "state-subscribe-terminal", fails: []string{"act-subscribe-terminal"}},
		{name: "state-subscribe-terminal-code", fails: []string{"act-subscribe-terminal"}},
		{
			name: "unknown tasks are events",
			fails: []string{
				"act-subscribe-closes", "act-subscribe-first-task", "act-subscribe-not-found", "act-subscribe-terminal",
			},
			twist: agenttest.Saying(func(r *http.Request, body string) bool {
				return strings.Contains(body, `"SubscribeToTask"`) || strings.HasSuffix(r.URL.Path, ":subscribe")
			}, http.StatusInternalServerError, `{"error":{"code":-32603,"message":"oops"}}`),
		},
		{
			name: "anything is streamed", fails: []string{"act-stream-invalid-params"},
			twist: agenttest.OnRequest(func(r *http.Request, body string) string {
				if strings.HasSuffix(r.URL.Path, ":stream") && body == "{}" {
					return `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`
				}
				return strings.Replace(body, `"params":{}`,
					`"params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`, 1)
			}),
		},
	})
}

// tied makes an agent whose streams all end when a client leaves one; the agent waits for that to cancel a task.
func tied(next http.Handler) http.Handler {
	var mu sync.Mutex
	var open sync.WaitGroup
	all, leave := context.WithCancel(context.Background())
	current := func(fresh bool) (context.Context, context.CancelFunc) {
		mu.Lock()
		defer mu.Unlock()
		if fresh && all.Err() != nil {
			all, leave = context.WithCancel(context.Background())
		}
		return all, leave
	}
	return agenttest.OnRequest(func(r *http.Request, body string) string {
		if strings.Contains(body, `"CancelTask"`) || strings.HasSuffix(r.URL.Path, ":cancel") {
			tie, _ := current(false)
			<-tie.Done()
			open.Wait()
		}
		return body
	})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept"), "event-stream") {
			next.ServeHTTP(w, r)
			return
		}
		open.Add(1)
		defer open.Done()
		tie, untie := current(true)
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(tie, cancel)()
		defer context.AfterFunc(r.Context(), untie)()
		next.ServeHTTP(w, r.WithContext(ctx))
	}))
}

func TestParallelScenariosFail(t *testing.T) {
	testWrong(t, streaming.Parallel, []wrong{
		{name: "stream-same-events", fails: []string{"act-two-subscribers"}},
		{
			name: "streams are tied", only: "act-close-one-stream", fails: []string{"act-close-one-stream"},
			twist: tied,
		},
	})
}

// late is an agent that reads a request for the stream of a task only after the task has been canceled. Over HTTP it
// has begun to answer before.
func late(next http.Handler) http.Handler {
	canceled := make(chan struct{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := agenttest.Body(r)
		switch {
		case strings.HasSuffix(r.URL.Path, "/CancelTask"), agenttest.RPC("tasks/cancel")(r, asked):
			defer close(canceled)
		case strings.HasSuffix(r.URL.Path, "/TaskSubscription"):
			<-canceled
		case agenttest.RPC("tasks/resubscribe")(r, asked):
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-canceled
			io.WriteString(w, "data: ")
			agenttest.RPCAnswer(w, asked, "error", map[string]any{"code": -32004, "message": "the task has ended"})
			io.WriteString(w, "\n\n")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// The case cannot tell whether a refused subscription arrived before its task was canceled.
func TestSubscribedTooLate(t *testing.T) {
	t.Parallel()
	for _, binding := range []string{"jsonrpc", "grpc"} {
		t.Run(binding, func(t *testing.T) {
			t.Parallel()
			o := refagent.Options{StepTime: 2 * time.Millisecond, Bindings: []string{binding}}
			report := must.Get(probe.Run(t.Context(), agenttest.Start(t, "spec03", o, late), probe.Options{
				Drive: probe.Scripted, Timeout: must.Patience,
				Scenarios: slices.DeleteFunc(scenarios.Basics(), func(s *probe.Scenario) bool { return s.ID != "stream-resubscribe" }),
			}))(t)
			for _, r := range report.Results {
				if r.Status != probe.Unproved || !strings.Contains(r.Message, "no event had arrived for") {
					t.Errorf("%s: %s, %s\n%s", r.Name, r.Status, r.Message, r.Answer)
				}
			}
			if len(report.Results) != 1 {
				t.Errorf("%d results", len(report.Results))
			}
		})
	}
}
