package probe_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"

	"a2atap/proxy/a2a"
)

// A breaker puts something faulty in front of agents.
type breaker func(http.Handler) http.Handler

// An about says which requests are meant.
type about func(r *http.Request, body []byte) bool

// rpc means a method of JSON-RPC.
func rpc(method string) about {
	return func(_ *http.Request, body []byte) bool { return a2a.Parse(body).Root.Get("method").Is(method) }
}

// path means an HTTP method, and a path that matches.
func path(method, pattern string) about {
	match := regexp.MustCompile(pattern)
	return func(r *http.Request, _ []byte) bool { return r.Method == method && match.MatchString(r.URL.Path) }
}

// either means what one of some means.
func either(some ...about) about {
	return func(r *http.Request, body []byte) bool {
		for _, a := range some {
			if a(r, body) {
				return true
			}
		}
		return false
	}
}

func anything(*http.Request, []byte) bool { return true }

// bodyOf reads the body of a request, and puts it back.
func bodyOf(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	setBody(r, body)
	return body
}

func setBody(r *http.Request, body []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

// answering answers some requests in the agent's place.
func answering(which about, answer func(w http.ResponseWriter, r *http.Request, body []byte)) breaker {
	return func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body := bodyOf(r); which(r, body) {
				answer(w, r, body)
				return
			}
			agent.ServeHTTP(w, r)
		})
	}
}

// refusing answers some requests with an error of JSON-RPC.
func refusing(which about, code int) breaker {
	return answering(which, func(w http.ResponseWriter, _ *http.Request, body []byte) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, a2a.Parse(body).Root.Get("id").Raw(),
			code)
	})
}

// failing answers some requests with a status of HTTP.
func failing(which about, status int) breaker {
	return answering(which, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%d,"message":"no"}}`, status)
	})
}

// asking changes some requests before the agent sees them: what matches becomes something else, in body and query.
func asking(which about, pattern, instead string) breaker {
	match := regexp.MustCompile(pattern)
	return func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body := bodyOf(r); which(r, body) {
				setBody(r, match.ReplaceAll(body, []byte(instead)))
				r.URL.RawQuery = match.ReplaceAllString(r.URL.RawQuery, instead)
			}
			agent.ServeHTTP(w, r)
		})
	}
}

// saying changes what the agent answers to some requests.
func saying(which about, pattern, instead string) breaker {
	return sayingBy(which, pattern, func() string { return instead })
}

// sayingBy is saying with something else for each answer.
func sayingBy(which about, pattern string, instead func() string) breaker {
	match := regexp.MustCompile(pattern)
	return func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if which(r, bodyOf(r)) {
				w = &editor{ResponseWriter: w, match: match, instead: []byte(instead())}
			}
			agent.ServeHTTP(w, r)
		})
	}
}

// refusedWith puts another status in place of 400.
func refusedWith(which about, status int) breaker {
	return func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if which(r, bodyOf(r)) {
				w = &editor{ResponseWriter: w, match: regexp.MustCompile(`^$`), badRequest: status}
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

// all is several breakers, the first one outermost.
func all(some ...breaker) breaker {
	return func(agent http.Handler) http.Handler {
		for i := len(some) - 1; i >= 0; i-- {
			agent = some[i](agent)
		}
		return agent
	}
}

// counted returns a text that is another each time.
func counted(format string) func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf(format, n.Add(1)) }
}

// expand writes both/ID out as jsonrpc/ID and rest/ID.
func expand(names string) []string {
	var list []string
	for _, name := range strings.Fields(names) {
		if id, ok := strings.CutPrefix(name, "both/"); ok {
			list = append(list, "jsonrpc/"+id, "rest/"+id)
			continue
		}
		list = append(list, name)
	}
	return list
}
