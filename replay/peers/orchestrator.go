package peers

import (
	"encoding/json"
	"io"
	"maps"
	"sync"
	"testing"
	"time"
)

// notifications is how many of them an agent sends about the task that is pushed: that it is there, that it is worked
// on, its artifact, its end. They come in any order.
const notifications = 4

// A Plan says whom an orchestrator asks about each message of a user, and how: three agents, all at the same time; or
// one, as in a chain of orchestrators; or, as the last of that, nobody. The URLs are origins, at which it looks for agent
// cards. When all have answered, it answers the user with a task that is completed.
//
// To each of the three it sends the word that moves the agent, and the user's text in a part of its own.
type Plan struct {
	Stream string `json:"stream"` // follows a task by stream, and releases it when the other two have answered
	Push   string `json:"push"`   // has itself notified of a task, and asks for it after the last notification
	Fail   string `json:"fail"`   // waits for the answer, which is a task that has failed

	Next string `json:"next"` // in place of the three: gets the user's text, and is waited for

	// Binding is that in which it asks, of those that the Go SDK has; empty for JSONRPC.
	Binding string `json:"binding"`

	// Trace hands the user's trace on, or else one that begins here, each call with a span id of its own (W3C Trace
	// Context).
	Trace    bool `json:"trace"`
	Context  bool `json:"context"`  // has its tasks made in the user's context
	Together int  `json:"together"` // the users that it waits for, before it asks and before it answers
}

// An Orchestrator is an agent, in a process of its own, that asks others before it answers a user. Each of its requests
// has a random X-Request-Id, and it says for which message it made it, to its parent and not on the wire: that is the
// truth, to which what is made out from the traffic can be held.
type Orchestrator struct {
	URL string // the origin, without a final slash

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
	o.Follow(t, o.plan) // what it said before it takes the plan has then been read
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.calls)
}

// An orchestratorLine is what an orchestrator prints: one of these.
type orchestratorLine struct {
	Planned bool   `json:"planned,omitempty"`
	Call    string `json:"call,omitempty"` // an X-Request-Id, or the id of a message
	For     string `json:"for,omitempty"`  // with Call
}

func (o *Orchestrator) line(line []byte) {
	var said orchestratorLine
	if err := json.Unmarshal(line, &said); err != nil {
		return // SDKs print lines of their own
	}
	if said.Planned {
		o.planned <- struct{}{}
	}
	if said.Call != "" {
		o.mu.Lock()
		o.calls[said.Call] = said.For
		o.mu.Unlock()
	}
}
