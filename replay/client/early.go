package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"a2atap/proxy/a2a"
)

// This file has the differences between A2A 0.1 and the protocol before it was published: streams have a separate
// address and named events; a task's history is a list of statuses; error codes have other meanings; and push
// notifications have another format. Everything else is as in 0.1.

// streamPath returns the path of an operation below the interface's address.
func (p Protocol) streamPath(op a2a.Operation) string {
	if p == Early && op == a2a.SendStreamingMessage {
		return "/subscribe"
	}
	return ""
}

// Reasons of an Error that only agents from before A2A 0.1 give.
const (
	EarlyUnauthorized    = "AUTHENTICATION_REQUIRED"
	EarlyInvalidState    = "INVALID_TASK_STATE" // the task cannot continue, usually because it has ended
	EarlyFull            = "RESOURCE_EXHAUSTED" // there is no room for another task
	EarlyInsecureWebhook = "INSECURE_WEBHOOK"   // the webhook's URL is not https
)

// earlyReason returns the meaning of an error code for the call. Package a2a reads it in the same way.
func (in call) earlyReason(code int) string {
	aboutPush := in.webhook != "" || in.op == a2a.GetPushConfig
	switch {
	case code == -32000:
		return EarlyUnauthorized
	case code == -32002 && in.op != a2a.CancelTask:
		return EarlyInvalidState
	case code == -32003 && !aboutPush:
		return EarlyFull
	case code == -32004 && in.webhook != "" && !strings.HasPrefix(in.webhook, "https:"):
		return EarlyInsecureWebhook
	case code < -32004:
		return "" // a later addition
	}
	return reasonOf(code)
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
		return Event{}, errors.New("is not a notification of the dialect before 0.1")
	}
	var s Status
	if unmarshal(w.Status, &s.State) != nil {
		if err := unmarshal(w.Status, &s); err != nil {
			return Event{}, err
		}
	}
	s.Timestamp = cmp.Or(s.Timestamp, w.Timestamp)
	return Event{
		Name: w.EventType, Status: &StatusUpdate{TaskID: w.TaskID, Status: s, Raw: body}, Raw: body, Result: body,
	}, nil
}
