package probe_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A seedServer is a server of the dialect before A2A 0.1 as its description has it, and shares no code with the
// reference agents: a second reading of the same text. One skill repeats what it is told, another asks back.
type seedServer struct {
	url   string // set when it listens
	token string // asked for on all but the card, if it is not empty
	step  time.Duration
	fault string // one of seedFaults; empty for none

	mu       sync.Mutex
	tasks    map[string]*seedTask
	finished sync.WaitGroup
	stop     chan struct{} // closed when the server ends
}

func newSeedServer(fault string) *seedServer {
	return &seedServer{
		step: 60 * time.Millisecond, fault: fault, tasks: map[string]*seedTask{}, stop: make(chan struct{}),
	}
}

// close ends the skills that still run.
func (s *seedServer) close() {
	close(s.stop)
	s.finished.Wait()
}

// A seedTask is one task; what is written to clients is made of it under the server's lock.
type seedTask struct {
	id, session string
	status      seedObject
	history     []seedObject
	artifacts   []seedObject
	listeners   map[chan seedEvent]bool
}

type seedObject = map[string]any

// A seedEvent is what a listener hears.
type seedEvent struct {
	name string
	body seedObject
	last bool
}

func (t *seedTask) state() string { return t.status["state"].(string) }

func (t *seedTask) over() bool {
	return slices.Contains([]string{"completed", "failed", "canceled"}, t.state())
}

// ServeHTTP implements http.Handler.
func (s *seedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/.well-known/agent.json":
		s.card(w, r)
	case s.token != "" && s.fault != "open" && r.Header.Get("Authorization") != "Bearer "+s.token:
		w.Header().Set("WWW-Authenticate", "Bearer")
		s.reply(w, http.StatusUnauthorized, seedError(nil, -32000, "Unauthorized"))
	case r.URL.Path == "/" && r.Method == http.MethodPost:
		s.rpc(w, r)
	case r.URL.Path == "/subscribe" && r.Method == http.MethodPost:
		s.subscribe(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *seedServer) card(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Methods", "GET, OPTIONS")
	switch {
	case r.Method == http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
		return
	case s.fault == "guarded-card" && r.Header.Get("Authorization") == "":
		s.reply(w, http.StatusUnauthorized, seedError(nil, -32000, "Unauthorized"))
		return
	}
	schemes := []string{"none"}
	if s.token != "" {
		schemes = []string{"bearer"}
	}
	skill := func(id, name, example string) seedObject {
		return seedObject{
			"id": id, "name": name, "description": name + ".", "inputModes": []string{"text/plain"},
			"outputModes": []string{"text/plain"}, "examples": []string{example},
		}
	}
	card := seedObject{
		"name": "Seed", "description": "Repeats what it is told.", "url": s.url + "/", "version": "1.0.0",
		"authentication": seedObject{"schemes": schemes},
		"capabilities":   seedObject{"streaming": true, "pushNotifications": false, "stateTransitionHistory": true},
		"skills": []seedObject{
			skill("repeat", "Repeat", "repeat after me"), skill("book", "Book", "book a table"),
		},
	}
	if edit := seedCardFaults[s.fault]; edit != nil {
		edit(card, card["skills"].([]seedObject)[0], card["capabilities"].(seedObject))
	}
	s.reply(w, http.StatusOK, card)
}

// seedCardFaults edit the card, its first skill or its capabilities.
var seedCardFaults = map[string]func(card, skill, capabilities seedObject){
	"no-name":           func(c, _, _ seedObject) { delete(c, "name") },
	"no-description":    func(c, _, _ seedObject) { delete(c, "description") },
	"no-skills":         func(c, _, _ seedObject) { delete(c, "skills") },
	"no-skill-id":       func(_, s, _ seedObject) { s["id"] = "" },
	"no-skill-name":     func(_, s, _ seedObject) { delete(s, "name") },
	"no-skill-text":     func(_, s, _ seedObject) { s["description"] = "" },
	"no-input-modes":    func(_, s, _ seedObject) { delete(s, "inputModes") },
	"no-output-modes":   func(_, s, _ seedObject) { s["outputModes"] = []string{} },
	"no-token-url":      func(c, _, _ seedObject) { c["authentication"] = seedObject{"schemes": []string{"oauth2"}} },
	"no-key-header":     func(c, _, _ seedObject) { c["authentication"] = seedObject{"schemes": []string{"apiKey"}} },
	"capability-string": func(_, _, f seedObject) { f["stateTransitionHistory"] = "true" },
}

func (s *seedServer) reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

func seedError(id any, code int, message string) seedObject {
	return seedObject{"jsonrpc": "2.0", "id": id, "error": seedObject{"code": code, "message": message}}
}

// A seedCall is a request of JSON-RPC.
type seedCall struct {
	JSONRPC string `json:"jsonrpc"`
	ID      any    `json:"id"`
	Method  string `json:"method"`
	Params  struct {
		ID            string      `json:"id"`
		SessionID     string      `json:"sessionId"`
		HistoryLength *int        `json:"historyLength"`
		Message       *seedObject `json:"message"`
	} `json:"params"`
}

// read reads a request, or answers what is wrong with it.
func (s *seedServer) read(w http.ResponseWriter, r *http.Request) (*seedCall, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return nil, false
	}
	var c seedCall
	var wrongType *json.UnmarshalTypeError
	switch err := json.Unmarshal(body, &c); {
	case errors.As(err, &wrongType) && strings.HasPrefix(wrongType.Field, "params"):
		s.reply(w, http.StatusOK, seedError(c.ID, -32602, "Invalid params"))
		return nil, false
	case errors.As(err, &wrongType):
		s.reply(w, http.StatusOK, seedError(nil, -32600, "Invalid request"))
		return nil, false
	case err != nil:
		s.reply(w, http.StatusOK, seedError(nil, -32700, "Parse error"))
		return nil, false
	case c.JSONRPC != "2.0" || c.Method == "" || c.ID == nil:
		code := -32600
		if s.fault == "invalid-request" {
			code = -32603
		}
		s.reply(w, http.StatusOK, seedError(c.ID, code, "Invalid request"))
		return nil, false
	}
	return &c, true
}

func (s *seedServer) rpc(w http.ResponseWriter, r *http.Request) {
	c, ok := s.read(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tasks[c.Params.ID]
	var result any
	var refusal seedObject
	switch c.Method {
	case "tasks/send":
		result, refusal = s.send(c)
	case "tasks/get":
		switch {
		case t != nil:
			result = s.shown(t, c.Params.HistoryLength)
		case s.fault == "finds-all":
			result = seedObject{"id": c.Params.ID, "status": seedObject{"state": "working", "timestamp": now()}}
		default:
			refusal = seedError(c.ID, -32001, "Task not found: "+c.Params.ID)
		}
	case "tasks/cancel":
		result, refusal = s.cancel(c, t)
	default:
		code := -32601
		if s.fault == "unknown-method" {
			code = -32603
		}
		refusal = seedError(c.ID, code, "Method not found: "+c.Method)
	}
	if refusal != nil {
		s.reply(w, http.StatusOK, refusal)
		return
	}
	s.reply(w, http.StatusOK, seedObject{"jsonrpc": "2.0", "id": c.ID, "result": result})
}

func (s *seedServer) cancel(c *seedCall, t *seedTask) (any, seedObject) {
	switch {
	case t == nil:
		return nil, seedError(c.ID, -32001, "Task not found: "+c.Params.ID)
	case t.over() && s.fault == "cancels-completed":
		return s.shown(t, nil), nil
	case t.over():
		return nil, seedError(c.ID, -32002, "Cannot cancel a task that is "+t.state())
	case s.fault != "ignores-cancel":
		s.move(t, "canceled", "")
	}
	return s.shown(t, nil), nil
}

// send creates a task, or goes on with one that waits.
func (s *seedServer) send(c *seedCall) (any, seedObject) {
	if c.Params.ID == "" || c.Params.Message == nil {
		return nil, seedError(c.ID, -32602, "id and message are needed")
	}
	t := s.tasks[c.Params.ID]
	text := seedText(*c.Params.Message)
	switch {
	case t == nil:
		t = &seedTask{id: c.Params.ID, session: c.Params.SessionID, listeners: map[chan seedEvent]bool{}}
		s.tasks[t.id] = t
		s.move(t, "submitted", "")
		s.finished.Go(func() { s.work(t, text) })
	case t.state() != "input-required":
		return nil, seedError(c.ID, -32002, "Cannot send to a task that is "+t.state())
	default:
		s.move(t, "working", "")
		s.finished.Go(func() { s.answer(t, text) })
	}
	return s.shown(t, nil), nil
}

func seedText(message seedObject) string {
	var words []string
	parts, _ := message["parts"].([]any)
	for _, p := range parts {
		if part, ok := p.(map[string]any); ok {
			words = append(words, fmt.Sprint(part["text"]))
		}
	}
	return strings.Join(words, " ")
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// shown returns a task with the last entries of its history.
func (s *seedServer) shown(t *seedTask, historyLength *int) seedObject {
	history := t.history
	if historyLength != nil && *historyLength < len(history) {
		history = history[len(history)-max(*historyLength, 0):]
	}
	if s.fault == "short-history" {
		history = history[len(history)-1:]
	}
	return seedObject{
		"id": t.id, "sessionId": t.session, "status": t.status, "history": slices.Clone(history),
		"artifacts": slices.Clone(t.artifacts),
	}
}

// move puts a task into a state and tells its listeners. The server is locked.
func (s *seedServer) move(t *seedTask, state, text string) {
	status := seedObject{"state": state, "timestamp": now()}
	if text != "" {
		status["message"] = seedObject{"role": "agent", "parts": []seedObject{{"type": "text", "text": text}}}
	}
	t.status = status
	t.history = append(t.history, status)
	body := seedObject{"id": t.id, "status": status}
	if t.over() && s.fault != "no-final" {
		body["final"] = true
	}
	s.tell(t, seedEvent{"status", body, t.over()})
}

func (s *seedServer) tell(t *seedTask, e seedEvent) {
	for to := range t.listeners {
		to <- e // which holds all events that a task can have
	}
}
