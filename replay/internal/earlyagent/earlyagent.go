// Package earlyagent is an agent of the dialect before A2A 0.1, written from its description. It shares no code with
// the reference agents: a second reading of the same text, for tests of the code based on the first. Each of its
// faults breaks one row of the dialect's conformance suite.
package earlyagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// New returns an agent with one fault, or a faultless one if it is empty.
func New(fault string) *Agent {
	return &Agent{
		step: 60 * time.Millisecond, fault: fault, tasks: map[string]*task{}, stop: make(chan struct{}),
	}
}

// Start serves the agent until the test ends, and returns its URL.
func (s *Agent) Start(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + l.Addr().String()
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: s}}
	server.Start()
	t.Cleanup(func() {
		s.close()
		server.Close()
	})
	return s.url
}

// close ends the skills that still run.
func (s *Agent) close() {
	close(s.stop)
	s.finished.Wait()
}

// ServeHTTP implements http.Handler.
func (s *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/.well-known/agent.json":
		s.card(w, r)
	case s.Token != "" && s.fault != "open" && r.Header.Get("Authorization") != "Bearer "+s.Token:
		w.Header().Set("WWW-Authenticate", "Bearer")
		s.reply(w, http.StatusUnauthorized, failure(nil, -32000, "Unauthorized"))
	case r.URL.Path == "/" && r.Method == http.MethodPost:
		s.rpc(w, r)
	case r.URL.Path == "/subscribe" && r.Method == http.MethodPost:
		s.subscribe(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Agent) card(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Methods", "GET, OPTIONS")
	switch {
	case r.Method == http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
		return
	case s.fault == "guarded-card" && r.Header.Get("Authorization") == "":
		s.reply(w, http.StatusUnauthorized, failure(nil, -32000, "Unauthorized"))
		return
	}
	schemes := []string{"none"}
	if s.Token != "" {
		schemes = []string{"bearer"}
	}
	skill := func(id, name, example string) object {
		return object{
			"id": id, "name": name, "description": name + ".", "inputModes": []string{"text/plain"},
			"outputModes": []string{"text/plain"}, "examples": []string{example},
		}
	}
	card := object{
		"name": "Seed", "description": "Repeats what it is told.", "url": s.url + "/", "version": "1.0.0",
		"authentication": object{"schemes": schemes},
		"capabilities":   object{"streaming": true, "pushNotifications": false, "stateTransitionHistory": true},
		"skills": []object{
			skill("repeat", "Repeat", "repeat after me"), skill("book", "Book", "book a table"),
		},
	}
	if edit := cardFaults[s.fault]; edit != nil {
		edit(card, card["skills"].([]object)[0], card["capabilities"].(object))
	}
	s.reply(w, http.StatusOK, card)
}

// cardFaults edit the card, its first skill or its capabilities.
var cardFaults = map[string]func(card, skill, capabilities object){
	"no-name":           func(c, _, _ object) { delete(c, "name") },
	"no-description":    func(c, _, _ object) { delete(c, "description") },
	"no-skills":         func(c, _, _ object) { delete(c, "skills") },
	"no-skill-id":       func(_, s, _ object) { s["id"] = "" },
	"no-skill-name":     func(_, s, _ object) { delete(s, "name") },
	"no-skill-text":     func(_, s, _ object) { s["description"] = "" },
	"no-input-modes":    func(_, s, _ object) { delete(s, "inputModes") },
	"no-output-modes":   func(_, s, _ object) { s["outputModes"] = []string{} },
	"no-token-url":      func(c, _, _ object) { c["authentication"] = object{"schemes": []string{"oauth2"}} },
	"no-key-header":     func(c, _, _ object) { c["authentication"] = object{"schemes": []string{"apiKey"}} },
	"capability-string": func(_, _, f object) { f["stateTransitionHistory"] = "true" },
}

func (s *Agent) reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

func failure(id any, code int, message string) object {
	return object{"jsonrpc": "2.0", "id": id, "error": object{"code": code, "message": message}}
}

// A call is a request of JSON-RPC.
type call struct {
	JSONRPC string `json:"jsonrpc"`
	ID      any    `json:"id"`
	Method  string `json:"method"`
	Params  struct {
		ID            string  `json:"id"`
		SessionID     string  `json:"sessionId"`
		HistoryLength *int    `json:"historyLength"`
		Message       *object `json:"message"`
	} `json:"params"`
}

// read reads a request, or answers it with an error.
func (s *Agent) read(w http.ResponseWriter, r *http.Request) (*call, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return nil, false
	}
	var c call
	var wrongType *json.UnmarshalTypeError
	switch err := json.Unmarshal(body, &c); {
	case errors.As(err, &wrongType) && strings.HasPrefix(wrongType.Field, "params"):
		s.reply(w, http.StatusOK, failure(c.ID, -32602, "Invalid params"))
		return nil, false
	case errors.As(err, &wrongType):
		s.reply(w, http.StatusOK, failure(nil, -32600, "Invalid request"))
		return nil, false
	case err != nil:
		s.reply(w, http.StatusOK, failure(nil, -32700, "Parse error"))
		return nil, false
	case c.JSONRPC != "2.0" || c.Method == "" || c.ID == nil:
		code := -32600
		if s.fault == "invalid-request" {
			code = -32603
		}
		s.reply(w, http.StatusOK, failure(c.ID, code, "Invalid request"))
		return nil, false
	}
	return &c, true
}

func (s *Agent) rpc(w http.ResponseWriter, r *http.Request) {
	c, ok := s.read(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tasks[c.Params.ID]
	var result any
	var refusal object
	switch c.Method {
	case "tasks/send":
		result, refusal = s.send(c)
	case "tasks/get":
		switch {
		case t != nil:
			result = s.shown(t, c.Params.HistoryLength)
		case s.fault == "finds-all":
			result = object{"id": c.Params.ID, "status": object{"state": "working", "timestamp": now()}}
		default:
			refusal = failure(c.ID, -32001, "Task not found: "+c.Params.ID)
		}
	case "tasks/cancel":
		result, refusal = s.cancel(c, t)
	default:
		code := -32601
		if s.fault == "unknown-method" {
			code = -32603
		}
		refusal = failure(c.ID, code, "Method not found: "+c.Method)
	}
	if refusal != nil {
		s.reply(w, http.StatusOK, refusal)
		return
	}
	s.reply(w, http.StatusOK, object{"jsonrpc": "2.0", "id": c.ID, "result": result})
}

func (s *Agent) cancel(c *call, t *task) (any, object) {
	switch {
	case t == nil:
		return nil, failure(c.ID, -32001, "Task not found: "+c.Params.ID)
	case t.over() && s.fault == "cancels-completed":
		return s.shown(t, nil), nil
	case t.over():
		return nil, failure(c.ID, -32002, "Cannot cancel a task that is "+t.state())
	case s.fault != "ignores-cancel":
		s.move(t, "canceled", "")
	}
	return s.shown(t, nil), nil
}

// send creates a task, or continues a waiting one.
func (s *Agent) send(c *call) (any, object) {
	if c.Params.ID == "" || c.Params.Message == nil {
		return nil, failure(c.ID, -32602, "id and message are needed")
	}
	t := s.tasks[c.Params.ID]
	text := textOf(*c.Params.Message)
	switch {
	case t == nil:
		t = &task{id: c.Params.ID, session: c.Params.SessionID, listeners: map[chan event]bool{}}
		s.tasks[t.id] = t
		s.move(t, "submitted", "")
		s.finished.Go(func() { s.work(t, text) })
	case t.state() != "input-required":
		return nil, failure(c.ID, -32002, "Cannot send to a task that is "+t.state())
	default:
		s.move(t, "working", "")
		s.finished.Go(func() { s.answer(t, text) })
	}
	return s.shown(t, nil), nil
}

func textOf(message object) string {
	var words []string
	parts, _ := message["parts"].([]any)
	for _, p := range parts {
		if part, ok := p.(map[string]any); ok {
			words = append(words, fmt.Sprint(part["text"]))
		}
	}
	return strings.Join(words, " ")
}

// shown returns a task with the last entries of its history.
func (s *Agent) shown(t *task, historyLength *int) object {
	history := t.history
	if historyLength != nil && *historyLength < len(history) {
		history = history[len(history)-max(*historyLength, 0):]
	}
	if s.fault == "short-history" {
		history = history[len(history)-1:]
	}
	return object{
		"id": t.id, "sessionId": t.session, "status": t.status, "history": slices.Clone(history),
		"artifacts": slices.Clone(t.artifacts),
	}
}

// subscribe streams the events of a task.
func (s *Agent) subscribe(w http.ResponseWriter, r *http.Request) {
	c, ok := s.read(w, r)
	if !ok {
		return
	}
	if c.Method != "tasks/sendSubscribe" {
		s.reply(w, http.StatusBadRequest, object{"error": "Only tasks/sendSubscribe supported"})
		return
	}
	events := make(chan event, 64)
	s.mu.Lock()
	_, refusal := s.send(c)
	if refusal != nil {
		s.mu.Unlock()
		s.reply(w, http.StatusOK, refusal)
		return
	}
	t := s.tasks[c.Params.ID]
	first := event{"status", object{"id": t.id, "status": t.status}, false}
	t.listeners[events] = true
	if s.fault == "forgets-left" {
		delete(s.tasks, t.id) // only the stream knows it
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(t.listeners, events)
	}()
	if s.fault == "no-stream" {
		s.reply(w, http.StatusOK, object{"jsonrpc": "2.0", "id": c.ID, "result": first.body})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Connection", "keep-alive")
	if s.fault != "starts-late" {
		s.event(w, c.ID, first)
	}
	s.follow(w, r, c, events)
}
