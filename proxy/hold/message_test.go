package hold

import (
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func TestFramed(t *testing.T) {
	for _, c := range []struct {
		head, body string
		answer     bool
		want       string // or the error
	}{
		{"POST / HTTP/1.1\r\nHost: a\r\n\r\n", "xyz", false, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nxyz"},
		{
			"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\ncontent-length: 9\r\nContent-Digest: x\r\n\r\n", "xyz", false,
			"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyz",
		},
		{"GET / HTTP/1.1\r\n\r\n", "", false, "GET / HTTP/1.1\r\n\r\n"},
		{"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", "", true, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		{"HTTP/1.1 204 No Content\r\n\r\n", "", true, "HTTP/1.1 204 No Content\r\n\r\n"},
		{"HTTP/1.1 204 No Content\r\n\r\n", "x", true, "has no body"},
		{"HTTP/1.1 101 Other\r\n\r\n", "", true, "a code from 200 to 599"},
		{"POST / HTTP/1.1\r\n", "", false, "does not end with one blank line"},
		{"POST / HTTP/1.1\r\n\r\nX: y\r\n\r\n", "", false, "does not end with one blank line"},
		{"POST\r\n\r\n", "", false, "is not a request line"},
		{"POST / HTTP/2\r\n\r\n", "", false, "is not a request line"},
		{"POST / HTTP/1.1\r\nno colon\r\n\r\n", "", false, "cannot be sent"},
		{"POST / HTTP/1.1\r\nUpgrade: x\r\n\r\n", "", false, "upgrade to another protocol"},
	} {
		got, err := framed([]byte(c.head), []byte(c.body), c.answer)
		if err != nil {
			got = []byte(err.Error())
		}
		if err == nil && string(got) != c.want || err != nil && !strings.Contains(string(got), c.want) {
			t.Errorf("%q and %q become %q, want %q", c.head, c.body, got, c.want)
		}
	}
}

func TestChanges(t *testing.T) {
	m := &Message{Exchange: &capture.Exchange{Request: capture.Request{
		Head: []byte("POST / HTTP/1.1\r\nHost: a\r\nX: y\r\nContent-Length: 3\r\n\r\n"), Body: whole([]byte("xyz")),
	}}}
	for _, c := range []struct{ head, body, want string }{
		{"POST / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", "xyz", ""},
		{"PUT / HTTP/1.1\r\nHost: a\r\nx: y\r\n\r\n", "xyz", "first line"},
		{"POST / HTTP/1.1\r\nHost: a\r\nZ: 1\r\n\r\n", "abc", "header X, header Z, body"},
	} {
		expect.Equal(t, c.head+" and "+c.body, c.want, changes(m, []byte(c.head), []byte(c.body)))
	}
}
