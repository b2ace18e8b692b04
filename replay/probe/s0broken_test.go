package probe_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"a2atap/replay/refagent"
)

// A middleware is what an agent stands behind in a test, to break it.
type middleware func(next http.Handler) http.Handler

// startBroken serves a reference agent behind a middleware and returns its URL.
func startBroken(t *testing.T, name string, o refagent.Options, broken middleware) string {
	t.Helper()
	a, err := refagent.New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler = a
	if broken != nil {
		handler = broken(a)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections() // a stream may be open for good
		server.Close()
		a.Close()
	})
	return server.URL + a.Path()
}

// readBody returns the body of a request, which can be read again.
func readBody(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// calls reports whether a request is for a method of JSON-RPC.
func calls(r *http.Request, method string) bool {
	var call struct{ Method string }
	return json.Unmarshal(readBody(r), &call) == nil && call.Method == method
}

// edited changes the status and the body of each complete answer to requests that fit. A stream is taken whole.
func edited(fits func(*http.Request) bool, edit func(status int, body string) (int, string)) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !fits(r) {
				next.ServeHTTP(w, r)
				return
			}
			taken := httptest.NewRecorder()
			next.ServeHTTP(taken, r)
			maps.Copy(w.Header(), taken.Header())
			w.Header().Del("Content-Length")
			status, body := edit(taken.Code, taken.Body.String())
			w.WriteHeader(status)
			io.WriteString(w, body)
		})
	}
}

// method fits requests for one of the methods.
func method(names ...string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		for _, name := range names {
			if calls(r, name) {
				return true
			}
		}
		return false
	}
}

// inBody replaces text in answers.
func inBody(pairs ...string) func(int, string) (int, string) {
	return func(status int, body string) (int, string) {
		return status, strings.NewReplacer(pairs...).Replace(body)
	}
}

// refusingCalls answers requests for a method with an error.
func refusingCalls(name string, code int) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !calls(r, name) {
				next.ServeHTTP(w, r)
				return
			}
			refuse(w, r, code)
		})
	}
}

func refuse(w http.ResponseWriter, r *http.Request, code int) {
	var call struct{ ID json.RawMessage }
	json.Unmarshal(readBody(r), &call) // without an id it is null
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"jsonrpc": "2.0", "id": call.ID, "error": map[string]any{"code": code, "message": "no"},
	})
}

// askedFor replaces text in requests for a method.
func askedFor(name string, pairs ...string) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls(r, name) {
				body := strings.NewReplacer(pairs...).Replace(string(readBody(r)))
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
			}
			next.ServeHTTP(w, r)
		})
	}
}

// carding edits the card.
func carding(edit func(card map[string]any)) middleware {
	return edited(
		func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/.well-known/") },
		func(status int, body string) (int, string) {
			var card map[string]any
			if json.Unmarshal([]byte(body), &card) != nil {
				return status, body
			}
			edit(card)
			text, _ := json.Marshal(card)
			return status, string(text)
		})
}

// without removes a member of the card.
func without(member string) middleware {
	return carding(func(card map[string]any) { delete(card, member) })
}

// skillWithout removes a member of the first skill.
func skillWithout(member string) middleware {
	return carding(func(card map[string]any) { delete(card["skills"].([]any)[0].(map[string]any), member) })
}

// cardWith sets a member of the card.
func cardWith(member string, value any) middleware {
	return carding(func(card map[string]any) { card[member] = value })
}

// openForGood keeps streams open after their end.
func openForGood(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if strings.Contains(w.Header().Get("Content-Type"), "event-stream") {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	})
}

// telling adds to each task that is read what all clients have said.
func telling(next http.Handler) http.Handler {
	var mu sync.Mutex
	var heard []string
	listen := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls(r, "SendMessage") {
			mu.Lock()
			heard = append(heard, string(readBody(r)))
			mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
	return edited(method("GetTask"), func(status int, body string) (int, string) {
		mu.Lock()
		defer mu.Unlock()
		var answer map[string]any
		if json.Unmarshal([]byte(body), &answer) != nil || answer["result"] == nil {
			return status, body
		}
		answer["result"].(map[string]any)["metadata"] = map[string]any{"heard": heard}
		text, _ := json.Marshal(answer)
		return status, string(text)
	})(listen)
}

// forgetful does not know tasks whose streams were for a client that leaves.
func forgetful(next http.Handler) http.Handler {
	var mu sync.Mutex
	forgotten := map[string]bool{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			Method string
			Params struct{ ID string }
		}
		body := readBody(r)
		json.Unmarshal(body, &call) // what is no JSON is no call
		mu.Lock()
		if call.Method == "tasks/sendSubscribe" && bytes.Contains(body, []byte("task-cancel")) {
			forgotten[call.Params.ID] = true
		}
		lost := call.Method == "tasks/get" && forgotten[call.Params.ID]
		mu.Unlock()
		if lost {
			refuse(w, r, -32001)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// falling answers sends with an internal error once it has been told nonsense.
func falling(next http.Handler) http.Handler {
	var mu sync.Mutex
	fallen := false
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		fallen = fallen || bytes.Contains(readBody(r), []byte("valid jsonrpc"))
		down := fallen && calls(r, "tasks/send")
		mu.Unlock()
		if down {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// cardForMembers shows the card to nobody without credentials.
func cardForMembers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/.well-known/") && r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// boom makes the first example of the card one that the agent refuses.
func boom(next http.Handler) http.Handler {
	card := carding(func(card map[string]any) {
		card["skills"].([]any)[0].(map[string]any)["examples"] = []any{"boom"}
	})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bytes.Contains(readBody(r), []byte(`"boom"`)) {
			refuse(w, r, -32603)
			return
		}
		card.ServeHTTP(w, r)
	})
}

// nonsense answers what is no request with an internal error.
func nonsense(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bytes.Contains(readBody(r), []byte("valid jsonrpc")) {
			refuse(w, r, -32603)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// asStream answers calls of a streaming method at an address of its own as another method at the agent's would.
func asStream(streaming, plain string) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls(r, streaming) {
				body := strings.Replace(string(readBody(r)), streaming, plain, 1)
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
				r.URL.Path = "/"
			}
			next.ServeHTTP(w, r)
		})
	}
}

// firstUnnamed takes the name off the first event of a stream.
func firstUnnamed(status int, body string) (int, string) {
	return status, strings.Replace(body, "event: status\n", "", 1)
}

// quiet takes the webhooks that come with messages, and answers the others' as if it had kept them.
func quiet(member string) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var call struct {
				ID     json.RawMessage
				Method string
				Params map[string]json.RawMessage
			}
			body := readBody(r)
			if json.Unmarshal(body, &call) != nil {
				next.ServeHTTP(w, r)
				return
			}
			if strings.HasSuffix(call.Method, "/set") {
				w.Header().Set("Content-Type", "application/json")
				json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": call.Params})
				return
			}
			if _, ok := call.Params[member]; ok {
				delete(call.Params, member)
				text, _ := json.Marshal(map[string]any{
					"jsonrpc": "2.0", "id": call.ID, "method": call.Method, "params": call.Params,
				})
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
			}
			next.ServeHTTP(w, r)
		})
	}
}

// answersOnly says yes to calls of a method, and does nothing.
func answersOnly(name string) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !calls(r, name) {
				next.ServeHTTP(w, r)
				return
			}
			var call struct{ ID json.RawMessage }
			json.Unmarshal(readBody(r), &call) // it was read before
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": nil})
		})
	}
}
