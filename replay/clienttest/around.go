package clienttest

import (
	"bytes"
	"net/http"
	"strings"
)

// rewriting returns an agent whose answers to paths with the given ending are edited as they are written. Each write
// is a whole body or a whole event.
func rewriting(agent http.Handler, fits func(*http.Request) bool, edit func([]byte) []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fits(r) {
			r.Header.Del("Accept-Encoding")
			w = &rewriter{ResponseWriter: w, edit: edit}
		}
		agent.ServeHTTP(w, r)
	})
}

// A rewriter edits written data.
type rewriter struct {
	http.ResponseWriter
	edit func([]byte) []byte
}

func (w *rewriter) WriteHeader(status int) {
	w.Header().Del("Content-Length") // it will be another one
	w.ResponseWriter.WriteHeader(status)
}

func (w *rewriter) Write(p []byte) (int, error) {
	_, err := w.ResponseWriter.Write(w.edit(p))
	return len(p), err
}

// Unwrap lets [http.ResponseController] flush.
func (w *rewriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements [http.Flusher].
func (w *rewriter) Flush() { http.NewResponseController(w.ResponseWriter).Flush() } //nolint:errcheck // the client has left

func cardAsked(r *http.Request) bool { return strings.Contains(r.URL.Path, "/.well-known/") }

func anything(*http.Request) bool { return true }

// strangeInterface puts an interface of a custom binding before the card's interfaces.
func strangeInterface(agent http.Handler) http.Handler {
	return rewriting(agent, cardAsked, func(p []byte) []byte {
		const list = `"supportedInterfaces":[`
		return bytes.Replace(p, []byte(list), []byte(list+`{"url":"https://custom.invalid/agent",`+
			`"protocolBinding":"https://a2atap.example/bindings/custom","protocolVersion":"1.0"},`), 1)
	})
}

// strangeMembers gives card, tasks and statuses a member that no version has.
func strangeMembers(agent http.Handler) http.Handler {
	return rewriting(agent, anything, func(p []byte) []byte {
		for _, object := range []string{"capabilities", "task", "status", "statusUpdate"} {
			p = bytes.ReplaceAll(p, []byte(`"`+object+`":{`), []byte(`"`+object+`":{"a2atapUnknown":{"a":[1]},`))
		}
		return p
	})
}

// strangeFrames writes events in rare but valid forms: with comments, unknown fields and other line ends.
func strangeFrames(agent http.Handler) http.Handler {
	return rewriting(agent, anything, func(p []byte) []byte {
		if !bytes.HasPrefix(p, []byte("data:")) {
			return p
		}
		p = bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
		return append([]byte(": keep alive\r\nretry: 3000\r\nmood: fine\r\n"), p...)
	})
}

// htmlCard serves an HTML page instead of the card.
func htmlCard(agent http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !cardAsked(r) {
			agent.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte("<!doctype html><title>Welcome</title><p>There is an agent behind this page.")) //nolint:errcheck // the client has left
	})
}
