package live

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"a2atap/proxy/capture"
)

// Received records a request that came to a server of ours, with its body, and the answer without content that it gets.
// It is called before that is sent, so that it stands before what follows from it. It returns what was recorded, which
// must not be changed.
func (l *Log) Received(from, to capture.Peer, r *http.Request, body []byte, status int) *capture.Exchange {
	x := l.Open(from, to, RequestHead(r))
	x.RequestBody(body)
	x.ResponseHead(fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n\r\n", status, http.StatusText(status)), false)
	x.ResponseEnd(0, nil)
	x.Close(nil)
	return x.Recorded()
}

// RequestHead writes the head of a request as net/http has read it: order and case of its fields are lost.
func RequestHead(r *http.Request) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.RequestURI, r.Host)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			fmt.Fprintf(&b, "%s: %s\r\n", name, value)
		}
	}
	if r.ContentLength >= 0 && r.Header.Get("Content-Length") == "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", r.ContentLength)
	}
	b.WriteString("\r\n")
	return b.Bytes()
}
