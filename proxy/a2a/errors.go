package a2a

import "strconv"

// An ErrorName is the meaning of an error, in any binding and dialect.
type ErrorName uint8

// The errors. StreamingNotSupported and the errors after it have codes only in 0.1; later versions use these codes for
// other errors.
const (
	NoErrorName ErrorName = iota // unknown or ambiguous
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
	ResourceExhausted // before 0.1: the agent cannot accept another task
	InsecureWebhook   // before 0.1: the webhook's URL is not https
	OtherError        // a code or reason that no dialect defines
)

// An ErrorRow defines one error in both bindings. Different dialects may use the same code for different errors.
type ErrorRow struct {
	Name   ErrorName
	Title  string // "TaskNotFoundError"
	Code   int64  // in JSON-RPC
	In     Dialects
	Reason string // of the ErrorInfo in 1.0; empty for errors of JSON-RPC and of 0.1
	Status []int  // HTTP+JSON statuses in 1.0: those of 1.0.0 and of later patch versions; nil if none
}

// errorRows has the errors of JSON-RPC 2.0 §5.1; A2A 0.1 §8, 0.2 §8, 0.3 §8, 1.0 §3.3.2 and §5.4.
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
	{ResourceExhausted, "ResourceExhaustedError", -32003, noDialects, "", nil}, // earlyName recognizes these
	{InsecureWebhook, "InsecureWebhookError", -32004, noDialects, "", nil},
}

// Row returns the error's definition, and whether a dialect defines it.
func (n ErrorName) Row() (ErrorRow, bool) {
	for i := range errorRows {
		if errorRows[i].Name == n {
			return errorRows[i], true
		}
	}
	return ErrorRow{}, false
}

// String returns the specification's name of the error, such as "TaskNotFoundError", or "" for NoErrorName and
// OtherError.
func (n ErrorName) String() string {
	row, _ := n.Row()
	return row.Title
}

// A2A reports whether A2A defines the error, as opposed to JSON-RPC.
func (n ErrorName) A2A() bool {
	return n >= TaskNotFound && n <= VersionNotSupported || n >= StreamingNotSupported && n <= InsecureWebhook
}

// ErrorNameOf returns the meaning of a JSON-RPC error code in the possible dialects; the empty set means all since 0.2.
// It returns NoErrorName if they disagree or only some define the code, and OtherError if none of them defines it.
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

// An Error is the error in an answer or event.
type Error struct {
	Code       int64 // of JSON-RPC, as written or else by the reason; 0 if unknown
	CodeKnown  bool
	HTTPStatus int    // of the answer; 0 over gRPC
	GRPCStatus string // name of the gRPC status, such as "NOT_FOUND"
	Name       ErrorName
	Reason     string // of the ErrorInfo; "" if missing
	Message    string
	Value      Value  // the object that describes it; Absent if only the HTTP status shows the error
	Pointer    string // of Value
}

// Status returns the error's HTTP status. In an event that is its code, since the status of the answer was sent before
// the failure.
func (e *Error) Status() int {
	const failed, last = 400, 599
	if code, ok := e.Value.Get("code").Int(); ok && e.HTTPStatus < failed && failed <= code && code <= last {
		return int(code)
	}
	return e.HTTPStatus
}

// RefusesVersion reports whether an error is VersionNotSupportedError. An agent of 1.0 may also send it to clients of
// versions that do not define it.
func (e *Error) RefusesVersion() bool {
	return e.Name == VersionNotSupported || e.Reason == "VERSION_NOT_SUPPORTED" ||
		e.Name == OtherError && e.Code == -32009
}

// String returns the name with the code, or with the status if it has no code: "TaskNotFoundError (-32001)". For a gRPC
// error without a name it returns the status.
func (e *Error) String() string {
	name := e.Name.String()
	if name == "" && e.GRPCStatus != "" {
		return "status " + e.GRPCStatus
	}
	if name == "" {
		name = "an unknown error"
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
