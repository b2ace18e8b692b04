package agenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"a2atap/proxy/a2a"
)

// A Breaker wraps an agent with a fault.
type Breaker = func(agent http.Handler) http.Handler

// All combines several breakers, the first one outermost.
func All(some ...Breaker) Breaker {
	return func(agent http.Handler) http.Handler {
		for i := len(some) - 1; i >= 0; i-- {
			if some[i] != nil {
				agent = some[i](agent)
			}
		}
		return agent
	}
}

// An About selects requests.
type About func(r *http.Request, body string) bool

// Anything selects all requests.
func Anything(*http.Request, string) bool { return true }

// RPC selects a JSON-RPC method.
func RPC(method string) About {
	return func(_ *http.Request, body string) bool { return a2a.Parse([]byte(body)).Root.Get("method").Is(method) }
}

// Path selects an HTTP method and paths that match.
func Path(method, pattern string) About {
	match := regexp.MustCompile(pattern)
	return func(r *http.Request, _ string) bool { return r.Method == method && match.MatchString(r.URL.Path) }
}

// Card selects requests for the card.
func Card(r *http.Request, _ string) bool { return strings.Contains(r.URL.Path, "/.well-known/") }

// Holding selects requests whose body contains a text.
func Holding(text string) About {
	return func(_ *http.Request, body string) bool { return strings.Contains(body, text) }
}

// Either selects requests that one of several selects.
func Either(some ...About) About {
	return func(r *http.Request, body string) bool {
		return slices.ContainsFunc(some, func(a About) bool { return a(r, body) })
	}
}

// Body reads the body of a request, and restores it.
func Body(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the client has left
	}
	SetBody(r, string(body))
	return string(body)
}

// SetBody gives a request another body.
func SetBody(r *http.Request, body string) {
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
}

// Answering answers some requests instead of the agent.
func Answering(which About, answer func(w http.ResponseWriter, r *http.Request, body string)) Breaker {
	return func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body := Body(r); which(r, body) {
				answer(w, r, body)
				return
			}
			agent.ServeHTTP(w, r)
		})
	}
}

// Saying answers some requests with a JSON text instead of the agent.
func Saying(which About, status int, text string) Breaker {
	return Answering(which, func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, text)
	})
}

// Failing answers some requests with an HTTP status.
func Failing(which About, status int) Breaker {
	return Saying(which, status, fmt.Sprintf(`{"error":{"code":%d,"message":"no"}}`, status))
}

// Refusing answers some requests with a JSON-RPC error.
func Refusing(which About, code int) Breaker {
	return Answering(which, func(w http.ResponseWriter, _ *http.Request, body string) {
		RPCAnswer(w, body, "error", map[string]any{"code": code, "message": "no"})
	})
}

// RPCAnswer returns a JSON-RPC response with a result or an error.
func RPCAnswer(w http.ResponseWriter, request, member string, value any) {
	var call struct{ ID json.RawMessage }
	json.Unmarshal([]byte(request), &call) // without an id it is null
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": call.ID, member: value})
}

// Asking edits some requests before the agent receives them: it replaces matches in body and query.
func Asking(which About, pattern, instead string) Breaker {
	match := regexp.MustCompile(pattern)
	return func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body := Body(r); which(r, body) {
				SetBody(r, match.ReplaceAllString(body, instead))
				r.URL.RawQuery = match.ReplaceAllString(r.URL.RawQuery, instead)
			}
			agent.ServeHTTP(w, r)
		})
	}
}

// OnRequest edits requests to an agent: the request itself, and the body through the result.
func OnRequest(edit func(r *http.Request, body string) string) Breaker {
	return func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			SetBody(r, edit(r, Body(r)))
			agent.ServeHTTP(w, r)
		})
	}
}

// Answers edits an agent's answers to some requests: the status, the fields and the body. It reads the whole body; a
// stream must end by itself.
func Answers(which About, edit func(r *http.Request, asked string, a *httptest.ResponseRecorder)) Breaker {
	return func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := Body(r)
			if !which(r, body) {
				agent.ServeHTTP(w, r)
				return
			}
			answer := httptest.NewRecorder()
			agent.ServeHTTP(answer, r)
			edit(r, body, answer)
			maps.Copy(w.Header(), answer.Header())
			w.Header().Del("Content-Length")
			w.WriteHeader(answer.Code)
			w.Write(answer.Body.Bytes())
		})
	}
}

// OnAnswer is Answers for everything except streams.
func OnAnswer(edit func(r *http.Request, asked string, a *httptest.ResponseRecorder)) Breaker {
	return Answers(func(r *http.Request, _ string) bool {
		return !strings.Contains(r.Header.Get("Accept"), "event-stream")
	}, edit)
}

// OnCard edits the card.
func OnCard(edit func(card map[string]any)) Breaker {
	return Answers(Card, func(_ *http.Request, _ string, a *httptest.ResponseRecorder) {
		var card map[string]any
		if json.Unmarshal(a.Body.Bytes(), &card) != nil {
			return
		}
		edit(card)
		text, err := json.Marshal(card)
		if err != nil {
			panic(err) // the test's edit broke the card
		}
		a.Body.Reset()
		a.Body.Write(text)
	})
}

// Changing edits the agent's answers to some requests: it replaces matches in each event and in each other answer.
func Changing(which About, pattern, instead string) Breaker {
	return ChangingBy(which, pattern, func() string { return instead })
}

// ChangingBy is Changing with a different replacement for each answer.
func ChangingBy(which About, pattern string, instead func() string) Breaker {
	match := regexp.MustCompile(pattern)
	return editing(which, func(w http.ResponseWriter) http.ResponseWriter {
		return &editor{ResponseWriter: w, match: match, instead: []byte(instead())}
	})
}

// Counted returns a different text on each call.
func Counted(format string) func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf(format, n.Add(1)) }
}

// RefusedWith changes status 400 to another one.
func RefusedWith(which About, status int) Breaker {
	return editing(which, func(w http.ResponseWriter) http.ResponseWriter {
		return &editor{ResponseWriter: w, match: regexp.MustCompile(`^$`), badRequest: status}
	})
}

func editing(which About, edit func(http.ResponseWriter) http.ResponseWriter) Breaker {
	return func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if which(r, Body(r)) {
				w = edit(w)
			}
			agent.ServeHTTP(w, r)
		})
	}
}

// An editor edits written data, piece by piece: agents write each event, and each other answer, as a whole.
type editor struct {
	http.ResponseWriter
	match      *regexp.Regexp
	instead    []byte
	badRequest int // the status instead of 400; 0 for 400
}

func (e *editor) WriteHeader(status int) {
	e.Header().Del("Content-Length")
	if status == http.StatusBadRequest && e.badRequest != 0 {
		status = e.badRequest
	}
	e.ResponseWriter.WriteHeader(status)
}

func (e *editor) Write(p []byte) (int, error) {
	e.Header().Del("Content-Length")
	if _, err := e.ResponseWriter.Write(e.match.ReplaceAll(p, e.instead)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (e *editor) Unwrap() http.ResponseWriter { return e.ResponseWriter }

func (e *editor) Flush() {
	http.NewResponseController(e.ResponseWriter).Flush() //nolint:errcheck // an error means that the client has left
}

// Unmoved answers some calls with the last task that the agent returned; the agent does not receive them.
func Unmoved(which About) Breaker {
	var mu sync.Mutex
	var shown json.RawMessage
	remember := OnAnswer(func(_ *http.Request, _ string, a *httptest.ResponseRecorder) {
		for _, pointer := range [][]string{{"result", "task"}, {"result"}, {"task"}, {}} {
			at := a2a.Parse(a.Body.Bytes()).Root
			for _, name := range pointer {
				at = at.Get(name)
			}
			if at.Has("status") {
				mu.Lock()
				shown = json.RawMessage(at.Raw())
				mu.Unlock()
				return
			}
		}
	})
	again := Answering(which, func(w http.ResponseWriter, r *http.Request, body string) {
		mu.Lock()
		defer mu.Unlock()
		var task any = shown
		if strings.Contains(body, `"SendMessage"`) || strings.HasSuffix(r.URL.Path, "message:send") {
			task = map[string]any{"task": shown}
		}
		if a2a.Parse([]byte(body)).Root.Has("jsonrpc") {
			RPCAnswer(w, body, "result", task)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(task) //nolint:errcheck // the client may have left
	})
	return All(again, remember)
}
