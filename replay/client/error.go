package client

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

// An Error is an agent's refusal. Every operation may return one.
type Error struct {
	Code       int    // JSON-RPC code; in the other bindings the code for Reason, or 0
	Reason     string // of A2A 1.0 §5.4, such as TASK_NOT_FOUND, or one of the Early… ones; empty for other errors
	HTTPStatus int
	Status     string // gRPC status name, such as NOT_FOUND; empty in the other bindings
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

// Unauthorized reports whether the agent refuses because of missing or wrong credentials (A2A 1.0 §3.3.2).
func (e *Error) Unauthorized() bool {
	return e.HTTPStatus == http.StatusUnauthorized || e.HTTPStatus == http.StatusForbidden ||
		e.Status == grpc.Unauthenticated.String() || e.Status == grpc.PermissionDenied.String()
}

// Internal reports whether the error blames the agent, not the request.
func (e *Error) Internal() bool {
	return e.Code == -32603 || e.HTTPStatus >= http.StatusInternalServerError || slices.Contains(internal, e.Status)
}

// internal are the gRPC statuses that blame the server.
var internal = []string{"UNKNOWN", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}

// Invalid reports whether the error is a gRPC or HTTP+JSON error that rejects the request as invalid.
func (e *Error) Invalid() bool {
	return e.Status == grpc.InvalidArgument.String() || e.Status == "" && e.HTTPStatus == http.StatusBadRequest
}

// reasonOf returns the reason of a JSON-RPC code in A2A 1.0 §5.4, or "". In 0.3 the codes up to −32007 mean the same.
func reasonOf(code int) string {
	row, _ := a2a.ErrorNameOf(int64(code), a2a.Of(a2a.V1_0)).Row()
	return row.Reason
}

// codeOf returns the JSON-RPC code of a reason, or 0.
func codeOf(reason string) int {
	row, _ := a2a.ErrorNameOfReason(reason).Row()
	return int(row.Code)
}
