package model

import (
	"net/http"
)

// JSON-RPC 2.0 §5.1 and A2A 1.0 §5.4. The codes of A2A 0.3 §8.2 are the same, up to −32007.
const (
	CodeParse                = -32700
	CodeInvalidRequest       = -32600
	CodeMethodNotFound       = -32601
	CodeInvalidParams        = -32602
	CodeInternal             = -32603
	CodeTaskNotFound         = -32001
	CodeTaskNotCancelable    = -32002
	codePushNotSupported     = -32003
	CodeUnsupported          = -32004
	CodeContentType          = -32005
	CodeExtendedCardNotFound = -32007
	CodeVersion              = -32009
)

// Failures for which A2A has no code: each dialect has its own, or none.
const (
	CodeUnauthenticated = -1 - iota // no credentials, or wrong ones
	CodeStoreFull                   // the agent has its maximum number of tasks
	CodeWebhookScheme               // a webhook is not on https
	CodeNoTenant                    // the agent does not serve that tenant
)

// PublicCode returns the code of a failure in a dialect that has no specific code for it.
//
// Source: JSON-RPC 2.0 §5.1, which leaves −32000 to −32099 to servers.
func PublicCode(f *Failure) int {
	switch f.Code {
	case CodeUnauthenticated:
		return -32000
	case CodeStoreFull:
		return CodeInternal
	case CodeWebhookScheme, CodeNoTenant:
		return CodeInvalidParams
	}
	return f.Code
}

// A Failure is a protocol error, free of dialect and binding.
type Failure struct {
	Code       int
	Message    string
	Violations []Violation // for invalid parameters
	HTTP       int         // HTTP status in both bindings; 0 means the code's default
	Challenge  string      // value of WWW-Authenticate
	Allow      string      // value of Allow
}

// A Violation names a parameter and describes the problem (google.rpc.BadRequest).
type Violation struct{ Field, Description string }

// An errorKind is a row of A2A 1.0 §5.4, as of 1.0.1.
type errorKind struct {
	Reason string // of ErrorInfo; empty for errors that are not A2A's own
	status string // gRPC name
	HTTP   int
}

// ErrorKinds are the rows by their codes.
var ErrorKinds = map[int]errorKind{
	CodeParse:                {"", "INVALID_ARGUMENT", http.StatusBadRequest},
	CodeInvalidRequest:       {"", "INVALID_ARGUMENT", http.StatusBadRequest},
	CodeMethodNotFound:       {"", "NOT_FOUND", http.StatusNotFound},
	CodeInvalidParams:        {"", "INVALID_ARGUMENT", http.StatusBadRequest},
	CodeInternal:             {"", "INTERNAL", http.StatusInternalServerError},
	CodeTaskNotFound:         {"TASK_NOT_FOUND", "NOT_FOUND", http.StatusNotFound},
	CodeTaskNotCancelable:    {"TASK_NOT_CANCELABLE", "FAILED_PRECONDITION", http.StatusBadRequest},
	codePushNotSupported:     {"PUSH_NOTIFICATION_NOT_SUPPORTED", "FAILED_PRECONDITION", http.StatusBadRequest},
	CodeUnsupported:          {"UNSUPPORTED_OPERATION", "FAILED_PRECONDITION", http.StatusBadRequest},
	CodeContentType:          {"CONTENT_TYPE_NOT_SUPPORTED", "INVALID_ARGUMENT", http.StatusBadRequest},
	CodeExtendedCardNotFound: {"EXTENDED_AGENT_CARD_NOT_CONFIGURED", "FAILED_PRECONDITION", http.StatusBadRequest},
	CodeUnauthenticated:      {"", "UNAUTHENTICATED", http.StatusUnauthorized},
	CodeStoreFull:            {"", "RESOURCE_EXHAUSTED", http.StatusTooManyRequests},
	CodeWebhookScheme:        {"", "INVALID_ARGUMENT", http.StatusBadRequest},
	CodeNoTenant:             {"", "NOT_FOUND", http.StatusNotFound},
	CodeVersion:              {"VERSION_NOT_SUPPORTED", "FAILED_PRECONDITION", http.StatusBadRequest},
}

// statusNames are the gRPC names of failures whose HTTP status differs from their code's.
var statusNames = map[int]string{
	http.StatusUnauthorized:          "UNAUTHENTICATED",
	http.StatusForbidden:             "PERMISSION_DENIED",
	http.StatusMethodNotAllowed:      "UNIMPLEMENTED",
	http.StatusRequestEntityTooLarge: "RESOURCE_EXHAUSTED",
	http.StatusUnsupportedMediaType:  "INVALID_ARGUMENT",
}

// HttpStatus returns the status of an HTTP+JSON answer that carries f.
func (f *Failure) HttpStatus() int {
	if f.HTTP != 0 {
		return f.HTTP
	}
	return ErrorKinds[f.Code].HTTP
}

// StatusName returns the gRPC status name of f.
func (f *Failure) StatusName() string {
	if name, ok := statusNames[f.HTTP]; ok {
		return name
	}
	return ErrorKinds[f.Code].status
}

// Fail returns a failure of a code.
func Fail(code int, message string) *Failure { return &Failure{Code: code, Message: message} }

// TaskNotFound is the failure of operations on a task that does not exist.
func TaskNotFound(id string) *Failure {
	return Fail(CodeTaskNotFound, "Task not found: "+id)
}

// InvalidParam refuses a request for one parameter.
func InvalidParam(field, description string) *Failure {
	return invalidParams(Violation{field, description})
}

// invalidParams refuses a request for its parameters.
func invalidParams(violations ...Violation) *Failure {
	f := Fail(CodeInvalidParams, "Invalid parameters")
	f.Violations = violations
	if len(violations) > 0 {
		f.Message += ": " + violations[0].Field + " " + violations[0].Description
	}
	return f
}

// Unauthenticated refuses a request for lack of credentials (A2A 1.0 §7.4). The protocol gives it no JSON-RPC code.
func Unauthenticated(realm string) *Failure {
	return &Failure{
		Code: CodeInvalidRequest, Message: "Authentication required",
		HTTP: http.StatusUnauthorized, Challenge: `Bearer realm="` + realm + `"`,
	}
}

// PushNotSupported is the failure of operations on configs for an agent without push notifications.
func PushNotSupported() *Failure {
	return Fail(codePushNotSupported, "Push notifications are not supported")
}
