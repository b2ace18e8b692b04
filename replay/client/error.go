package client

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"a2atap/proxy/grpc"
)

// An Error is an agent's refusal. Every operation may return one.
type Error struct {
	Code       int    // JSON-RPC code; in the other bindings the one that belongs to Reason, or 0
	Reason     string // of A2A 1.0 §5.4, such as TASK_NOT_FOUND, or one of the Early… ones; empty for other errors
	HTTPStatus int
	Status     string // of gRPC, by its name, such as NOT_FOUND; empty in the other bindings
	Message    string
	Raw        []byte // the body of the answer, or the data of the event
}

// Error implements the error interface.
func (e *Error) Error() string {
	var about []string
	if e.Code != 0 {
		about = append(about, fmt.Sprint(e.Code))
	}
	if e.Reason != "" {
		about = append(about, e.Reason)
	}
	if e.Status != "" {
		about = append(about, e.Status)
	}
	if e.HTTPStatus != 200 {
		about = append(about, fmt.Sprintf("HTTP %d", e.HTTPStatus))
	}
	message := cmp.Or(e.Message, "no message")
	if len(about) == 0 { // an event of a stream that was begun with 200
		return "agent refused: " + message
	}
	return fmt.Sprintf("agent refused: %s (%s)", message, strings.Join(about, ", "))
}

// Unauthorized reports whether it refuses for want of credentials, or for those that there were (A2A 1.0 §3.3.2).
func (e *Error) Unauthorized() bool {
	return e.HTTPStatus == http.StatusUnauthorized || e.HTTPStatus == http.StatusForbidden ||
		e.Status == grpc.Unauthenticated.String() || e.Status == grpc.PermissionDenied.String()
}

// Internal reports whether it says that the agent, and not the request, is at fault.
func (e *Error) Internal() bool {
	return e.Code == -32603 || e.HTTPStatus >= http.StatusInternalServerError || slices.Contains(internal, e.Status)
}

// internal are the statuses of gRPC that say so.
var internal = []string{"UNKNOWN", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}

// Invalid reports whether it says over gRPC or HTTP+JSON that the request cannot be taken as it is.
func (e *Error) Invalid() bool {
	return e.Status == grpc.InvalidArgument.String() || e.Status == "" && e.HTTPStatus == http.StatusBadRequest
}

// reasons of A2A 1.0 §5.4. In 0.3 the codes up to −32007 mean the same.
var reasons = map[int]string{
	-32001: "TASK_NOT_FOUND",
	-32002: "TASK_NOT_CANCELABLE",
	-32003: "PUSH_NOTIFICATION_NOT_SUPPORTED",
	-32004: "UNSUPPORTED_OPERATION",
	-32005: "CONTENT_TYPE_NOT_SUPPORTED",
	-32006: "INVALID_AGENT_RESPONSE",
	-32007: "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
	-32008: "EXTENSION_SUPPORT_REQUIRED",
	-32009: "VERSION_NOT_SUPPORTED",
}

// codeOf returns the JSON-RPC code of a reason, or 0.
func codeOf(reason string) int {
	for code, r := range reasons {
		if r == reason {
			return code
		}
	}
	return 0
}
