package replay_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
)

// A server that answers nothing of A2A and has no card is not an agent; one that has a card, refuses, fails, or answers
// JSON is a differing agent.
func TestServersThatAreNoAgents(t *testing.T) {
	t.Parallel()
	const card = `{"name":"booker","url":"/rpc","version":"1","skills":[],"capabilities":{}}`
	recorded := must.Get(transcript.Parse("recorded", []byte(`-- 1.request rpc-1.0 --
{"jsonrpc":"2.0","id":"r1","method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"a"}]}}}
-- 1.response json --
{"jsonrpc":"2.0","id":"r1","result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}}
`)))(t)
	for _, tt := range []struct {
		name     string
		status   int
		media    string
		body     string
		card     bool
		stranger bool
	}{
		{"web server without the path", 404, "text/html", "<h1>Not found</h1>", false, true},
		{"framework without the path", 404, "application/json", `{"detail":"Not Found"}`, false, true},
		{"page for every path", 200, "text/html", "<h1>Hello</h1>", false, true},
		{"agent that lost its route", 404, "text/plain", "404 page not found", true, false},
		{"agent that wants credentials", 401, "text/plain", "who are you?", false, false},
		{"agent that fails", 500, "text/plain", "oops", false, false},
		{"stream without events", 200, "text/event-stream", ": ping\n\n", false, false},
		{"other JSON", 200, "application/json", `{}`, false, false},
		{"agent that knows no task", 200, "application/json", `{"jsonrpc":"2.0","id":"r1","error":{"code":-32001,"message":"no"}}`, false, false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if tt.card && r.Method == http.MethodGet {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, card)
				return
			}
			w.Header().Set("Content-Type", tt.media)
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		}))
		defer server.Close()
		src := must.Get(recorded.Source("recorded"))(t)
		_, err := replay.Run(t.Context(), src, server.URL, replay.Options{})
		expect.Equal(t, tt.name+": is no agent", tt.stranger, errors.Is(err, replay.ErrNoAgent))
		if err != nil && !tt.stranger {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
