package a2a

import "strconv"

// An ErrorName is what an error means, whatever the binding and the dialect.
type ErrorName uint8

// The errors. Those from StreamingNotSupported on have codes in 0.1 only, which later versions use for others.
const (
	NoErrorName ErrorName = iota // the answer does not say, or could mean several
	TaskNotFound
	TaskNotCancelable
	PushNotSupported
	UnsupportedOperation
	ContentTypeNotSupported
	InvalidAgentResponse
	ExtendedCardNotConfigured
	ExtensionSupportRequired
	VersionNotSupported
	ParseError
	InvalidRequest
	MethodNotFound
	InvalidParams
	InternalError
	StreamingNotSupported
	AuthenticationRequired
	AuthorizationFailed
	InvalidTaskState
	RateLimitExceeded
	ResourceUnavailable
	ResourceExhausted // before 0.1: there is no room for another task
	InsecureWebhook   // before 0.1: the webhook's URL is not https
	OtherError        // a code or reason that no dialect defines
)

// An ErrorRow is one error in the words of both bindings. A code may belong to several errors in different dialects.
type ErrorRow struct {
	Name   ErrorName
	Title  string // "TaskNotFoundError"
	Code   int64  // in JSON-RPC
	In     Dialects
	Reason string // of the ErrorInfo in 1.0; empty for errors of JSON-RPC itself and of 0.1
	Status []int  // of HTTP+JSON in 1.0: what 1.0.0 and later patch versions lay down, together; nil if they do not
}

// errorRows holds JSON-RPC 2.0 §5.1; A2A 0.1 §8, 0.2 §8, 0.3 §8, 1.0 §3.3.2 and §5.4.
var errorRows = [...]ErrorRow{
	{TaskNotFound, "TaskNotFoundError", -32001, allDialects, "TASK_NOT_FOUND", []int{404}},
	{TaskNotCancelable, "TaskNotCancelableError", -32002, allDialects, "TASK_NOT_CANCELABLE", []int{400, 409}},
	{
		PushNotSupported, "PushNotificationNotSupportedError", -32003, allDialects, "PUSH_NOTIFICATION_NOT_SUPPORTED",
		[]int{400},
	},
	{UnsupportedOperation, "UnsupportedOperationError", -32004, allDialects, "UNSUPPORTED_OPERATION", []int{400}},
	{
		ContentTypeNotSupported, "ContentTypeNotSupportedError", -32005, allDialects, "CONTENT_TYPE_NOT_SUPPORTED",
		[]int{400, 415},
	},
	{
		InvalidAgentResponse, "InvalidAgentResponseError", -32006, kindDialects | onlyV1_0, "INVALID_AGENT_RESPONSE",
		[]int{500, 502},
	},
	{
		ExtendedCardNotConfigured, "ExtendedAgentCardNotConfiguredError", -32007, onlyV0_3 | onlyV1_0,
		"EXTENDED_AGENT_CARD_NOT_CONFIGURED",
		[]int{400},
	},
	{
		ExtensionSupportRequired, "ExtensionSupportRequiredError", -32008, onlyV1_0, "EXTENSION_SUPPORT_REQUIRED",
		[]int{400},
	},
	{VersionNotSupported, "VersionNotSupportedError", -32009, onlyV1_0, "VERSION_NOT_SUPPORTED", []int{400}},
	{ParseError, "JSONParseError", -32700, allDialects, "", []int{400}},
	{InvalidRequest, "InvalidRequestError", -32600, allDialects, "", []int{400}},
	{MethodNotFound, "MethodNotFoundError", -32601, allDialects, "", nil},
	{InvalidParams, "InvalidParamsError", -32602, allDialects, "", []int{400}},
	{InternalError, "InternalError", -32603, allDialects, "", []int{500, 503}},
	{StreamingNotSupported, "StreamingNotSupportedError", -32006, onlyV0_1, "", nil},
	{AuthenticationRequired, "AuthenticationRequiredError", -32007, onlyV0_1, "", nil},
	{AuthorizationFailed, "AuthorizationFailedError", -32008, onlyV0_1, "", nil},
	{InvalidTaskState, "InvalidTaskStateError", -32009, onlyV0_1, "", nil},
	{RateLimitExceeded, "RateLimitExceededError", -32010, onlyV0_1, "", nil},
	{ResourceUnavailable, "ResourceUnavailableError", -32011, onlyV0_1, "", nil},
	{ResourceExhausted, "ResourceExhaustedError", -32003, noDialects, "", nil}, // earlyName tells these from the others
	{InsecureWebhook, "InsecureWebhookError", -32004, noDialects, "", nil},
}

// Row returns the error in the words of both bindings, and whether a dialect defines it.
func (n ErrorName) Row() (ErrorRow, bool) {
	for i := range errorRows {
		if errorRows[i].Name == n {
			return errorRows[i], true
		}
	}
	return ErrorRow{}, false
}

// String returns the name that the specification gives the error, such as "TaskNotFoundError"; "" for NoErrorName and
// OtherError, which have none.
func (n ErrorName) String() string {
	row, _ := n.Row()
	return row.Title
}

// A2A reports whether the error is one that A2A defines, not JSON-RPC.
func (n ErrorName) A2A() bool {
	return n >= TaskNotFound && n <= VersionNotSupported || n >= StreamingNotSupported && n <= InsecureWebhook
}

// ErrorNameOf returns what a JSON-RPC error code means in the dialects, which are those that may be spoken; none given
// stands for all since 0.2. Where they do not agree, or only some define the code, it is NoErrorName; where none
// defines it, OtherError.
func ErrorNameOf(code int64, in Dialects) ErrorName {
	if in.Empty() {
		in = kindDialects | onlyV1_0
	}
	for i := range errorRows {
		row := &errorRows[i]
		if row.Code != code || row.In.Intersect(in).Empty() {
			continue
		}
		if row.In.Intersect(in) == in || in.Intersect(onlyV0_1).Empty() {
			return row.Name // since 0.2 no code has changed its meaning
		}
		return NoErrorName
	}
	return OtherError
}

// ErrorNameOfReason returns the error that an ErrorInfo names (A2A 1.0 §5.4), or OtherError.
func ErrorNameOfReason(reason string) ErrorName {
	for i := range errorRows {
		if errorRows[i].Reason == reason && reason != "" {
			return errorRows[i].Name
		}
	}
	return OtherError
}

// An Error is an error that an answer or event carries.
type Error struct {
	Code       int64 // of JSON-RPC, as written or else as the reason has it; 0 if not known
	CodeKnown  bool
	HTTPStatus int    // of the answer that carries it; 0 over gRPC
	GRPCStatus string // of gRPC, by its name, such as "NOT_FOUND"
	Name       ErrorName
	Reason     string // of the ErrorInfo; "" if there is none
	Message    string
	Value      Value  // the object that describes it; Absent if only the HTTP status says that there is one
	Pointer    string // of Value
}

// Status returns the HTTP status that the error stands for. In an event that is its code: the status of the answer was
// sent before anything failed.
func (e *Error) Status() int {
	const failed, last = 400, 599
	if code, ok := e.Value.Get("code").Int(); ok && e.HTTPStatus < failed && failed <= code && code <= last {
		return int(code)
	}
	return e.HTTPStatus
}

// RefusesVersion reports whether an error is VersionNotSupportedError, in which an agent of 1.0 may answer a client
// that does not know it.
func (e *Error) RefusesVersion() bool {
	return e.Name == VersionNotSupported || e.Reason == "VERSION_NOT_SUPPORTED" ||
		e.Name == OtherError && e.Code == -32009
}

// String returns the name and the code or, where there is none, the status: "TaskNotFoundError (-32001)". An error of
// gRPC that has no name is its status.
func (e *Error) String() string {
	name := e.Name.String()
	if name == "" && e.GRPCStatus != "" {
		return "status " + e.GRPCStatus
	}
	if name == "" {
		name = "an error of no known name"
	}
	switch {
	case e.GRPCStatus != "":
		return name + " (" + e.GRPCStatus + ")"
	case e.CodeKnown:
		return name + " (" + strconv.FormatInt(e.Code, 10) + ")"
	case e.HTTPStatus != 0:
		return name + " (HTTP " + strconv.Itoa(e.Status()) + ")"
	}
	return name
}
