package earlyagent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// pause waits for a step. It returns false if the server ends.
func (s *Agent) pause() bool {
	timer := time.NewTimer(s.step)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.stop:
		return false
	}
}

// do changes a task unless it has ended, and reports whether it did.
func (s *Agent) do(t *task, change func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.over() {
		return false
	}
	change()
	return true
}

// waits is the number of steps of a task that waits for cancellation.
const waits = 200

// work is the skills' work on a new task.
func (s *Agent) work(t *task, text string) {
	switch {
	case strings.HasPrefix(text, "repeat"):
		if !s.pause() || !s.do(t, func() { s.move(t, "working", "") }) || s.fault == "never-ends" {
			return
		}
		s.answer(t, text)
	case strings.HasPrefix(text, "book"):
		if s.pause() && s.do(t, func() { s.move(t, "working", "") }) && s.pause() {
			s.do(t, func() { s.move(t, "input-required", "Which day?") })
		}
	case strings.HasPrefix(text, "wait"):
		for range waits {
			if !s.pause() || !s.do(t, func() {}) {
				return
			}
		}
		s.answer(t, text)
	default:
		s.do(t, func() { s.move(t, "failed", "No matching skill for this request.") })
	}
}

// answer gives an artifact and completes the task.
func (s *Agent) answer(t *task, text string) {
	if !s.pause() || !s.do(t, func() {
		a := object{"index": 0, "name": "answer", "parts": []object{{"type": "text", "text": "you said: " + text}}}
		t.artifacts = append(t.artifacts, a)
		s.tell(t, event{"artifact", object{"id": t.id, "artifact": a}, false})
	}) {
		return
	}
	if s.pause() {
		end := "completed"
		if s.fault == "fails" {
			end = "failed"
		}
		s.do(t, func() { s.move(t, end, "") })
	}
}

// follow writes events until the task has ended or the client has left.
func (s *Agent) follow(w http.ResponseWriter, r *http.Request, c *call, events chan event) {
	for n := 0; ; n++ {
		select {
		case e := <-events:
			if s.fault == "starts-late" && e.name == "status" && !e.last {
				continue
			}
			s.event(w, c.ID, e)
			if s.fault == "other-event" && n == 0 {
				s.event(w, c.ID, event{"progress", object{"id": c.Params.ID, "percent": 50}, false})
			}
			if !e.last {
				continue
			}
			if s.fault == "goes-on" {
				s.event(w, c.ID, event{"status", e.body, true})
			}
			if s.fault != "stays-open" {
				return
			}
		case <-r.Context().Done():
			return
		case <-s.stop:
			return
		}
	}
}

func (s *Agent) event(w http.ResponseWriter, id any, e event) {
	s.mu.Lock()
	data, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "result": e.body})
	s.mu.Unlock()
	if err != nil {
		return
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, data)
	w.(http.Flusher).Flush()
}
