// Package peers holds real A2A ends: agents and clients made with the official SDKs, all with the same behavior, and a
// script that each client plays against an agent.
//
// It exists for tests only. The SDKs are other people's interpretation of the protocol, so nothing that ships may
// depend on them, and no program imports this package. A test plays one [Pair] twice, directly and over a [Route] that
// leads through a tap, and demands the same [Result.Seen] both times; [Result.Arrivals] shows whether anything went
// around the tap.
//
// [Promptfoo] is a third-party client, with a configuration instead of the script.
//
// The SDKs for Go run in this process and in every test run. Those for JavaScript, Python and Java are programs of
// their own under testdata, started by [Program]; testdata/install fetches their pinned dependencies, and the tests
// that need them carry the build tag peers.
//
// Nothing here sleeps to synchronize with the other end. A task that must wait is held by a gate of the agent until the
// client sends "release TASK", which is also an A2A message: an intermediary that delays an event makes the script
// exceed its deadline.
package peers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Bindings as an agent card names them: A2A 0.3 section 5.5.5 and A2A 1.0 section 4.4.6.
const (
	JSONRPC  = "JSONRPC"
	HTTPJSON = "HTTP+JSON"
	GRPC     = "GRPC"
)

// playTimeout bounds one script. The longest takes under two seconds on an idle machine.
const playTimeout = 2 * time.Minute

// A Route leads a client to an agent. It gets the agent's origin (scheme, host and port, without a final slash) and
// returns the origin at which the client should look for the agent card. It cleans up with t.Cleanup.
type Route func(t testing.TB, agentURL string) (clientURL string)

// Direct is the Route with nothing in between.
func Direct(_ testing.TB, agentURL string) string { return agentURL }

// An Agent is an SDK in the role of the agent. Start returns when the agent responds. If the test does not stop it,
// t.Cleanup does.
type Agent struct {
	Name  string // the SDK with its major line, as in "go2", with a suffix for a variant
	Start func(t testing.TB) Running
	Apart bool // its service of gRPC is on another port than its card
}

// Running is an agent that answers.
type Running struct {
	URL  string           // the origin, without a final slash
	Stop func() []Arrival // ends the agent and returns all that has arrived, in order; to be called once
}

// A Client is an SDK in the role of the client. Run plays the script against the agent whose card is found at agentURL,
// speaks the binding, has notifications sent to webhook, and returns everything that it saw, in order. It returns an
// error only if the script could not be played at all; an error that the agent answers is an [Observation].
type Client struct {
	Name string
	Run  func(ctx context.Context, t testing.TB, agentURL, binding, webhook string) ([]Observation, error)

	driver func(h *http.Client) driver // nil for a separate program
}

// driven returns the client that a driver of this process makes.
func driven(name string, make func(h *http.Client) driver) Client {
	return Client{Name: name, driver: make, Run: func(
		ctx context.Context, t testing.TB, agentURL, binding, webhook string,
	) ([]Observation, error) {
		s := &script{driver: make(newHTTPClient(t)), webhook: webhook}
		if held, ok := s.driver.(io.Closer); ok {
			defer held.Close()
		}
		return s.play(ctx, agentURL, binding)
	}}
}

// A Pair is a client and the agent that it is to talk to, with the binding that the client shall choose from the card.
type Pair struct {
	Client  Client
	Agent   Agent
	Binding string // [JSONRPC], [HTTPJSON] or [GRPC]
}

// String returns the pair as CLIENT-AGENT-BINDING in letters that suit a file name.
func (p Pair) String() string {
	binding := map[string]string{JSONRPC: "jsonrpc", HTTPJSON: "rest", GRPC: "grpc"}[p.Binding]
	return fmt.Sprintf("%s-%s-%s", p.Client.Name, p.Agent.Name, binding)
}

// An Arrival is one HTTP request as the agent got it.
type Arrival struct {
	Method string `json:"method"`
	Target string `json:"target"` // the request target: path and query
	Host   string `json:"host"`   // the Host header
	Remote string `json:"remote"` // host:port at the other end of the connection; one value is one connection

	// Sent is the body that the agent wrote in answer, events and all, before any framing of the transfer; of gRPC it
	// has the messages, each behind its prefix. If the client left, not all of it has arrived anywhere.
	Sent string `json:"-"`
}

// A Result is the result of one script.
type Result struct {
	Seen     []string  // what the client and its webhook receiver saw, one line each, as [Lines] makes them
	Arrivals []Arrival // what arrived at the agent
	AgentURL string    // where the agent listened; no client should see it if the route has a tap
}

// Around returns the arrivals that did not come through an intermediary: those whose connection is not among the ones
// that it dialed, given by their local addresses.
func (r Result) Around(dialled []string) (around []Arrival) {
	for _, a := range r.Arrivals {
		if !slices.Contains(dialled, a.Remote) {
			around = append(around, a)
		}
	}
	return around
}

// Play starts the pair's agent, lets the client play the script over the route, and returns what both of them saw.
func Play(t testing.TB, pair Pair, route Route) Result {
	t.Helper()
	agent := pair.Agent.Start(t)
	hook := newWebhook(t)
	agentURL := route(t, agent.URL)

	ctx, cancel := context.WithTimeout(t.Context(), playTimeout)
	defer cancel()
	seen, err := pair.Client.Run(ctx, t, agentURL, pair.Binding, hook.URL)
	if err != nil {
		t.Fatalf("%s: play the script against %s: %v\nseen until then:\n%s",
			pair, agentURL, err, strings.Join(Lines(seen, agentURL, hook.URL), "\n"))
	}
	lines := Lines(append(seen, hook.all(ctx, t, pair)...), agentURL, hook.URL)
	slices.Sort(lines[len(seen):]) // notifications come in any order
	return Result{Seen: lines, Arrivals: agent.Stop(), AgentURL: agent.URL}
}

// serve starts an agent of this process, on a port of loopback chosen by the system, and notes what arrives. The
// handler is made when the URL is known, since a card names it.
func serve(t testing.TB, handler func(url string) http.Handler) Running {
	t.Helper()
	var (
		mu       sync.Mutex
		arrivals []Arrival
		inner    http.Handler
	)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n := len(arrivals)
		arrivals = append(arrivals, Arrival{Method: r.Method, Target: r.RequestURI, Host: r.Host, Remote: r.RemoteAddr})
		mu.Unlock()
		inner.ServeHTTP(&recordingWriter{w, func(p []byte) {
			mu.Lock()
			defer mu.Unlock()
			arrivals[n].Sent += string(p)
		}}, r)
	}))
	url := "http://" + server.Listener.Addr().String()
	inner = handler(url)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true) // which gRPC speaks
	server.Start()
	t.Cleanup(server.Close)
	// The senders of notifications in both Go SDKs use the default transport; its idle connections outlive the test.
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return Running{URL: url, Stop: func() []Arrival {
		server.Close()
		return arrivals
	}}
}

// A recordingWriter records a handler's response.
type recordingWriter struct {
	http.ResponseWriter
	note func(p []byte)
}

// Write implements io.Writer.
func (w *recordingWriter) Write(p []byte) (int, error) {
	w.note(p)
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher, which both Go SDKs ask for before they stream.
func (w *recordingWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

// newHTTPClient returns a client with separate connections, which end with the test.
func newHTTPClient(t testing.TB) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
