package scenarios_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

// S0-3.5a: an agent whose work ends when its client leaves the stream fails stream-dropped in every version. The
// scenario polls the task until it ends, or until the timeout, and does not cancel it before.
func TestWorkDiesWithItsStream(t *testing.T) {
	t.Parallel()
	only := slices.DeleteFunc(scenarios.Basics(), func(s *probe.Scenario) bool { return s.ID != "stream-dropped" })
	for _, tt := range []struct {
		name, state string // of a task whose stream was dropped; empty means unchanged
		want        probe.Status
	}{
		{"lives on", "", probe.Pass},
		{"works forever", "working", probe.Failed},
		{"is canceled", "canceled", probe.Failed},
		{"fails", "failed", probe.Failed},
	} {
		for _, agent := range []string{"spec", "spec03", "spec03-rest", "spec02", "spec01", "legacy"} {
			t.Run(tt.name+"/"+agent, func(t *testing.T) {
				t.Parallel()
				url := agenttest.Start(t, agent, refagent.Options{StepTime: 5 * time.Millisecond}, orphaning(tt.state))
				report := must.Get(probe.Run(t.Context(), url, probe.Options{
					Scenarios: only, Timeout: 2 * time.Second, Drive: probe.Scripted,
				}))(t)
				if len(report.Results) == 0 {
					t.Error("nothing was asked")
				}
				for _, r := range report.Results {
					expect.Equal(t, r.Name+": "+r.Message, tt.want, r.Status)
				}
			})
		}
	}
}

// ids returns the ids in the events of a stream.
var ids = regexp.MustCompile(`"(?:id|taskId)":"([^"]+)"`)

// orphaning shows tasks that were created in a stream in the given state after they have completed.
func orphaning(state string) agenttest.Breaker {
	return func(next http.Handler) http.Handler {
		var mu sync.Mutex
		streamed := map[string]bool{}
		changed := agenttest.Answers(func(_ *http.Request, body string) bool {
			return state != "" && !strings.Contains(body, "long-running")
		}, func(_ *http.Request, _ string, a *httptest.ResponseRecorder) {
			mu.Lock()
			defer mu.Unlock()
			text := a.Body.String()
			for _, id := range ids.FindAllStringSubmatch(text, -1) {
				if streamed[id[1]] {
					text = strings.NewReplacer("TASK_STATE_COMPLETED", "TASK_STATE_"+strings.ToUpper(state),
						`"completed"`, `"`+state+`"`).Replace(text)
				}
			}
			a.Body.Reset()
			a.Body.WriteString(text)
		})(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			changed.ServeHTTP(&eavesdropper{w, func(p []byte) {
				mu.Lock()
				defer mu.Unlock()
				for _, id := range ids.FindAllStringSubmatch(string(p), -1) {
					streamed[id[1]] = true
				}
			}}, r)
		})
	}
}

// An eavesdropper records the events of a stream.
type eavesdropper struct {
	http.ResponseWriter
	hear func([]byte)
}

func (e *eavesdropper) Write(p []byte) (int, error) {
	if strings.Contains(e.Header().Get("Content-Type"), "event-stream") {
		e.hear(p)
	}
	return e.ResponseWriter.Write(p)
}

func (e *eavesdropper) Unwrap() http.ResponseWriter { return e.ResponseWriter }

func (e *eavesdropper) Flush() { e.ResponseWriter.(http.Flusher).Flush() }
