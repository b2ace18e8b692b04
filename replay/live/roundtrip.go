package live

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/hostname"
)

// RoundTrip implements [http.RoundTripper]. The exchange is recorded as ended when the answer's body has been read to
// its end or is closed.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.Carry(req, func(*Entry) {})
}

// Carry is RoundTrip. It calls noted with the exchange before the request is sent.
func (t *Transport) Carry(req *http.Request, noted func(*Entry)) (*http.Response, error) {
	c := &Call{
		Host: hostname.HostPort(req.URL), Secure: req.URL.Scheme == "https",
		GRPC: grpc.IsMedia(req.Header.Get("Content-Type")),
	}
	if err := c.take(req); err != nil {
		return nil, err
	}
	c.Log = t.Log.Open(t.Client, t.Agent(req.URL), c.Head)
	noted(c.Log)
	a, err := t.open(req.Context(), c)
	if err != nil {
		return nil, cmp.Or(req.Context().Err(), err)
	}
	a.res.Request, a.res.Body = req, &recordedBody{a: a, ctx: req.Context()}
	return a.res, nil
}

// take converts a request to a call, in the form in which it is sent. It reads and closes the request's body.
func (c *Call) take(req *http.Request) (err error) {
	out := req.Clone(req.Context())
	if req.Body != nil && req.Body != http.NoBody {
		c.Body, err = io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return fmt.Errorf("read the body of the request: %w", err)
		}
		out.ContentLength = int64(len(c.Body))
		out.TransferEncoding = nil
		out.Body = io.NopCloser(bytes.NewReader(c.Body))
	}
	if c.GRPC {
		head := fmt.Appendf(nil, "%s %s HTTP/2\r\nHost: %s\r\n", req.Method, req.URL.RequestURI(), cmp.Or(req.Host, req.URL.Host))
		head = appendFields(head, req.Header, strings.ToLower)
		c.Head = fmt.Appendf(head, "content-length: %d\r\n\r\n", len(c.Body))
		return nil
	}
	var b bytes.Buffer
	if err := out.Write(&b); err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	end := bytes.Index(b.Bytes(), []byte("\r\n\r\n")) + 4
	c.Head = bytes.Clone(b.Bytes()[:end])
	return nil
}

// A recordedBody is the body of an answer that is recorded as it is read.
type recordedBody struct {
	ctx context.Context // of the request
	mu  sync.Mutex
	a   *answer
	end error // result of further reads; nil while the answer continues
}

// Read implements io.Reader.
func (b *recordedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != nil {
		return 0, b.end
	}
	n, err := b.a.Read(p)
	if err != nil {
		b.end = err
		b.a.release()
		if err == io.EOF { // Read returns io.EOF unchanged, and wraps all other errors
			err = nil
		}
		b.a.call.Log.close(faultOf(b.ctx, err))
	}
	return n, b.end
}

// Close leaves an answer that has not been read to its end.
func (b *recordedBody) Close() error {
	b.a.leave() // a read under way ends
	b.mu.Lock()
	defer b.mu.Unlock()
	b.a.release() // the decoder is for one goroutine
	if b.end == nil {
		b.end = http.ErrBodyReadAfterClose
		b.a.call.Log.close(&capture.TransportFault{Kind: "client-left", Side: "client", Detail: "the client left"})
	}
	return nil
}
