package scenarios_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"a2atap/proxy/a2a"
	"a2atap/replay/internal/agenttest"
)

// without removes a member of the card.
func without(member string) agenttest.Breaker {
	return agenttest.OnCard(func(card map[string]any) { delete(card, member) })
}

// skillWithout removes a member of the first skill.
func skillWithout(member string) agenttest.Breaker {
	return agenttest.OnCard(func(card map[string]any) { delete(card["skills"].([]any)[0].(map[string]any), member) })
}

// cardWith sets a member of the card.
func cardWith(member string, value any) agenttest.Breaker {
	return agenttest.OnCard(func(card map[string]any) { card[member] = value })
}

// openForGood keeps streams open after their last event.
func openForGood(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if strings.Contains(w.Header().Get("Content-Type"), "event-stream") {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	})
}

// telling adds the messages of all clients to each task that is read.
func telling(next http.Handler) http.Handler {
	var mu sync.Mutex
	var heard []string
	return agenttest.All(
		agenttest.Answers(agenttest.RPC("GetTask"), func(_ *http.Request, _ string, a *httptest.ResponseRecorder) {
			mu.Lock()
			defer mu.Unlock()
			var answer map[string]any
			if json.Unmarshal(a.Body.Bytes(), &answer) != nil || answer["result"] == nil {
				return
			}
			answer["result"].(map[string]any)["metadata"] = map[string]any{"heard": heard}
			a.Body.Reset()
			json.NewEncoder(a.Body).Encode(answer)
		}),
		agenttest.OnRequest(func(_ *http.Request, body string) string {
			if strings.Contains(body, `"SendMessage"`) {
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, body)
			}
			return body
		}),
	)(next)
}

// forgetful forgets tasks whose streams belonged to a client that leaves.
func forgetful(next http.Handler) http.Handler {
	var mu sync.Mutex
	forgotten := map[string]bool{}
	return agenttest.Refusing(func(_ *http.Request, body string) bool {
		var call struct {
			Method string
			Params struct{ ID string }
		}
		json.Unmarshal([]byte(body), &call) // what is not JSON is not a call
		mu.Lock()
		defer mu.Unlock()
		if call.Method == "tasks/sendSubscribe" && strings.Contains(body, "long-running") {
			forgotten[call.Params.ID] = true
		}
		return call.Method == "tasks/get" && forgotten[call.Params.ID]
	}, -32001)(next)
}

// falling answers sends with an internal error after its first invalid request.
func falling(next http.Handler) http.Handler {
	var mu sync.Mutex
	fallen := false
	return agenttest.Failing(func(_ *http.Request, body string) bool {
		mu.Lock()
		defer mu.Unlock()
		fallen = fallen || strings.Contains(body, "valid jsonrpc")
		return fallen && strings.Contains(body, `"tasks/send"`)
	}, http.StatusInternalServerError)(next)
}

// cardForMembers refuses the card to callers without credentials.
func cardForMembers(next http.Handler) http.Handler {
	return agenttest.Saying(func(r *http.Request, body string) bool {
		return agenttest.Card(r, body) && r.Header.Get("Authorization") == ""
	}, http.StatusUnauthorized, "")(next)
}

// boom makes the agent refuse the first example of its card.
func boom(next http.Handler) http.Handler {
	return agenttest.All(agenttest.Refusing(agenttest.Holding(`"boom"`), -32603), agenttest.OnCard(func(card map[string]any) {
		card["skills"].([]any)[0].(map[string]any)["examples"] = []any{"boom"}
	}))(next)
}

// asStream answers calls of a streaming method at a separate address like another method at the agent's address.
func asStream(streaming, plain string) agenttest.Breaker {
	return agenttest.OnRequest(func(r *http.Request, body string) string {
		if !agenttest.RPC(streaming)(r, body) {
			return body
		}
		r.URL.Path = "/"
		return strings.Replace(body, streaming, plain, 1)
	})
}

// firstUnnamed removes the name of the first event of a stream.
func firstUnnamed(_ *http.Request, _ string, a *httptest.ResponseRecorder) {
	text := strings.Replace(a.Body.String(), "event: status\n", "", 1)
	a.Body.Reset()
	a.Body.WriteString(text)
}

// quiet drops the webhooks of messages, and confirms other push configs without keeping them.
func quiet(member string) agenttest.Breaker {
	takes := func(_ *http.Request, body string) bool {
		method, _ := a2a.Parse([]byte(body)).Root.Get("method").Str()
		return strings.HasSuffix(method, "/set")
	}
	return agenttest.All(
		agenttest.Answering(takes, func(w http.ResponseWriter, _ *http.Request, body string) {
			agenttest.RPCAnswer(w, body, "result", json.RawMessage(a2a.Parse([]byte(body)).Root.Get("params").Raw()))
		}),
		agenttest.OnRequest(func(_ *http.Request, body string) string {
			var call map[string]any
			if json.Unmarshal([]byte(body), &call) != nil {
				return body
			}
			if params, ok := call["params"].(map[string]any); ok {
				delete(params, member)
			}
			text, _ := json.Marshal(call)
			return string(text)
		}),
	)
}

// answersOnly confirms calls of a method without performing them.
func answersOnly(name string) agenttest.Breaker {
	return agenttest.Answering(agenttest.RPC(name), func(w http.ResponseWriter, _ *http.Request, body string) {
		agenttest.RPCAnswer(w, body, "result", nil)
	})
}

// onHead edits the heads of answers.
func onHead(edit func(http.Header)) agenttest.Breaker {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&headEditor{w, edit}, r)
		})
	}
}

type headEditor struct {
	http.ResponseWriter
	edit func(http.Header)
}

// WriteHeader implements [http.ResponseWriter].
func (e *headEditor) WriteHeader(status int) {
	e.edit(e.Header())
	e.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a response controller flush streams.
func (e *headEditor) Unwrap() http.ResponseWriter { return e.ResponseWriter }
