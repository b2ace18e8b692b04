package a2a

import (
	"fmt"
	"slices"
	"testing"

	"a2atap/proxy/expect"
)

func TestErrorNameOf(t *testing.T) {
	tests := []struct {
		code int64
		in   Dialects
		want ErrorName
	}{
		{-32001, 0, TaskNotFound},
		{-32002, Of(V0_1), TaskNotCancelable},
		{-32004, Of(V1_0), UnsupportedOperation},
		{-32006, Of(V0_1), StreamingNotSupported},
		{-32006, Of(V0_2, V0_3), InvalidAgentResponse},
		{-32006, Of(V0_1, V0_2), NoErrorName},
		{-32007, Of(V0_2, V0_3), ExtendedCardNotConfigured},
		{-32007, Of(V0_1), AuthenticationRequired},
		{-32008, Of(V1_0), ExtensionSupportRequired},
		{-32008, Of(V0_3), OtherError},
		{-32009, Of(V1_0), VersionNotSupported},
		{-32009, Of(V0_1), InvalidTaskState},
		{-32009, 0, VersionNotSupported},
		{-32011, Of(V1_0), OtherError},
		{-32011, Of(V0_1), ResourceUnavailable},
		{-32700, Of(V0_3), ParseError},
		{-32601, 0, MethodNotFound},
		{-32050, Of(V1_0), OtherError},
		{42, 0, OtherError},
	}
	for _, test := range tests {
		expect.Equal(t, fmt.Sprintf("ErrorNameOf(%d, %q)", test.code, test.in),
			test.want, ErrorNameOf(test.code, test.in))
	}
}

func TestErrorRows(t *testing.T) {
	for _, row := range errorRows {
		if got := ErrorNameOf(row.Code, row.In); got != row.Name && !row.In.Empty() {
			t.Errorf("code %d in %s is %q, want %q", row.Code, row.In, got, row.Name)
		}
		if row.Reason != "" && ErrorNameOfReason(row.Reason) != row.Name {
			t.Errorf("reason %s is %q", row.Reason, ErrorNameOfReason(row.Reason))
		}
		if row.Name.A2A() != (row.Code > -32100) {
			t.Errorf("%s: A2A = %v", row.Name, row.Name.A2A())
		}
	}
	row, _ := TaskNotCancelable.Row()
	if !slices.Contains(row.Status, 409) || !slices.Contains(row.Status, 400) {
		t.Errorf("statuses of %s are %v: both patch versions count", row.Title, row.Status)
	}
	if _, ok := OtherError.Row(); ok {
		t.Error("an error of its own has a row")
	}
	if ErrorNameOfReason("") != OtherError || ErrorNameOfReason("QUOTA") != OtherError {
		t.Error("an unknown reason has a name")
	}
}

func TestDecodeErrors(t *testing.T) {
	rpc := &Call{Binding: JSONRPC, Operation: GetTask, Dialects: Of(V1_0)}
	rest := &Call{Binding: HTTPJSON, Operation: GetTask, Dialects: Of(V1_0)}
	const info = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND",` +
		`"domain":"a2a-protocol.org"}`
	tests := []struct {
		name    string
		call    *Call
		status  int
		body    string
		want    ErrorName
		text    string
		reason  string
		pointer string
	}{
		{
			"rpc", rpc, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"gone"}}`, TaskNotFound,
			"TaskNotFoundError (-32001)", "", "/error",
		},
		{
			"rpc with null result", rpc, 200,
			`{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32004,"message":""}}`, UnsupportedOperation,
			"UnsupportedOperationError (-32004)", "", "/error",
		},
		{"rpc with reason", rpc, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"gone","data":[` +
			info + `]}}`, TaskNotFound, "TaskNotFoundError (-32001)", "TASK_NOT_FOUND", "/error"},
		{
			"rpc of its own", rpc, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32050,"message":"no"}}`, OtherError,
			"an unknown error (-32050)", "", "/error",
		},
		{
			"rpc no integer", rpc, 200, `{"jsonrpc":"2.0","id":1,"error":{"code":"-32001","message":"no"}}`,
			NoErrorName,
			"an unknown error (HTTP 200)", "", "/error",
		},
		{
			"rpc no object", rpc, 200, `{"jsonrpc":"2.0","id":1,"error":"no"}`, NoErrorName,
			"an unknown error (HTTP 200)", "", "/error",
		},
		{"rest status", rest, 404, `{"error":{"code":404,"status":"NOT_FOUND","message":"gone","details":[` +
			info + `]}}`, TaskNotFound, "TaskNotFoundError (-32001)", "TASK_NOT_FOUND", "/error"},
		{
			"rest foreign domain", rest, 404,
			`{"error":{"code":404,"message":"gone","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo",` +
				`"reason":"TASK_NOT_FOUND","domain":"example.com"}]}}`, NoErrorName,
			"an unknown error (HTTP 404)", "", "/error",
		},
		{
			"rest problem", rest, 400,
			`{"type":"https://a2a-protocol.org/errors/unsupported-operation","title":"no","status":400}`,
			UnsupportedOperation, "UnsupportedOperationError (-32004)", "UNSUPPORTED_OPERATION", "",
		},
		{
			"rest with a code of JSON-RPC", &Call{Binding: HTTPJSON, Operation: GetTask, Dialects: Of(V0_3)}, 404,
			`{"code":-32001,"message":"gone"}`, TaskNotFound, "TaskNotFoundError (-32001)", "", "",
		},
		{
			"rest gateway", rest, 401, `{"error":"invalid_token"}`, NoErrorName, "an unknown error (HTTP 401)",
			"", "",
		},
		{"rest page", rest, 502, `<html>`, NoErrorName, "an unknown error (HTTP 502)", "", ""},
		{"rest empty", rest, 500, ``, NoErrorName, "an unknown error (HTTP 500)", "", ""},
		{
			"rest error under 200", rest, 200, `{"error":{"code":404,"status":"NOT_FOUND","message":"gone"}}`,
			NoErrorName,
			"an unknown error (HTTP 404)", "", "/error",
		},
		{
			"rest error under 200 with no status in it", rest, 200, `{"error":{"code":7,"message":"gone"}}`,
			NoErrorName,
			"an unknown error (HTTP 200)", "", "/error",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := DecodeAnswer(test.call, test.status, "application/json", []byte(test.body))
			if a.Err == nil {
				t.Fatal("no error found")
			}
			if a.Err.Name != test.want || a.Err.String() != test.text || a.Err.Reason != test.reason ||
				a.Err.Pointer != test.pointer {
				t.Errorf("got %q, %q, reason %q at %q", a.Err.Name, a.Err, a.Err.Reason, a.Err.Pointer)
			}
			expect.Equal(t, "payload", ErrorPayload, a.Payload.Kind)
		})
	}
}
