package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
)

// This file knows how what was spoken before A2A 0.1 was written down differs from 0.1: streams have an address of
// their own, where their events have names; the history of a task is one of statuses; codes have other meanings; and
// push notifications say what happened in a form of their own. All else is as in 0.1.

// methodsEarly are the JSON-RPC methods before 0.1. Whoever lost a stream asks for the task.
var methodsEarly = map[Operation]string{
	SendMessage:      "tasks/send",
	StreamMessage:    "tasks/sendSubscribe",
	GetTask:          "tasks/get",
	CancelTask:       "tasks/cancel",
	CreatePushConfig: "tasks/pushNotification/set",
	GetPushConfig:    "tasks/pushNotification/get",
}

// streamPath is where an operation has its address below that of the interface.
func (p Protocol) streamPath(op Operation) string {
	if p == Early && op == StreamMessage {
		return "/subscribe"
	}
	return ""
}

// Reasons of an Error that only agents from before A2A 0.1 give.
const (
	EarlyUnauthorized    = "AUTHENTICATION_REQUIRED"
	EarlyInvalidState    = "INVALID_TASK_STATE" // the task cannot go on, mostly since it has ended
	EarlyFull            = "RESOURCE_EXHAUSTED" // there is no room for another task
	EarlyInsecureWebhook = "INSECURE_WEBHOOK"   // the webhook's URL is not https
)

// earlyReason returns what a code means as an answer to the call. Package a2a reads it in the same way.
func (in call) earlyReason(code int) string {
	aboutPush := in.webhook != "" || in.op == GetPushConfig
	switch {
	case code == -32000:
		return EarlyUnauthorized
	case code == -32002 && in.op != CancelTask:
		return EarlyInvalidState
	case code == -32003 && !aboutPush:
		return EarlyFull
	case code == -32004 && in.webhook != "" && !strings.HasPrefix(in.webhook, "https:"):
		return EarlyInsecureWebhook
	case code < -32004:
		return "" // what came later
	}
	return reasons[code]
}

// webhook returns the URL of the push config, or nothing.
func (o SendOptions) webhook() string {
	if o.Push == nil {
		return ""
	}
	return o.Push.URL
}

// readEarlyNotification reads {taskId, eventType, status, timestamp}; the status may be just the state.
func readEarlyNotification(body []byte) (Event, error) {
	var w struct {
		TaskID    string          `json:"taskId"`
		EventType string          `json:"eventType"`
		Status    json.RawMessage `json:"status"`
		Timestamp string          `json:"timestamp"`
	}
	if err := unmarshal(body, &w); err != nil {
		return Event{}, err
	}
	if w.TaskID == "" || w.EventType == "" || len(w.Status) == 0 {
		return Event{}, errors.New("is not a notification from before 0.1")
	}
	var s wireStatus
	if unmarshal(w.Status, &s.State) != nil {
		if err := unmarshal(w.Status, &s); err != nil {
			return Event{}, err
		}
	}
	s.Timestamp = cmp.Or(s.Timestamp, w.Timestamp)
	status, err := s.decode()
	return Event{
		Name: w.EventType, Status: &StatusUpdate{TaskID: w.TaskID, Status: status, Raw: body}, Raw: body, Result: body,
	}, err
}
