package refagent

import (
	"net/http"
)

// JSON-RPC 2.0 §5.1 and A2A 1.0 §5.4. The codes of A2A 0.3 §8.2 are the same, up to −32007.
const (
	codeParse                = -32700
	codeInvalidRequest       = -32600
	codeMethodNotFound       = -32601
	codeInvalidParams        = -32602
	codeInternal             = -32603
	codeTaskNotFound         = -32001
	codeTaskNotCancelable    = -32002
	codePushNotSupported     = -32003
	codeUnsupported          = -32004
	codeContentType          = -32005
	codeExtendedCardNotFound = -32007
	codeVersion              = -32009
)

// Failures for which A2A has no code: each dialect has its own, or none.
const (
	codeUnauthenticated = -1 - iota // no credentials, or wrong ones
	codeStoreFull                   // there are as many tasks as the agent takes
	codeWebhookScheme               // a webhook is not on https
	codeNoTenant                    // the agent does not serve that tenant
)

// publicCode returns the code of a failure in a dialect that has none of its own for it.
//
// Source: JSON-RPC 2.0 §5.1, which leaves −32000 to −32099 to servers.
func publicCode(f *failure) int {
	switch f.code {
	case codeUnauthenticated:
		return -32000
	case codeStoreFull:
		return codeInternal
	case codeWebhookScheme, codeNoTenant:
		return codeInvalidParams
	}
	return f.code
}

// A failure is a protocol error, free of dialect and binding.
type failure struct {
	code       int
	message    string
	violations []violation // for invalid parameters
	http       int         // HTTP status in both bindings; 0 means what the code maps to
	challenge  string      // value of WWW-Authenticate
	allow      string      // value of Allow
}

// A violation names a parameter and says what is wrong with it (google.rpc.BadRequest).
type violation struct{ field, description string }

// An errorKind is a row of A2A 1.0 §5.4, as of 1.0.1.
type errorKind struct {
	reason string // of ErrorInfo; empty for errors that are not A2A's own
	status string // gRPC name
	http   int
}

var errorKinds = map[int]errorKind{
	codeParse:                {"", "INVALID_ARGUMENT", http.StatusBadRequest},
	codeInvalidRequest:       {"", "INVALID_ARGUMENT", http.StatusBadRequest},
	codeMethodNotFound:       {"", "NOT_FOUND", http.StatusNotFound},
	codeInvalidParams:        {"", "INVALID_ARGUMENT", http.StatusBadRequest},
	codeInternal:             {"", "INTERNAL", http.StatusInternalServerError},
	codeTaskNotFound:         {"TASK_NOT_FOUND", "NOT_FOUND", http.StatusNotFound},
	codeTaskNotCancelable:    {"TASK_NOT_CANCELABLE", "FAILED_PRECONDITION", http.StatusBadRequest},
	codePushNotSupported:     {"PUSH_NOTIFICATION_NOT_SUPPORTED", "FAILED_PRECONDITION", http.StatusBadRequest},
	codeUnsupported:          {"UNSUPPORTED_OPERATION", "FAILED_PRECONDITION", http.StatusBadRequest},
	codeContentType:          {"CONTENT_TYPE_NOT_SUPPORTED", "INVALID_ARGUMENT", http.StatusBadRequest},
	codeExtendedCardNotFound: {"EXTENDED_AGENT_CARD_NOT_CONFIGURED", "FAILED_PRECONDITION", http.StatusBadRequest},
	codeUnauthenticated:      {"", "UNAUTHENTICATED", http.StatusUnauthorized},
	codeStoreFull:            {"", "RESOURCE_EXHAUSTED", http.StatusTooManyRequests},
	codeWebhookScheme:        {"", "INVALID_ARGUMENT", http.StatusBadRequest},
	codeNoTenant:             {"", "NOT_FOUND", http.StatusNotFound},
	codeVersion:              {"VERSION_NOT_SUPPORTED", "FAILED_PRECONDITION", http.StatusBadRequest},
}

// statusNames are the gRPC names of failures whose HTTP status is not that of their code.
var statusNames = map[int]string{
	http.StatusUnauthorized:          "UNAUTHENTICATED",
	http.StatusForbidden:             "PERMISSION_DENIED",
	http.StatusMethodNotAllowed:      "UNIMPLEMENTED",
	http.StatusRequestEntityTooLarge: "RESOURCE_EXHAUSTED",
	http.StatusUnsupportedMediaType:  "INVALID_ARGUMENT",
}

// httpStatus returns the status of an HTTP+JSON answer that carries f.
func (f *failure) httpStatus() int {
	if f.http != 0 {
		return f.http
	}
	return errorKinds[f.code].http
}

// statusName returns the gRPC status name of f.
func (f *failure) statusName() string {
	if name, ok := statusNames[f.http]; ok {
		return name
	}
	return errorKinds[f.code].status
}

func fail(code int, message string) *failure { return &failure{code: code, message: message} }

func taskNotFound(id string) *failure {
	return fail(codeTaskNotFound, "Task not found: "+id)
}

func invalidParams(violations ...violation) *failure {
	f := fail(codeInvalidParams, "Invalid parameters")
	f.violations = violations
	if len(violations) > 0 {
		f.message += ": " + violations[0].field + " " + violations[0].description
	}
	return f
}

// unauthenticated refuses a request for lack of credentials (A2A 1.0 §7.4). The protocol gives it no JSON-RPC code.
func unauthenticated(realm string) *failure {
	return &failure{
		code: codeInvalidRequest, message: "Authentication required",
		http: http.StatusUnauthorized, challenge: `Bearer realm="` + realm + `"`,
	}
}

func pushNotSupported() *failure {
	return fail(codePushNotSupported, "Push notifications are not supported")
}
