package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"

	"a2atap/replay/refagent"
)

// noisyagent NAME [flaky] starts the reference agent spec, and sets NAME to its URL. Its tasks and
// updates have metadata besides, which are others in each answer: how long it took, and in every second answer that it
// had been kept. One that is flaky fails every second task.
func scriptNoisyAgent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: noisyagent NAME [flaky]")
	}
	agent, err := refagent.New("spec", refagent.Options{StepTime: 1})
	ts.Check(err)
	n := &noisy{agent: agent, flaky: len(args) > 1 && args[1] == "flaky"}
	server := httptest.NewServer(n)
	ts.Defer(func() {
		server.Close()
		agent.Close()
	})
	ts.Setenv(args[0], server.URL+agent.Path())
}

type noisy struct {
	agent   http.Handler
	flaky   bool
	answers atomic.Int64
}

func (n *noisy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		n.agent.ServeHTTP(w, r)
		return
	}
	n.agent.ServeHTTP(&noisyWriter{w, n.flaky, n.answers.Add(1)}, r)
}

// noisyWriter adds metadata to what is written. The reference agents write each answer and each event at once.
type noisyWriter struct {
	http.ResponseWriter
	flaky  bool
	answer int64
}

func (w *noisyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *noisyWriter) WriteHeader(status int) {
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(status)
}

func (w *noisyWriter) Write(b []byte) (int, error) {
	w.Header().Del("Content-Length")
	metadata := fmt.Sprintf(`"took":"%dms"`, 10+w.answer)
	if w.answer%2 == 0 {
		metadata += `,"cached":true`
	}
	text := strings.ReplaceAll(string(b), `"status":{`, `"metadata":{`+metadata+`},"status":{`)
	if w.flaky && w.answer%2 == 0 {
		text = strings.ReplaceAll(text, "TASK_STATE_COMPLETED", "TASK_STATE_FAILED")
	}
	_, err := w.ResponseWriter.Write([]byte(text))
	return len(b), err
}
