package earlyagent

import (
	"slices"
	"sync"
	"time"
)

// An Agent is an agent of the dialect before A2A 0.1. One skill echoes its input, another asks a question.
type Agent struct {
	// Token is required for all requests but the card, if it is not empty. Set it before the server starts.
	Token string

	url   string // set when it listens
	step  time.Duration
	fault string // empty for none

	mu       sync.Mutex
	tasks    map[string]*task
	finished sync.WaitGroup
	stop     chan struct{} // closed when the server ends
}

// A task is one task; its written form is made under the server's lock.
type task struct {
	id, session string
	status      object
	history     []object
	artifacts   []object
	listeners   map[chan event]bool
}

type object = map[string]any

// An event is an event for a listener.
type event struct {
	name string
	body object
	last bool
}

func (t *task) state() string { return t.status["state"].(string) }

func (t *task) over() bool {
	return slices.Contains([]string{"completed", "failed", "canceled"}, t.state())
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// move puts a task into a state and tells its listeners. The server is locked.
func (s *Agent) move(t *task, state, text string) {
	status := object{"state": state, "timestamp": now()}
	if text != "" {
		status["message"] = object{"role": "agent", "parts": []object{{"type": "text", "text": text}}}
	}
	t.status = status
	t.history = append(t.history, status)
	body := object{"id": t.id, "status": status}
	if t.over() && s.fault != "no-final" {
		body["final"] = true
	}
	s.tell(t, event{"status", body, t.over()})
}

func (s *Agent) tell(t *task, e event) {
	for to := range t.listeners {
		to <- e // its buffer holds all events of a task
	}
}
