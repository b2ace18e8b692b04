package playback

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"

	"a2atap/proxy/a2a"
)

// A refusal is an error instead of a recorded answer: a protocol error, or only an HTTP status.
type refusal struct {
	name    a2a.ErrorName // NoErrorName if only its code or status is known
	code    int64         // of JSON-RPC; 0 means the name's code
	status  int           // of HTTP; 0 means the name's status, and 200 in JSON-RPC
	bare    bool          // clients of JSON-RPC or gRPC get only the status
	message string
}

// refusalOf converts a recorded error to one that any binding can express.
func refusalOf(err *a2a.Error) *refusal {
	e := &refusal{name: err.Name, message: err.Message}
	if !err.Name.A2A() && err.Name != a2a.InternalError {
		e.status = cmp.Or(err.HTTPStatus, statusesOf[err.GRPCStatus])
	}
	return e
}

// statusesOf maps gRPC statuses of errors without an A2A name to HTTP statuses.
var statusesOf = map[string]int{
	"INVALID_ARGUMENT": http.StatusBadRequest, "FAILED_PRECONDITION": http.StatusBadRequest,
	"UNAUTHENTICATED": http.StatusUnauthorized, "PERMISSION_DENIED": http.StatusForbidden,
	"NOT_FOUND": http.StatusNotFound, "ABORTED": http.StatusConflict,
	"RESOURCE_EXHAUSTED": http.StatusTooManyRequests, "UNIMPLEMENTED": http.StatusNotImplemented,
	"UNAVAILABLE": http.StatusServiceUnavailable, "DEADLINE_EXCEEDED": http.StatusGatewayTimeout,
}

// write answers a call with the refusal, in the form of its binding and dialect. Other requests, and those that fail
// before their JSON-RPC is read, get text.
func (e *refusal) write(w http.ResponseWriter, call *a2a.Call) {
	if call.Binding == a2a.NoBinding || call.Binding != a2a.HTTPJSON && e.bare {
		http.Error(w, e.message, e.httpStatus())
		return
	}
	status, body := e.in(call)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // the client has left
}

// in returns the refusal in the binding and dialect of a call: JSON-RPC 2.0 §5.1 with A2A 1.0 §9.5, A2A 1.0 §11.6,
// or code and message alone, as 0.3 has it over HTTP+JSON (A2A 0.3 §3.2.3).
func (e *refusal) in(call *a2a.Call) (status int, body []byte) {
	newest := call.Dialects.Empty() || call.Dialects.Has(a2a.V1_0)
	if call.Binding == a2a.JSONRPC {
		value := errorObject{Code: e.rpcCode(), Message: e.message}
		if newest {
			value.Data = e.details()
		}
		return http.StatusOK, envelope(call, "error", marshal(value))
	}
	status = e.httpStatus()
	if !newest {
		return status, marshal(errorObject{Code: e.rpcCode(), Message: e.message})
	}
	return status, marshal(map[string]any{"error": errorObject{
		Code: int64(status), Status: e.statusName(status), Message: e.message, Details: e.details(),
	}})
}

// An errorObject is an error of either binding; members that a binding lacks are empty.
type errorObject struct {
	Code    int64       `json:"code"`
	Status  string      `json:"status,omitempty"`
	Message string      `json:"message"`
	Data    []errorInfo `json:"data,omitempty"`
	Details []errorInfo `json:"details,omitempty"`
}

type errorInfo struct {
	Type   string `json:"@type"`
	Reason string `json:"reason"`
	Domain string `json:"domain"`
}

func (e *refusal) details() []errorInfo {
	row, _ := e.name.Row()
	if row.Reason == "" {
		return nil
	}
	return []errorInfo{{"type.googleapis.com/google.rpc.ErrorInfo", row.Reason, "a2a-protocol.org"}}
}

func (e *refusal) rpcCode() int64 {
	if e.code != 0 {
		return e.code
	}
	if row, ok := e.name.Row(); ok {
		return row.Code
	}
	row, _ := a2a.InternalError.Row()
	return row.Code
}

func (e *refusal) httpStatus() int {
	if e.status != 0 {
		return e.status
	}
	if row, _ := e.name.Row(); len(row.Status) > 0 {
		return row.Status[0]
	}
	if e.name == a2a.MethodNotFound {
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// statusName returns the name that google.rpc.Code has for the refusal.
func (e *refusal) statusName(status int) string {
	switch {
	case e.name.A2A() && status == http.StatusBadRequest && e.name != a2a.ContentTypeNotSupported:
		return "FAILED_PRECONDITION"
	case status == http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case status == http.StatusForbidden:
		return "PERMISSION_DENIED"
	case status == http.StatusNotFound:
		return "NOT_FOUND"
	case status == http.StatusConflict:
		return "ABORTED"
	case status == http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case status < http.StatusInternalServerError:
		return "INVALID_ARGUMENT"
	case status == http.StatusNotImplemented:
		return "UNIMPLEMENTED"
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	case status == http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	}
	return "INTERNAL"
}

// marshal writes values of this package, all of which can be written.
func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func envelope(call *a2a.Call, member string, value []byte) []byte {
	id := call.ID.Raw()
	if id == nil {
		id = []byte("null")
	}
	return bytes.Join([][]byte{
		[]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"` + member + `":`), value,
		[]byte("}"),
	}, nil)
}
