package reading

import (
	"testing"

	"a2atap/proxy/a2a"
)

func TestFailure(t *testing.T) {
	rpc, rest := a2a.Call{Binding: a2a.JSONRPC}, a2a.Call{Binding: a2a.HTTPJSON}
	for _, tt := range []struct {
		call   a2a.Call
		err    *a2a.Error
		status int
		want   string
	}{
		{rpc, nil, 0, ""},
		{rpc, nil, 302, ""},
		{rpc, nil, 401, "401 Unauthorized"},
		{rpc, nil, 599, "599"},
		{
			rpc, &a2a.Error{Code: -32001, CodeKnown: true, Name: a2a.TaskNotFound, HTTPStatus: 200, Message: "none"}, 200,
			"-32001 TaskNotFound: none",
		},
		{rpc, &a2a.Error{Code: -5, CodeKnown: true, Name: a2a.OtherError, Reason: "ODD"}, 200, "-5 ODD"},
		{rpc, &a2a.Error{Message: "help\x1b"}, 200, "help\ufffd"},
		{rest, &a2a.Error{Code: -32001, CodeKnown: true, Name: a2a.TaskNotFound, HTTPStatus: 404}, 404, "404 TaskNotFound"},
		{rest, &a2a.Error{HTTPStatus: 503}, 503, "503 Service Unavailable"},
		{rest, &a2a.Error{HTTPStatus: 503, Message: "busy"}, 503, "503: busy"},
	} {
		r := Reading{Call: tt.call}
		if tt.err != nil {
			r.Errors = []*a2a.Error{tt.err}
		}
		if got := r.Failure(tt.status); got != tt.want {
			t.Errorf("%+v, %d: got %q, want %q", tt.err, tt.status, got, tt.want)
		}
	}
}
