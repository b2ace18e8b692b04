package live

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/outbound"
	"a2atap/replay/limits"
)

// A Transport is an [http.RoundTripper] that records in Log what it carries. It is safe for concurrent use.
type Transport struct {
	Log    *Log
	Client capture.Peer                      // who is recorded as client
	Agent  func(at *url.URL) capture.Peer    // who is recorded as agent of a request to that URL
	Dialer *outbound.Dialer                  // connects to agents; nil is one without options
	Dialed time.Duration                     // how long connecting may take; 0 for 30 seconds
	Noted  func(req *http.Request, n uint64) // called with each exchange's number before it is sent; may be nil
	Limits limits.Limits                     // of what is recorded and handed on of an answer

	once  sync.Once
	over2 *http.Transport // carries what is over HTTP/2; see http2
}

// RoundTrip implements [http.RoundTripper]. The exchange is recorded as ended when the answer's body has been read to
// its end or is closed.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if grpc.IsMedia(req.Header.Get("Content-Type")) {
		return t.roundTripHTTP2(req)
	}
	head, body, err := wireForm(req)
	if err != nil {
		return nil, err
	}
	log := t.Log.Open(t.Client, t.Agent(req.URL), head)
	if t.Noted != nil {
		t.Noted(req, log.Seq())
	}
	conn, err := t.dial(req)
	if err != nil {
		log.Close(&capture.TransportFault{
			Kind: "unreachable", Side: "agent", Detail: fmt.Sprintf("connect to %s: %v", req.URL.Host, outbound.Cause(err)),
		})
		return nil, err
	}
	a, err := (&Call{Conn: conn, Log: log, Limits: t.Limits}).start(req.Context(), req.Method, head, body)
	if err != nil {
		log.Close(faultOf(req.Context(), err))
		if req.Context().Err() != nil {
			err = req.Context().Err()
		}
		return nil, err
	}
	a.res.Request = req
	a.res.Body = &recordedBody{a: a}
	return a.res, nil
}

func (t *Transport) dial(req *http.Request) (net.Conn, error) {
	timeout := cmp.Or(t.Dialed, 30*time.Second)
	at, port := req.URL.Host, "80"
	secure := req.URL.Scheme == "https"
	if secure {
		port = "443"
	}
	if req.URL.Port() == "" {
		at = net.JoinHostPort(req.URL.Hostname(), port)
	}
	return Dial(req.Context(), t.Dialer, at, secure, timeout)
}

// wireForm writes a request as it goes over the wire. Its body is read and closed.
func wireForm(req *http.Request) (head, body []byte, err error) {
	var b bytes.Buffer
	out := req.Clone(req.Context())
	if req.Body != nil && req.Body != http.NoBody {
		body, err = io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, nil, fmt.Errorf("read the body of the request: %w", err)
		}
		out.ContentLength = int64(len(body))
		out.TransferEncoding = nil
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	if err := out.Write(&b); err != nil {
		return nil, nil, fmt.Errorf("write the request: %w", err)
	}
	all := b.Bytes()
	end := bytes.Index(all, []byte("\r\n\r\n")) + 4
	return bytes.Clone(all[:end]), body, nil
}

// A recordedBody is the body of an answer that is recorded as it is read.
type recordedBody struct {
	mu  sync.Mutex
	a   *answer
	end error // what further reads give; nil if the answer goes on
}

func (b *recordedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != nil {
		return 0, b.end
	}
	n, err := b.a.Read(p)
	if err != nil {
		b.end = err
		var fault *capture.TransportFault
		if err != io.EOF { // which Read returns as it is, and wraps all others
			fault = faultOf(b.a.ctx, err)
		}
		b.a.release()
		b.a.v.Log.Close(fault)
	}
	return n, err
}

// Close leaves an answer that has not been read to its end.
func (b *recordedBody) Close() error {
	b.a.v.Conn.Close() // a read under way ends
	b.mu.Lock()
	defer b.mu.Unlock()
	b.a.release() // the decoder is for one goroutine
	if b.end == nil {
		b.end = http.ErrBodyReadAfterClose
		b.a.v.Log.Close(&capture.TransportFault{Kind: "client-left", Side: "client", Detail: "the client left"})
	}
	return nil
}

// Sleep returns after a time, or reports false when the context ends before.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Received records a request that came to a server of ours, with its body, and the answer without content that it gets.
// It is called before that is sent, so that it stands before what follows from it. It returns what was recorded, which
// must not be changed.
func (l *Log) Received(from, to capture.Peer, r *http.Request, body []byte, status int) *capture.Exchange {
	x := l.Open(from, to, requestHead(r))
	x.RequestBody(body)
	x.ResponseHead(fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n\r\n", status, http.StatusText(status)), false)
	x.ResponseEnd(0, nil)
	x.Close(nil)
	return x.Recorded()
}

// requestHead writes the head of a request as net/http has read it: order and case of its fields are lost.
func requestHead(r *http.Request) []byte {
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
