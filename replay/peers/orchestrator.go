package peers

import (
	"encoding/json"
	"io"
	"maps"
	"sync"
	"testing"
	"time"
)

// notifications is the number of push notifications about a task: submitted, working, its artifact, its end. They come
// in any order.
const notifications = 4

// A Plan configures which agents an orchestrator asks about each message of a user, and how: three agents in parallel;
// or one, as in a chain of orchestrators; or none, at the end of the chain. The URLs are origins, where it looks for
// agent cards. When all have answered, it answers the user with a completed task.
//
// It sends each of the three agents the word that triggers its behavior, and the user's text in a separate part.
type Plan struct {
	Stream string `json:"stream"` // follows a task by stream, and releases it when the other two have answered
	Push   string `json:"push"`   // has itself notified of a task, and asks for it after the last notification
	Fail   string `json:"fail"`   // waits for the answer, which is a task that has failed

	// What a planner has instead of these: a proxy, and origins of the models, unless its environment names them; origins
	// of two agents; the endpoint of an MCP server; and the command of one on standard input and output, which serves all
	// plans.
	Proxy   string   `json:"proxy,omitempty"`
	Models  string   `json:"models,omitempty"`
	Weather string   `json:"weather,omitempty"`
	Clock   []string `json:"clock,omitempty"`
	Book    string   `json:"book,omitempty"`
	Paint   string   `json:"paint,omitempty"`

	Next string `json:"next"` // instead of the three: gets the user's text; the orchestrator waits for it

	// Binding is that in which it asks, of those that the Go SDK has; empty for JSONRPC.
	Binding string `json:"binding"`

	// Trace propagates the user's trace, or else a new one, each call with a separate span id (W3C Trace Context).
	Trace    bool `json:"trace"`
	Context  bool `json:"context"`  // has its tasks made in the user's context
	Together int  `json:"together"` // the users that it waits for, before it asks and before it answers
}

// An Orchestrator is an agent, in a separate process, that asks others before it answers a user. Each of its requests
// has a random X-Request-Id. It tells its parent, not on the wire, for which message it made each request. Tests
// compare what was inferred from the traffic with that ground truth.
type Orchestrator struct {
	URL   string // the origin, without a final slash
	Proxy string // the proxy that its environment names, for planners

	stdin   io.Writer
	planned chan struct{}
	plan    Plan

	mu    sync.Mutex
	calls map[string]string
}

// Orchestrator starts the SDK as an orchestrator. It ends with the test.
func (p Program) Orchestrator(t testing.TB) *Orchestrator {
	t.Helper()
	o := &Orchestrator{planned: make(chan struct{}, 1), calls: make(map[string]string)}
	o.URL, o.stdin, _ = p.start(t, "orchestrator", o.line)
	return o
}

// Planner starts a planner: an orchestrator in which a model of a framework decides which tools to call and whom to ask.
// Its requests have their X-Request-Id, and calls over standard input and output have it in their _meta. stop ends it, and
// waits until it has ended.
func (p Program) Planner(t testing.TB, framework string) (o *Orchestrator, stop func()) {
	t.Helper()
	o = &Orchestrator{planned: make(chan struct{}, 1), calls: make(map[string]string)}
	o.URL, o.stdin, stop = p.start(t, "planner", o.line, framework)
	return o, stop
}

// Follow makes the orchestrator follow a plan from the next message on.
func (o *Orchestrator) Follow(t testing.TB, plan Plan) {
	t.Helper()
	o.plan = plan
	if err := json.NewEncoder(o.stdin).Encode(plan); err != nil {
		t.Fatalf("tell the orchestrator its plan: %v", err)
	}
	select {
	case <-o.planned:
	case <-time.After(playTimeout):
		t.Fatalf("the orchestrator has not taken its plan within %v", playTimeout)
	}
}

// Calls returns all requests that the orchestrator has made: by X-Request-Id, the id of the message on whose behalf; and
// by its id, the same of a message that went to the next of a chain. No user may be waiting for an answer.
func (o *Orchestrator) Calls(t testing.TB) map[string]string {
	t.Helper()
	o.Follow(t, o.plan) // then its output before it accepts the plan has been read
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.calls)
}

// An orchestratorLine is a line of an orchestrator's output: one of these.
type orchestratorLine struct {
	Planned bool   `json:"planned,omitempty"`
	Call    string `json:"call,omitempty"` // an X-Request-Id, or the id of a message
	For     string `json:"for,omitempty"`  // with Call
	Proxy   string `json:"proxy,omitempty"`
}

func (o *Orchestrator) line(line []byte) {
	var said orchestratorLine
	if err := json.Unmarshal(line, &said); err != nil {
		return // SDKs print lines of their own
	}
	if said.Planned {
		o.planned <- struct{}{}
	}
	if said.Proxy != "" {
		o.Proxy = said.Proxy
	}
	if said.Call != "" {
		o.mu.Lock()
		o.calls[said.Call] = said.For
		o.mu.Unlock()
	}
}
