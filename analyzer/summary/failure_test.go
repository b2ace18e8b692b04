package summary_test

import (
	"fmt"
	"testing"

	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

func TestFailure(t *testing.T) {
	for _, tt := range []struct {
		binding a2a.Binding
		err     *a2a.Error
		status  int
		want    string
	}{
		{a2a.JSONRPC, nil, 0, ""},
		{a2a.JSONRPC, nil, 302, "302 Found"},
		{a2a.JSONRPC, nil, 304, ""},
		{a2a.JSONRPC, nil, 401, "401 Unauthorized"},
		{a2a.JSONRPC, nil, 599, "599"},
		{
			a2a.JSONRPC,
			&a2a.Error{Code: -32001, CodeKnown: true, Name: a2a.TaskNotFound, HTTPStatus: 200, Message: "none"}, 200,
			"-32001 TaskNotFound: none",
		},
		{a2a.JSONRPC, &a2a.Error{Code: -5, CodeKnown: true, Name: a2a.OtherError, Reason: "ODD"}, 200, "-5 ODD"},
		{a2a.JSONRPC, &a2a.Error{Message: "help\x1b"}, 200, "help\ufffd"},
		{
			a2a.HTTPJSON, &a2a.Error{Code: -32001, CodeKnown: true, Name: a2a.TaskNotFound, HTTPStatus: 404}, 404,
			"404 TaskNotFound",
		},
		{a2a.HTTPJSON, &a2a.Error{HTTPStatus: 503}, 503, "503 Service Unavailable"},
		{a2a.HTTPJSON, &a2a.Error{HTTPStatus: 503, Message: "busy"}, 503, "503: busy"},
	} {
		s := summary.Summary{Status: tt.status}
		if tt.err != nil {
			s.Errors = []summary.ErrorSeen{summary.ErrorOf(tt.err, tt.binding)}
		}
		expect.Equal(t, fmt.Sprintf("%+v, %d", tt.err, tt.status), tt.want, s.Failure())
	}
}
