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
	"sync/atomic"

	"a2atap/proxy/a2a"
)

// A Breaker puts something faulty in front of an agent.
type Breaker = func(agent http.Handler) http.Handler

// All is several breakers, the first one outermost.
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

// An About says which requests are meant.
type About func(r *http.Request, body string) bool

// Anything means all requests.
func Anything(*http.Request, string) bool { return true }

// RPC means a method of JSON-RPC.
func RPC(method string) About {
	return func(_ *http.Request, body string) bool { return a2a.Parse([]byte(body)).Root.Get("method").Is(method) }
}

// Path means an HTTP method, and a path that matches.
func Path(method, pattern string) About {
	match := regexp.MustCompile(pattern)
	return func(r *http.Request, _ string) bool { return r.Method == method && match.MatchString(r.URL.Path) }
}

// Card means requests for the card.
func Card(r *http.Request, _ string) bool { return strings.Contains(r.URL.Path, "/.well-known/") }

// Holding means requests whose body holds a text.
func Holding(text string) About {
	return func(_ *http.Request, body string) bool { return strings.Contains(body, text) }
}

// Either means what one of some means.
func Either(some ...About) About {
	return func(r *http.Request, body string) bool {
		return slices.ContainsFunc(some, func(a About) bool { return a(r, body) })
	}
}

// Body reads the body of a request, and puts it back.
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

// Answering answers some requests in the agent's place.
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

// Saying answers some requests in the agent's place with a text of JSON.
func Saying(which About, status int, text string) Breaker {
	return Answering(which, func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, text)
	})
}

// Failing answers some requests with a status of HTTP.
func Failing(which About, status int) Breaker {
	return Saying(which, status, fmt.Sprintf(`{"error":{"code":%d,"message":"no"}}`, status))
}

// Refusing answers some requests with an error of JSON-RPC.
func Refusing(which About, code int) Breaker {
	return Answering(which, func(w http.ResponseWriter, _ *http.Request, body string) {
		RPCAnswer(w, body, "error", map[string]any{"code": code, "message": "no"})
	})
}

// RPCAnswer answers a request of JSON-RPC with a result or an error.
func RPCAnswer(w http.ResponseWriter, request, member string, value any) {
	var call struct{ ID json.RawMessage }
	json.Unmarshal([]byte(request), &call) // without an id it is null
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": call.ID, member: value})
}

// Asking changes some requests before the agent sees them: what matches becomes something else, in body and query.
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

// OnRequest lets a test change what an agent is asked: the request, and the body that it returns.
func OnRequest(edit func(r *http.Request, body string) string) Breaker {
	return func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			SetBody(r, edit(r, Body(r)))
			agent.ServeHTTP(w, r)
		})
	}
}

// Answers lets a test change what an agent answers to some requests: the status, the fields and the body, which is
// taken whole, and in which a stream has ended.
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

// OnAnswer is Answers for all but streams.
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
			panic(err) // a card that a test has edited
		}
		a.Body.Reset()
		a.Body.Write(text)
	})
}

// Changing changes what the agent answers to some requests: what matches becomes something else, in each event and in
// each other answer.
func Changing(which About, pattern, instead string) Breaker {
	return ChangingBy(which, pattern, func() string { return instead })
}

// ChangingBy is Changing with something else for each answer.
func ChangingBy(which About, pattern string, instead func() string) Breaker {
	match := regexp.MustCompile(pattern)
	return editing(which, func(w http.ResponseWriter) http.ResponseWriter {
		return &editor{ResponseWriter: w, match: match, instead: []byte(instead())}
	})
}

// Counted returns a text that is another each time.
func Counted(format string) func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf(format, n.Add(1)) }
}

// RefusedWith puts another status in place of 400.
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

// An editor changes what is written, piece by piece: agents write each event, and each other answer, as a whole.
type editor struct {
	http.ResponseWriter
	match      *regexp.Regexp
	instead    []byte
	badRequest int // the status in place of 400; 0 for 400
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
