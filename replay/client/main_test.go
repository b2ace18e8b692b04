package client

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A scriptedAgent answers each request as the test specifies, and keeps the requests.
type scriptedAgent struct {
	url  string
	seen chan seen
}

type seen struct {
	method, path, body string
	header             http.Header
}

// agent serves a handler's answers; the handler receives the body after it has been read.
func agent(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *scriptedAgent {
	a := &scriptedAgent{seen: make(chan seen, 100)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		expect.OK(t, err)
		a.seen <- seen{r.Method, r.URL.RequestURI(), string(body), r.Header.Clone()}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	a.url = s.URL
	return a
}

// reply gives every request the same answer.
func reply(status int, mediaType, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// speak returns a client of an agent; all its ids are "id".
func speak(t *testing.T, a *scriptedAgent, p Protocol, o Options) *Client {
	t.Helper()
	if o.NewID == nil {
		o.NewID = func() string { return "id" }
	}
	c := must.Get(New(Interface{URL: a.url + "/a/", Protocol: p}, o))(t)
	t.Cleanup(c.Close)
	return c
}
